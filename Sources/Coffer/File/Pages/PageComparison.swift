internal import Foundation
internal import SQLCipherBridge

/// Proves that two encrypted files have the same content, page by page. It does not look at codes, which the engine checks: ``PageProof``.
struct PageComparison {
    /// What is compared: connections that nobody writes to, and what their pages are encrypted with.
    struct Side {
        let handle: ConnectionHandle
        let protection: FileProtection
    }

    let source: Side
    let copy: Side
    let path: String

    struct Result {
        var pageCount: Int
        var pageSize: Int
        var digest: String
    }

    /// Reads both files once.
    ///
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)`` for the source, ``DatabaseFileError/Reason/copyRejected(_:)`` for the copy.
    func run(progress: ProgressReport) throws -> Result {
        let mine = try PageFile(source.handle, source.protection)
        let theirs = try PageFile(copy.handle, copy.protection)
        let pageSize = mine.pageSize
        guard theirs.pageSize == pageSize, theirs.pageCount == mine.pageCount, mine.excess == 0, theirs.excess == 0 else {
            throw DatabaseFileError(
                .copyRejected("it has \(theirs.pageCount) pages instead of \(mine.pageCount)"), path: path)
        }
        let digest = try ContentDigest()
        var left = [UInt8](repeating: 0, count: pageSize)
        var right = left
        var zeroPages: [Int] = []
        let chunk = max(1, 1 << 18 / pageSize)
        var original = [UInt8](repeating: 0, count: chunk * pageSize)
        var stored = original
        for first in stride(from: 1, through: mine.pageCount, by: chunk) {
            try progress(.verifying, first - 1, of: mine.pageCount)
            let count = min(chunk, mine.pageCount - first + 1)
            try unsafe original.withUnsafeMutableBytes {
                unsafe try mine.read(first, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(count * pageSize)]))
            }
            try unsafe stored.withUnsafeMutableBytes {
                unsafe try theirs.read(first, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(count * pageSize)]))
            }
            for number in first..<first + count where number != mine.lockPage {
                let range = (number - first) * pageSize..<(number - first + 1) * pageSize
                try unsafe original.withUnsafeBytes {
                    let page = unsafe UnsafeRawBufferPointer(rebasing: $0[range])
                    // Their codes were checked when they were copied; pages of zeros have none.
                    if unsafe PageFile.isZero(page) { zeroPages.append(number) }
                    try unsafe left.withUnsafeMutableBytes { unsafe try mine.decrypt(page, number: number, into: $0) }
                }
                try unsafe stored.withUnsafeBytes {
                    let page = unsafe UnsafeRawBufferPointer(rebasing: $0[range])
                    try unsafe right.withUnsafeMutableBytes { unsafe try theirs.decrypt(page, number: number, into: $0) }
                }
                if number == 1 {
                    // The salt, or the text in its place.
                    for index in 0..<16 { (left[index], right[index]) = (0, 0) }
                }
                let isEqual = unsafe left.withUnsafeBytes { left in
                    unsafe right.withUnsafeBytes { right in
                        unsafe memcmp(left.baseAddress!, right.baseAddress!, pageSize) == 0
                    }
                }
                guard isEqual else { throw DatabaseFileError(.copyRejected("its page \(number) has another content"), path: path) }
                if number == 1 { PageComparison.maskCounters(&left) }
                try unsafe left.withUnsafeBytes { unsafe try digest.update($0) }
            }
        }
        try progress(.verifying, mine.pageCount, of: mine.pageCount)
        if !zeroPages.isEmpty {
            let free = try mine.freeLeafPages()
            let damaged = zeroPages.filter { !free.contains($0) }
            guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        }
        return Result(pageCount: mine.pageCount, pageSize: pageSize, digest: try digest.finish().hexadecimal)
    }

    /// Sets to zero what the engine counts in each file for itself: the versions for journal modes, the counters of changes, of the size, and
    /// of schema changes, and the version of the library. Offsets: <https://www.sqlite.org/fileformat2.html#the_database_header>.
    static func maskCounters(_ page: inout [UInt8]) {
        for range in [0..<16, 18..<20, 24..<32, 40..<44, 92..<100] {
            for index in range { page[index] = 0 }
        }
    }
}
