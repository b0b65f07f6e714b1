internal import SQLCipherBridge
internal import Synchronization

/// Proves a copy that has the layout of its source: what ``PageCopy`` made, other code looks at, on two
/// threads.
///
/// This thread has the content of each page compared with the source, and each code checked with the new key,
/// both by libcrypto alone, where the copy was made by lanes. The other one looks at the b-trees of the
/// decrypted content, tries the old key, and then helps to compare. What each of them reads is the same file,
/// which nobody writes to.
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
        try PageProof.prove(copy, in: file, against: PageFile(source, change.before), change, progress) {
            _, _ in
        }
    }

    /// Proves a copy against pages of its source, wherever they are.
    ///
    /// - Parameter note: called with the number of each page and the digest of its content.
    static func prove(
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
        // Without codes, nothing but its structure lets the engine itself decrypt each page of the copy: it
        // has to check that as well.
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
    /// Proves a copy by its pages while this thread looks at its rows: for a copy under another name.
    ///
    /// Another thread compares the content of each page with the source, and checks each code.
    ///
    /// - Parameters:
    ///   - source: nobody writes to it.
    ///   - body: called with a connection to the content of the copy, which equals that of the source, and
    ///     with a function that returns how many pages are proved. It has to check the structure.
    static func prove<Rows>(
        _ file: any StoredBytes & Sendable, against source: StoredState, _ change: FileChange,
        _ progress: ProgressReport,
        reading body: (ContentReader, _ provedCount: () -> Int) throws -> Rows
    ) throws -> Rows {
        let (sourcePath, openSource) = (source.path, source.open)
        let proved = PageCount()
        return try reading(file, change.after, progress) { content in
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

    /// Calls `body` with a connection that reads the content of a new file, while another thread has
    /// libcrypto check the codes of all pages: if they are right, it is what any reader of the file sees.
    /// Without codes, the engine reads the file itself.
    ///
    /// - Parameters:
    ///   - copy: a fresh connection, which proves that the key opens the file.
    ///   - path: for errors.
    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``.
    static func reading<Result>(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, _ protection: FileProtection,
        _ path: String, threadCount: Int = 1, _ progress: ProgressReport,
        _ body: (ContentReader) throws -> Result
    ) throws -> Result {
        guard protection.ring?.settings.usesHMAC == true else { return try body(ContentReader(copy)) }
        return try reading(file, protection, progress) { content in
            // What was inserted through the functions of the caller is looked at with them.
            try content.handle.execute("PRAGMA trusted_schema = ON")
            return try body(content)
        } beside: { signal in
            let damaged = try PageFile(file, protection).damagedPages(
                usesLanes: false, threadCount: threadCount
            ) { _ in try signal.check() }
            if let page = (damaged.notAuthentic + damaged.zeroed).first {
                throw DatabaseFileError(
                    .copyRejected("its page \(page) is not as it was written"), path: path)
            }
        }
    }

    /// Calls `body` with a connection that reads the content of a state that the engine has written, while
    /// another thread checks the codes of all pages. Without codes, the engine reads the file itself.
    ///
    /// - Throws: `SQLITE_CORRUPT` for a page that is not authentic.
    static func reading<Result>(
        _ state: StoredState, _ protection: FileProtection, _ progress: ProgressReport,
        _ body: (ContentReader) throws -> Result
    ) throws -> Result {
        guard protection.ring?.settings.usesHMAC == true else {
            return try body(ContentReader(state.connection))
        }
        let (path, open) = (state.path, state.open)
        return try reading(state.bytes, protection, progress, body) { signal in
            let connection = try EngineConnection(path: path, flags: .readOnly)
            let damaged = try open(connection.handle).damagedPages { _ in try signal.check() }
            if let page = (damaged.notAuthentic + damaged.zeroed).first {
                throw EngineError(
                    code: EngineCode.corrupt, message: "The file is damaged: page \(page) is not authentic")
            }
        }
    }

    /// Calls `body` with a connection to the content of a new file, in which no code is looked at, while
    /// another thread proves its pages.
    private static func reading<Result>(
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
                    // What pages are not as they should be says more.
                    try side.value(waiting)
                    throw error
                }
            }
        ).main
    }
}

/// What one thread counts and another one reads.
private final class PageCount: Sendable {
    let value = Atomic<Int>(0)
}
