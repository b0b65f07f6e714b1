internal import SQLCipherBridge

/// Copies the content of a file row by row, into one with another page layout or another protection.
struct RowCopy: CopyMethod {
    /// Gives a connection the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    /// The file of a source connection that has no uncommitted changes.
    struct Source {
        let path: String
        let protection: FileProtection
    }

    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof {
        try prepare(source)
        let file = Source(path: change.path, protection: change.before)
        let fingerprint = try write(source, of: file, to: target, change.after, change.path, progress)
        return RowProof(fingerprint: fingerprint, prepare: prepare)
    }

    /// Copies from a connection that has the functions and collations of its schema.
    ///
    /// - Parameters:
    ///   - file: the file of the source; nil if the connection may have uncommitted changes.
    ///   - path: the path for error messages.
    /// - Returns: the fingerprint of the source.
    func write(
        _ source: ConnectionHandle, of file: Source?, to target: HeldFile, _ protection: FileProtection,
        _ path: String, _ progress: ProgressReport
    ) throws -> ContentFingerprint {
        try protection.fillWithRows(target, path) { copy in
            let pageSize = try protection.ring?.settings.pageSize ?? Int(source.integer(pragma: "page_size"))
            if protection.ring == nil { try copy.execute(trusted: "PRAGMA page_size = \(pageSize)") }
            try prepare(copy)
            let total = try Int(
                source.integer(pragma: "page_count") - source.integer(pragma: "freelist_count"))
            var done = 0
            func report() throws {
                try FailPoint.copying.pass(path)
                done = min(total, max(done, Int(target.size) / pageSize))
                try progress(.copying, done, of: total)
            }
            let content = ContentCopy(
                source: source, destination: copy, ownsSource: file != nil,
                pages: try file.flatMap { try pages(of: $0, source) }, checkpoint: report)
            return try content.run(watch: report)
        }
    }

    /// Returns the content that a connection reads, if it is all in the file and nothing in a log.
    ///
    /// The connection's read transaction keeps it that way: in rollback mode others cannot write to the file,
    /// and in WAL mode they cannot checkpoint commits into it.
    private func pages(of file: Source, _ source: ConnectionHandle) throws -> (any StoredBytes)? {
        let pageSize = try Int(source.integer(pragma: "page_size"))
        let pageCount = try Int(source.integer(pragma: "page_count"))
        // If this fails, the connection reads the content instead, and its error explains why.
        guard
            let view = try? StoredView(SystemFile.resolved(file.path), pageSize: pageSize, timeout: 0),
            view.sideFilePath == nil
        else { return nil }
        let decrypted = try DecryptedView(view, file.protection, readable: .authentic)
        // The file may be longer than its database.
        return decrypted.size == Int64(pageCount) * Int64(pageSize) ? decrypted : nil
    }
}

/// Proves a copy by comparing all of its rows.
struct RowProof: ContentProof {
    /// The fingerprint of the source, computed while it was copied.
    let fingerprint: ContentFingerprint
    let prepare: (ConnectionHandle) throws -> Void

    /// The facts about the proved copy.
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
        let structure = try PageProof.readNewFile(copy, in: file, change.after, change.path, progress) {
            content in
            let pageCount = try Int(content.handle.integer(pragma: "page_count"))
            try prove(content.handle, change.path, pageCount: pageCount, progress)
            return try content.structureDamage(progress)
        }
        var proved = try content
        proved.structure = structure
        return proved
    }

    /// - Parameter pageCount: the total for progress reports.
    func prove(_ copy: ConnectionHandle, _ path: String, pageCount: Int, _ progress: ProgressReport) throws {
        try prepare(copy)
        try progress(.verifying, 0, of: pageCount)
        var rows = 0
        let found = try ContentFingerprint(of: copy) {
            rows += ContentFingerprint.rowsBetweenCheckpoints
            try progress(
                .verifying, min(pageCount, pageCount * rows / max(1, fingerprint.rowCount)), of: pageCount)
        }
        if let difference = fingerprint.difference(fromInserted: found) {
            throw DatabaseFileError(.copyRejected("it differs in \(difference)"), path: path)
        }
        try progress(.verifying, pageCount, of: pageCount)
    }
}

extension FileProtection {
    /// Fills a new file through a connection to it. The file is synced and published as a whole later, so it
    /// needs no journal.
    ///
    /// - Parameter path: the path for error messages.
    func fill<Result>(
        _ file: HeldFile, _ path: String, _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        try FileProtection.fill(path, open(writing: file), body)
    }

    /// Fills a new file in the same way. If it is encrypted, another thread encrypts its pages.
    fileprivate func fillWithRows<Result>(
        _ file: HeldFile, _ path: String, _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result { try ring == nil ? fill(file, path, body) : fillSealed(file, path, body) }

    /// - Parameters:
    ///   - path: the path for error messages.
    ///   - connection: a connection to the new file. It is closed.
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
            let isFull = (error as? EngineError)?.primaryCode == EngineCode.full
            throw isFull ? DatabaseFileError(.diskFull, path: path) : error
        }
    }
}
