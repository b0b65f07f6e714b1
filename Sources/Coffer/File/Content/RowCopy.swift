internal import SQLCipherBridge

/// Copies the content of a file row by row, into one with other pages or another protection.
struct RowCopy: CopyMethod {
    /// Gives a connection the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof {
        try prepare(source)
        return RowProof(fingerprint: try write(source, to: target, change, progress), prepare: prepare)
    }

    /// Copies from a connection that has the functions and collations of its schema.
    ///
    /// - Returns: what was found in the source.
    func write(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> ContentFingerprint {
        try change.after.fill(target, change.path) { copy in
            if change.after.ring == nil {
                try copy.execute(trusted: "PRAGMA page_size = \(source.integer(pragma: "page_size"))")
            }
            try prepare(copy)
            let total = try Int(
                source.integer(pragma: "page_count") - source.integer(pragma: "freelist_count"))
            var done = 0
            func report() throws {
                try FailPoint.copying.pass(change.path)
                try progress(.copying, done, of: total)
            }
            let content = ContentCopy(source: source, destination: copy) {
                done = min(total, max(done, Int(try copy.integer(pragma: "page_count"))))
                try report()
            }
            return try content.run(watch: report)
        }
    }
}

/// Proves a copy by all of its rows.
struct RowProof: ContentProof {
    /// Of the source, while it was copied.
    let fingerprint: ContentFingerprint
    let prepare: (ConnectionHandle) throws -> Void

    /// What is known of a copy that was proved.
    var content: ProvedContent {
        get throws {
            try ProvedContent(
                digest: fingerprint.hash.hexadecimal, tableCount: fingerprint.tables.count,
                rowCount: fingerprint.rowCount)
        }
    }

    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent {
        try prove(copy, change.path, pageCount: Int(copy.integer(pragma: "page_count")), progress)
        return try content
    }

    /// - Parameter pageCount: how many pages the progress is about.
    func prove(_ copy: ConnectionHandle, _ path: String, pageCount: Int, _ progress: ProgressReport) throws {
        try prepare(copy)
        try progress(.verifying, 0, of: pageCount)
        var rows = 0
        let found = try ContentFingerprint(of: copy) {
            rows += ContentFingerprint.rowsBetweenCheckpoints
            try progress(
                .verifying, min(pageCount, pageCount * rows / max(1, fingerprint.rowCount)), of: pageCount)
        }
        if let difference = fingerprint.difference(from: found) {
            throw DatabaseFileError(.copyRejected("it differs in \(difference)"), path: path)
        }
        try progress(.verifying, pageCount, of: pageCount)
    }
}

extension FileProtection {
    /// Has a new file filled through a connection to it, which is made permanent as a whole later on, so that
    /// it needs no journal.
    ///
    /// - Parameter path: for errors.
    func fill<Result>(
        _ file: HeldFile, _ path: String, _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        try FileProtection.fill(path, open(writing: file), body)
    }

    /// - Parameters:
    ///   - path: for errors.
    ///   - connection: to the new file. It is closed.
    static func fill<Result>(
        _ path: String, _ connection: consuming EngineConnection,
        _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        var copy = connection
        do {
            let result = try body(copy.handle)
            let code = copy.close()
            guard code == EngineCode.ok else {
                throw EngineError(code: code, message: "The copy could not be closed")
            }
            return result
        } catch {
            let isFull = FileProtection.isFull(error, systemError: copy.handle.lastSystemError)
            throw isFull ? DatabaseFileError(.diskFull, path: path) : error
        }
    }

    /// SQLite distinguishes a full disk from other errors of the disk, but not the limit of a user or of a
    /// process.
    private static func isFull(_ error: any Error, systemError: CInt) -> Bool {
        guard let error = error as? EngineError else { return false }
        return error.primaryCode == EngineCode.full
            || error.primaryCode == EngineCode.ioError && SystemFile.isOutOfSpace(systemError)
    }
}
