internal import SQLCipherBridge

/// Proves a copy that has the layout of its source: what ``PageCopy`` made, other code looks at, on two threads.
///
/// This thread compares the content of each page with the source, and has the engine check each code with the new key, on the fresh connection. The
/// other one checks the structure of the decrypted content, and tries the old key. What each of them reads is the same file, which nobody writes to.
struct PageProof: ContentProof {
    private struct Aside: Sendable {
        var structure: [String]
        var isOldKeyAccepted: Bool
    }

    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle, _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent {
        let (digest, aside) = try SideWork<Aside>.run(
            side: { signal in
                let structure = try PageProof.structure(of: file, change.after, signal)
                try signal.check()
                return Aside(structure: structure, isOldKeyAccepted: try change.before.opens(viewing: file))
            },
            main: { side in
                let digest = try PageComparison(
                    source: PageFile(source, change.before), copy: PageFile(copy, change.after), path: change.path
                ).run(progress: progress)
                // The engine checks the codes of a file in one go, which nothing can interrupt: the moment before is the last to end it.
                try progress(.checkingStructure, 0, of: 0)
                try copy.checkCodes(change.after, change.path)
                _ = try side.value { try progress(.checkingStructure, 0, of: 0) }
                return digest
            })
        // Without codes, nothing but its structure lets the engine itself decrypt each page of the copy: it has to check that as well.
        let structure = change.after.ring?.settings.usesHMAC == true || !aside.structure.isEmpty ? aside.structure : nil
        return ProvedContent(digest: digest, structure: structure, isOldKeyAccepted: aside.isOldKeyAccepted)
    }

    private static func structure(of file: any StoredBytes, _ protection: FileProtection, _ signal: StopSignal) throws -> [String] {
        let connection = try openDecrypted(file, protection)
        let handle = connection.handle
        let progress = ProgressReport({ _ in try signal.check() }, isCancellable: false)
        return try StructureCheck.quick.findings(handle, progress: progress)
    }
}

extension PageProof {
    /// Proves a copy by its pages while this thread also looks at its rows: for a copy under another name.
    ///
    /// This thread compares the content of each page with the source, and reads rows from pages that are decrypted without a look at their codes. These the
    /// engine checks meanwhile, on another thread.
    /// - Parameters:
    ///   - copy: a fresh connection to the copy, that cannot write.
    ///   - reading: called with a connection to the content of the copy, which equals that of the source. It has to check the structure.
    static func prove<Rows>(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle, _ change: FileChange,
        _ progress: ProgressReport, reading: (ConnectionHandle) throws -> Rows
    ) throws -> Rows {
        try SideWork<Void>.run(
            side: { _ in
                let connection = try change.after.open(viewing: file)
                try connection.handle.checkCodes(change.after, change.path)
            },
            main: { side in
                _ = try PageComparison(
                    source: PageFile(source, change.before), copy: PageFile(copy, change.after), path: change.path
                ).run(progress: progress)
                let connection = try openDecrypted(file, change.after)
                let rows = try reading(connection.handle)
                try side.value { try progress(.checkingStructure, 0, of: 0) }
                return rows
            }
        ).main
    }

    /// A connection to the content of a file that does not look at the codes of its pages: they are checked at the same time, not before.
    private static func openDecrypted(_ file: any StoredBytes, _ protection: FileProtection) throws -> EngineConnection {
        let connection = try FileView.open(DecryptedView(file, protection))
        // What a check may have to sort is not for the disk.
        try connection.handle.execute(
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        return connection
    }
}

/// Proves that two encrypted files have the same content, page by page. It does not look at codes, which the engine checks.
private struct PageComparison {
    /// Nobody writes to them.
    let source: PageFile
    let copy: PageFile
    let path: String

    /// Reads both files once, and returns the digest of their content, as hexadecimal digits.
    ///
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)`` for the source, ``DatabaseFileError/Reason/copyRejected(_:)`` for the copy.
    func run(progress: ProgressReport) throws -> String {
        let total = source.pageCount
        guard copy.pageSize == source.pageSize, copy.pageCount == total, source.excess == 0, copy.excess == 0 else {
            throw DatabaseFileError(.copyRejected("it has \(copy.pageCount) pages instead of \(total)"), path: path)
        }
        let digest = try ContentDigest()
        var mine = PageRun(source)
        var theirs = PageRun(copy)
        var left = [UInt8](repeating: 0, count: source.pageSize)
        var right = left
        var zeroPages: [Int] = []
        for pages in source.parts(of: 1 << 18) {
            try progress(.verifying, pages.lowerBound - 1, of: total)
            try mine.read(pages, from: source)
            try theirs.read(pages, from: copy)
            for number in pages where number != source.lockPage {
                // Their codes were checked when they were copied; pages of zeros have none.
                if mine.isZero(number) { zeroPages.append(number) }
                try mine.decrypt(number, into: &left)
                try theirs.decrypt(number, into: &right)
                if number == 1 {
                    // The salt, or the text in its place.
                    for index in 0..<16 { (left[index], right[index]) = (0, 0) }
                }
                guard left.span.isEqual(to: right.span) else {
                    throw DatabaseFileError(.copyRejected("its page \(number) has another content"), path: path)
                }
                if number == 1 { DatabaseHeader.maskCounters(&left) }
                try digest.update(left.span)
            }
        }
        try progress(.verifying, total, of: total)
        let damaged = try source.used(zeroPages)
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        return try digest.finish().hexadecimal
    }
}
