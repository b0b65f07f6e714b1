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
        unsafe try file.forEachPage(progress: { try progress(.verifying, $0, of: file.pageCount) }) { page, number in
            guard unsafe try PageFile.isZero(page) || file.authenticates(page, number: number) else {
                damaged.append(number)
                return
            }
            try unsafe content.withUnsafeMutableBytes { unsafe try file.decrypt(page, number: number, into: $0) }
            if number == 1 { PageComparison.maskCounters(&content) }
            try unsafe content.withUnsafeBytes { unsafe try digest.update($0) }
        }
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        return try (file.pageCount, file.pageSize, digest.finish().hexadecimal)
    }
}
