internal import Foundation
internal import SQLCipherBridge

/// The content of an encrypted file that nobody writes to, for the engine to read as one without encryption: in memory only, and without the
/// cost of the codes, which somebody else checks.
// @unchecked: only one thread uses a view at a time, the one that uses the connection to it.
final class DecryptedView: StoredBytes, @unchecked Sendable {
    let size: Int64
    private let file: PageFile
    /// Stored pages that are likely to be asked for next, the number of the first one, and how many there are.
    private var ahead: [UInt8]
    private var firstAhead = 0
    private var countAhead = 0
    /// For reads of parts of pages.
    private var page: [UInt8]

    private static let magic = Array("SQLite format 3\0".utf8)

    /// - Parameter stored: the pages as they are stored.
    init(_ stored: any StoredBytes, _ protection: FileProtection) throws {
        file = try PageFile(stored, protection)
        size = Int64(file.pageCount) * Int64(file.pageSize)
        page = [UInt8](repeating: 0, count: file.pageSize)
        ahead = [UInt8](repeating: 0, count: max(1, 65536 / file.pageSize) * file.pageSize)
    }

    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        let pageSize = Int64(file.pageSize)
        let count = Int(max(0, min(Int64(target.count), size - offset)))
        if offset % pageSize == 0 && count == file.pageSize {
            unsafe try decrypt(Int(offset / pageSize) + 1, into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
            return count
        }
        var done = 0
        while done < count {
            let position = offset + Int64(done)
            try unsafe page.withUnsafeMutableBytes { unsafe try decrypt(Int(position / pageSize) + 1, into: $0) }
            let start = Int(position % pageSize)
            let length = min(count - done, file.pageSize - start)
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[done..<done + length]).copyBytes(from: page[start..<start + length])
            done += length
        }
        return done
    }

    private func decrypt(_ number: Int, into target: UnsafeMutableRawBufferPointer) throws {
        if !(firstAhead..<firstAhead + countAhead).contains(number) {
            // Trees are mostly written and read in order.
            let isInOrder = number == firstAhead + countAhead
            let count = isInOrder ? min(ahead.count / file.pageSize, file.pageCount - number + 1) : 1
            countAhead = 0
            try unsafe ahead.withUnsafeMutableBytes {
                unsafe try file.read(number, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(count * file.pageSize)]))
            }
            (firstAhead, countAhead) = (number, count)
        }
        let start = (number - firstAhead) * file.pageSize
        try unsafe ahead.withUnsafeBytes {
            unsafe try file.decrypt(
                UnsafeRawBufferPointer(rebasing: $0[start..<start + file.pageSize]), number: number, into: target)
        }
        // The salt is in its place.
        if number == 1 && file.isEncrypted { unsafe target.copyBytes(from: DecryptedView.magic) }
    }
}
