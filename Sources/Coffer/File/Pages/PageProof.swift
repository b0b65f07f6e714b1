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
        let connection = try FileView.open(DecryptedView(file, protection))
        let handle = connection.handle
        // What a check may have to sort is not for the disk. The codes of the pages are checked at the same time, not before.
        try handle.execute(
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        let progress = ProgressReport({ _ in try signal.check() }, isCancellable: false)
        return try StructureCheck.quick.findings(handle, progress: progress)
    }
}
