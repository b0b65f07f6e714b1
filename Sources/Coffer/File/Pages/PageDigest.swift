internal import SQLCipherBridge

/// The digest of the content of a file, which does not depend on its key and salt: see ``DatabaseFile/RotationProof/contentDigest``.
enum PageDigest {
    /// Reads all pages of a file that nobody writes to, and checks their codes.
    ///
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)``.
    static func compute(
        _ handle: ConnectionHandle, _ protection: FileProtection, path: String, progress: ProgressReport
    ) throws -> (pageCount: Int, pageSize: Int, digest: String) {
        let file = try PageFile(handle, protection)
        let digest = try ContentDigest()
        var content = [UInt8](repeating: 0, count: file.pageSize)
        var damaged: [Int] = []
        try file.forEachRun(progress: { try progress(.verifying, $0, of: file.pageCount) }) { run in
            damaged += try run.unauthentic()
            guard damaged.isEmpty else { return }
            for number in run.numbers where number != file.lockPage {
                try run.decrypt(number, into: &content)
                if number == 1 { DatabaseHeader.maskCounters(&content) }
                try digest.update(content.span)
            }
        }
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        return try (file.pageCount, file.pageSize, digest.finish().hexadecimal)
    }
}
