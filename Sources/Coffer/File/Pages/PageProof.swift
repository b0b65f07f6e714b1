internal import SQLCipherBridge
internal import Synchronization

/// Proves that a copy equals its source, for a copy with the page layout of the source. The checks run on
/// several threads and use code separate from ``PageCopy``.
///
/// The current thread and a second one compare the content of each page with the source, and check each MAC
/// with the new key. They use libcrypto alone, because the copy may have been made with SIMD lanes. A third
/// thread checks the b-trees of the decrypted content, and tries the old key. All of them read the same file,
/// to which nothing writes.
struct PageProof: ContentProof {
    private struct Aside: Sendable {
        var structure: [String]
        var isOldKeyAccepted: Bool
    }

    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent {
        try PageProof.proveRotation(
            copy, in: file, against: PageFile(source, change.before), change, progress
        ) { _, _ in }
    }

    /// Proves a copy against the pages of its source, whether they are in the file or in a log.
    ///
    /// - Parameter note: called with the number of each page and the digest of its content.
    static func proveRotation(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: PageFile,
        _ change: FileChange,
        _ progress: ProgressReport, note: (Int, [UInt8]) -> Void
    ) throws -> ProvedContent {
        let (digest, aside) = try SideWork<Aside>.run(
            side: { signal in
                let structure = try PageProof.structure(of: file, change.after, signal)
                try signal.check()
                return Aside(structure: structure, isOldKeyAccepted: try change.before.opens(viewing: file))
            },
            main: { side in
                let digest = try PageComparison(
                    source: source, copy: PageFile(copy, change.after), path: change.path
                )
                .run(threadCount: 2, progress: progress, note: note)
                try progress(.checkingStructure, 0, of: 0)
                _ = try side.value { try progress(.checkingStructure, 0, of: 0) }
                return digest
            })
        // Without MACs, only the structure check makes the engine itself decrypt each page of the copy, so
        // the engine has to run that check as well.
        let structure =
            change.after.ring?.settings.usesHMAC == true || !aside.structure.isEmpty ? aside.structure : nil
        return ProvedContent(digest: digest, structure: structure, isOldKeyAccepted: aside.isOldKeyAccepted)
    }

    private static func structure(
        of file: any StoredBytes, _ protection: FileProtection, _ signal: StopSignal
    ) throws -> [String] {
        let progress = ProgressReport({ _ in try signal.check() }, isCancellable: false)
        return try DecryptedContent(file, protection).damage(progress)
    }
}

extension PageProof {
    /// Proves a copy by its pages while the current thread examines its rows: for a copy with another name.
    ///
    /// Another thread compares the content of each page with the source, and checks each MAC.
    ///
    /// - Parameters:
    ///   - source: a state that nothing changes.
    ///   - body: called with a connection to the content of the copy, which equals the content of the source,
    ///     and with a function that returns the number of pages proved so far. It has to check the structure.
    static func proveBackup<Rows>(
        _ file: any StoredBytes & Sendable, against source: StoredState, _ change: FileChange,
        _ progress: ProgressReport,
        reading body: (ContentReader, _ provedCount: () -> Int) throws -> Rows
    ) throws -> Rows {
        let (sourcePath, openSource) = (source.path, source.open)
        let proved = PageCount()
        return try read(file, change.after, progress) { content in
            try body(content) { proved.value.load(ordering: .relaxed) }
        } beside: { signal in
            let connection = try EngineConnection(path: sourcePath, flags: .readOnly)
            let count: DatabaseFile.ProgressFunction = { step in
                proved.value.store(step.completedPageCount, ordering: .relaxed)
                try signal.check()
            }
            let progress = ProgressReport(count, isCancellable: false)
            try PageComparison(
                source: openSource(connection.handle), copy: PageFile(file, change.after), path: change.path
            ).run(progress: progress)
        }
    }

    /// Calls `body` with a connection that reads the content of a new file, while another thread checks the
    /// MACs of all pages with libcrypto: if they are right, every reader of the file sees the same content.
    /// Without MACs, the engine reads the file itself.
    ///
    /// - Parameters:
    ///   - copy: a fresh connection, which verifies that the key opens the file.
    ///   - path: the path for error messages.
    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``.
    static func readNewFile<Result>(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, _ protection: FileProtection,
        _ path: String, threadCount: Int = 1, _ progress: ProgressReport,
        _ body: (ContentReader) throws -> Result
    ) throws -> Result {
        guard protection.ring?.settings.usesHMAC == true else { return try body(ContentReader(copy)) }
        return try read(file, protection, progress) { content in
            // Rows that were inserted through the caller's functions are also checked with them.
            try content.handle.execute("PRAGMA trusted_schema = ON")
            return try body(content)
        } beside: { signal in
            let damaged = try PageFile(file, protection).damagedPages(
                usesLanes: false, threadCount: threadCount
            ) { _ in try signal.check() }
            if let page = (damaged.notAuthentic + damaged.zeroed).first {
                throw DatabaseFileError(
                    .copyRejected("its page \(page) does not have the content that was written"), path: path)
            }
        }
    }

    /// Calls `body` with a connection that reads the content of a state that the engine has written, while
    /// another thread checks the MACs of all pages. Without MACs, the engine reads the file itself.
    ///
    /// - Throws: `SQLITE_CORRUPT` if a page is not authentic.
    static func readState<Result>(
        _ state: StoredState, _ protection: FileProtection, _ progress: ProgressReport,
        _ body: (ContentReader) throws -> Result
    ) throws -> Result {
        guard protection.ring?.settings.usesHMAC == true else {
            return try body(ContentReader(state.connection))
        }
        let (path, open) = (state.path, state.open)
        return try read(state.bytes, protection, progress, body) { signal in
            let connection = try EngineConnection(path: path, flags: .readOnly)
            let damaged = try open(connection.handle).damagedPages { _ in try signal.check() }
            if let page = (damaged.notAuthentic + damaged.zeroed).first {
                throw EngineError.corrupt("The file is damaged: page \(page) is not authentic")
            }
        }
    }

    /// Calls `body` with a connection to the content of a new file that does not check MACs, while another
    /// thread verifies the pages.
    private static func read<Result>(
        _ file: any StoredBytes, _ protection: FileProtection, _ progress: ProgressReport,
        _ body: (ContentReader) throws -> Result,
        beside provePages: @escaping @Sendable (StopSignal) throws -> Void
    ) throws -> Result {
        try SideWork<Void>.run(
            side: provePages,
            main: { side in
                func waiting() throws { try progress(.checkingStructure, 0, of: 0) }
                do {
                    let content = try DecryptedContent(file, protection)
                    let result = try body(content.reader)
                    try side.value(waiting)
                    return result
                } catch {
                    // An error about damaged pages is more specific.
                    try side.value(waiting)
                    throw error
                }
            }
        ).main
    }
}

/// A counter that one thread writes and another one reads.
private final class PageCount: Sendable {
    let value = Atomic<Int>(0)
}
