internal import SQLCipherBridge

/// A copy of the stored pages of a file, with those in the log replacing those in the file, whose content is
/// proved to equal the content that the source reads.
///
/// A page that is not written to has the same bytes in the next copy.
struct StoredPagesCopy {
    let content: ContentFile
    let change: FileChange
    let source: ConnectionHandle
    let file: HeldFile
    /// The path for error messages.
    let path: String

    /// The number of attempts at copying pages of one state.
    private static let attempts = 4

    func make() throws -> ContentFile.Made {
        guard try source.journalMode() == .wal else { return try copyAndProve {} }
        for _ in 1..<StoredPagesCopy.attempts {
            do {
                return try pausingWriters(copyAndProve)
            } catch  where StoredPagesCopy.mayComeFromWriters(error) {
                // The log may have been restarted while it was read.
                _ = file.truncate(to: 0)
            }
        }
        return try pausingWriters(copyAndProve)
    }

    /// - Parameter goOn: lets other connections write. Called when this reads one state.
    private func copyAndProve(_ goOn: () -> Void) throws -> ContentFile.Made {
        try source.withReadTransaction {
            // Begins the transaction.
            let pageCount = try Int(source.integer(pragma: "page_count"))
            let view = try StoredView(
                SystemFile.resolved(change.path), pageSize: Int(source.integer(pragma: "page_size")),
                timeout: 5)
            goOn()
            try copy(view, upTo: pageCount)
            try FailPoint.copied.pass(path)
            let fingerprint = try ContentFingerprint(of: source) {
                try content.progress(.verifying, 0, of: pageCount)
            }
            let made = try content.read(file, expecting: fingerprint, pageCount: pageCount, path)
            guard made.pageCount == pageCount, Int64(pageCount) * Int64(made.pageSize) == file.size else {
                throw DatabaseFileError(
                    .copyRejected("its size does not match its \(pageCount) pages"), path: path)
            }
            try FailPoint.verified.pass(path)
            return made
        }
    }

    private static func mayComeFromWriters(_ error: any Error) -> Bool {
        switch error {
        case is EngineError, is KeyError: return true
        case let error as DatabaseFileError:
            if case .inputOutput = error.reason { return false }
            return error.reason != .diskFull
        default: return false
        }
    }

    /// - Parameter pageCount: the number of pages of the database, whose file may be longer.
    private func copy(_ view: StoredView, upTo pageCount: Int) throws {
        let size = min(view.size, Int64(pageCount) * Int64(view.pageSize))
        var offset: Int64 = 0
        while offset < size {
            let part = try view.read(at: offset, count: Int(min(1 << 18, size - offset)))
            guard !part.isEmpty else {
                throw EngineError.corrupt("The file is shorter than its header states")
            }
            try file.writer.write(part, at: offset)
            offset += Int64(part.count)
            try FailPoint.copying.pass(path)
            try content.progress(.copying, Int(offset / Int64(view.pageSize)), of: view.pageCount)
        }
    }

    /// Keeps other connections from writing until `body` calls the function that it receives, so that both of
    /// its ways of reading see the same state.
    private func pausingWriters<Result>(_ body: (_ goOn: () -> Void) throws -> Result) throws -> Result {
        let connection: EngineConnection
        do {
            connection = try change.before.open(change.path, timeout: 5)
        } catch KeyError.engine(let error)
            where [EngineCode.readOnly, EngineCode.cantOpen].contains(error.primaryCode)
        {
            return try body {}
        }
        let handle = connection.handle
        func goOn() {
            if !handle.isAutocommit { try? handle.execute("ROLLBACK") }
        }
        defer { goOn() }
        // If the lock is unavailable (for example, the file is read-only), the proof detects a conflict.
        try? handle.execute("BEGIN IMMEDIATE")
        return try body(goOn)
    }
}
