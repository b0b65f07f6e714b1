internal import SQLCipherBridge

/// The digest of the content of a file, which does not depend on its key and salt: see
/// ``DatabaseFile/RotationProof/contentDigest``.
enum PageDigest {
    /// Reads all pages of a file that nothing writes to, and checks their MACs.
    ///
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)``.
    static func compute(
        _ handle: ConnectionHandle, _ protection: FileProtection, path: String, progress: ProgressReport
    ) throws -> (pageCount: Int, pageSize: Int, digest: String) {
        let file = try PageFile(handle, protection)
        let digest = try RunningPageDigest()
        var content = [UInt8](repeating: 0, count: file.pageSize)
        var damaged: [Int] = []
        try file.forEachRun(progress: { try progress(.verifying, $0, of: file.pageCount) }) { run in
            damaged += try run.unauthentic()
            guard damaged.isEmpty else { return }
            for number in run.numbers where number != file.lockPage {
                try run.decrypt(number, into: &content)
                try digest.add(number, &content)
            }
        }
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        return try (file.pageCount, file.pageSize, digest.finish())
    }
}

/// Computes the content digest from the pages in order: SHA-256 over the SHA-256 of each page. If some pages
/// change, only those have to be hashed again.
struct RunningPageDigest {
    private let page: ContentDigest
    private let all: ContentDigest

    init() throws(CryptographyFailure) {
        page = try ContentDigest()
        all = try ContentDigest()
    }

    /// Adds the content of the next page, after zeroing the change counters and the salt in it.
    ///
    /// - Returns: the digest of the page.
    @discardableResult
    func add(_ number: Int, _ content: inout [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        let digest = try self.digest(number, &content)
        try add(digestOf: digest)
        return digest
    }

    /// Adds the digest of the next page.
    func add(digestOf page: [UInt8]) throws(CryptographyFailure) { try all.update(page.span) }

    /// Returns the digest of the content of one page, after zeroing the change counters and the salt in it.
    func digest(_ number: Int, _ content: inout [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        if number == 1 { DatabaseHeader.maskCounters(&content) }
        try page.restart()
        try page.update(content.span)
        return try page.finish()
    }

    /// Returns the digest as hexadecimal digits. Nothing can be added afterwards.
    func finish() throws(CryptographyFailure) -> String { try all.finish().hexadecimal }
}

/// The digests of all pages of content that changes. A class, so that the digests of a large file are never
/// copied.
final class PageDigests {
    private static let size = 32
    private let lockPage: Int
    private var bytes: [UInt8] = []

    init(lockPage: Int) { self.lockPage = lockPage }

    /// Drops the digests of pages past the end, or makes room for more.
    func resize(to pageCount: Int) {
        let count = pageCount * PageDigests.size
        if bytes.count > count { bytes.removeLast(bytes.count - count) }
        // The extra capacity keeps the array from being copied for every few added pages.
        if bytes.capacity < count { bytes.reserveCapacity(count + count / 16) }
        bytes.append(contentsOf: repeatElement(0, count: count - bytes.count))
    }

    func note(_ number: Int, _ digest: [UInt8]) {
        let start = (number - 1) * PageDigests.size
        bytes.replaceSubrange(start..<start + PageDigests.size, with: digest)
    }

    /// Returns the digest of the content: see ``RunningPageDigest``.
    func finish() throws(CryptographyFailure) -> String {
        let (all, bytes) = (try ContentDigest(), bytes)
        // SQLite never uses the lock-byte page, so it has no digest.
        let lock = min(bytes.count, (lockPage - 1) * PageDigests.size)
        try all.update(bytes.span.extracting(0..<lock))
        try all.update(bytes.span.extracting(min(bytes.count, lock + PageDigests.size)..<bytes.count))
        return try all.finish().hexadecimal
    }
}
