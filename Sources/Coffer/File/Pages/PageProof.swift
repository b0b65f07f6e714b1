internal import SQLCipherBridge

/// Proves a copy that has the layout of its source: what ``PageCopy`` made, other code looks at, on two threads.
///
/// This thread compares the content of each page with the source, and has the engine check each code with the new key, on the fresh connection. The
/// other one checks the structure of the decrypted content, and tries the old key. What each of them reads is the same file, which nobody writes to.
enum PageProof {
    private struct Aside: Sendable {
        var structure: [String]
        var isOldKeyAccepted: Bool
    }

    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``; ``DatabaseFileError/Reason/damaged(pages:)`` for the source.
    static func run(_ work: ComparisonWork) throws -> CopyComparison {
        let (before, after, file) = (work.before, work.after, work.file)
        let (digest, aside) = try SideWork<Aside>.run(
            side: { signal in
                let structure = try PageProof.structure(of: file, after, signal)
                try signal.check()
                return Aside(structure: structure, isOldKeyAccepted: try before.opens(viewing: file))
            },
            main: { side in
                let result = try PageComparison(
                    source: .init(handle: work.source, protection: work.before),
                    copy: .init(handle: work.copy, protection: work.after), path: work.path
                ).run(progress: work.progress)
                // The engine checks the codes of a file in one go, which nothing can interrupt: the moment before is the last to end it.
                try work.progress(.checkingStructure, 0, of: 0)
                try checkCodes(work)
                _ = try side.value { try work.progress(.checkingStructure, 0, of: 0) }
                return result.digest
            })
        // Without codes, nothing but its structure lets the engine itself decrypt each page of the copy: it has to check that as well.
        let structure = after.ring?.settings.usesHMAC == true || !aside.structure.isEmpty ? aside.structure : nil
        return CopyComparison(digest: digest, structure: structure, isOldKeyAccepted: aside.isOldKeyAccepted)
    }

    private static func checkCodes(_ work: ComparisonWork) throws {
        guard work.after.ring?.settings.usesHMAC == true else { return }
        if let finding = try work.copy.firstText(trusted: "PRAGMA cipher_integrity_check") {
            throw DatabaseFileError(.copyRejected(finding), path: work.path)
        }
    }

    private static func structure(of file: any StoredBytes, _ protection: FileProtection, _ signal: StopSignal) throws -> [String] {
        let connection = try FileView.open(DecryptedView(file, protection))
        let handle = connection.handle
        // What a check may have to sort is not for the disk. The codes of the pages are checked at the same time, not before.
        try handle.execute(
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        let progress = ProgressReport({ _ in try signal.check() }, isCancellable: false)
        return try StructureCheck.quick.findings(handle, progress: progress)
    }
}
