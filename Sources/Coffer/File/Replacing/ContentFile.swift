internal import SQLCipherBridge

/// Makes a new file with the content of an open database, in any format and under any key, and proves it before it gets its name.
struct ContentFile {
    let protection: FileProtection

    /// Whether pages are copied as they are, free ones included. The layouts have to be the same.
    var copiesPages = false

    /// Adds the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    /// Ends the work when it throws, which leaves nothing behind.
    let progress: ProgressReport

    /// What is known of a file that was made.
    struct Made {
        let content: ProvedContent
        let pageCount: Int
        let pageSize: Int
        /// Nil for plaintext.
        let key: FileKey?
    }

    /// - Parameter source: a connection that can read. Its functions and collations are those that `prepare` adds.
    @discardableResult
    func make(from source: ConnectionHandle, at path: String) throws -> Made {
        let file = try NewDatabaseFile.begin(path: path, isPlaintext: protection.ring == nil)
        // One state from the first page to the last comparison.
        let made = try source.withReadTransaction {
            let pageCount = try Int(source.integer(pragma: "page_count"))
            let fingerprint = try write(file.file, from: source, pageCount: pageCount, path: path)
            try FailPoint.copied.pass(path)
            let made = try prove(file.file, RowProof(fingerprint: fingerprint, prepare: prepare), pageCount: pageCount, path: path)
            try FailPoint.verified.pass(path)
            return made
        }
        try progress(.publishing, 0, of: 1)
        try file.published()
        return made
    }

    private func write(_ file: HeldFile, from source: ConnectionHandle, pageCount: Int, path: String) throws -> ContentFingerprint {
        guard copiesPages else {
            let change = FileChange(path: path, before: protection, after: protection)
            return try RowCopy(prepare: prepare).write(source, to: file, change, progress)
        }
        try protection.fill(file, path) { try copyPages(from: source, to: $0, path) }
        return try ContentFingerprint(of: source) { try progress(.verifying, 0, of: pageCount) }
    }

    private func copyPages(from source: ConnectionHandle, to handle: ConnectionHandle, _ path: String) throws {
        let backup = try BackupHandle(from: source, to: handle)
        var isDone = false
        while !isDone {
            let result = backup.step(pages: 256)
            try FailPoint.copying.pass(path)
            let total = backup.totalPageCount
            try progress(.copying, total - backup.remainingPageCount, of: total)
            switch result {
            case .more: break
            case .failed(let code): throw EngineError(code: code, message: handle.lastErrorMessage)
            case .done: isDone = true
            }
        }
        try backup.finish()
    }

    /// Opens the file as any program will, with a key that is derived anew, and reads everything.
    private func prove(_ file: HeldFile, _ proof: RowProof, pageCount: Int, path: String) throws -> Made {
        let connection = try protection.withoutDerivedKeys().open(viewing: file)
        let handle = connection.handle
        let header = try FileHeader(handle, count: 32)
        if let settings = protection.ring?.settings {
            guard !header.isPlaintext(plaintextHeaderSize: settings.plaintextHeaderSize) else {
                throw DatabaseFileError(.copyRejected("it is not encrypted"), path: path)
            }
            try handle.checkCodes(protection, path)
        }
        try proof.prove(handle, path, pageCount: pageCount, progress)
        try StructureCheck.prove(handle)
        return try Made(
            content: proof.content, pageCount: Int(handle.integer(pragma: "page_count")),
            pageSize: Int(handle.integer(pragma: "page_size")), key: protection.key(of: header))
    }
}
