internal import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

/// The stored pages of a database file, read through a connection's own descriptor, and what is in them.
struct PageFile {
    let pageSize: Int
    /// How many whole pages the file has.
    let pageCount: Int
    /// How many bytes follow the last whole page.
    let excess: Int
    /// The page that SQLite keeps its locks on and never uses: the one at 1 GiB, or none.
    let lockPage: Int

    var isEncrypted: Bool { cipher != nil }

    /// How pages are encrypted; nil for plaintext.
    var layout: PageCipher.Layout? { cipher?.layout }

    private let bytes: any StoredBytes
    private let cipher: PageCipher?

    /// - Throws: ``EngineError``, ``KeyError``, ``CryptographyFailure``.
    init(_ handle: ConnectionHandle, _ protection: FileProtection) throws {
        try self.init(ConnectionBytes(handle), protection)
    }

    init(_ bytes: any StoredBytes, _ protection: FileProtection) throws {
        let header = try FileHeader(bytes, count: 100)
        let size = Int(bytes.size)
        self.bytes = bytes
        if let ring = protection.ring, let material = try protection.material(fileSalt: header.salt) {
            cipher = try PageCipher(
                key: material.secret.bytes, salt: material.salt ?? header.salt, layout: PageCipher.Layout(ring.settings))
            pageSize = ring.settings.pageSize
        } else {
            cipher = nil
            pageSize = header.plaintextPageSize
        }
        pageCount = size / pageSize
        excess = size % pageSize
        lockPage = (1 << 30) / pageSize + 1
    }

    /// The stored bytes of pages, from the one with number `first` on.
    func read(_ first: Int, count: Int) throws -> [UInt8] {
        let bytes = try bytes.read(at: Int64(first - 1) * Int64(pageSize), count: count * pageSize)
        guard bytes.count == count * pageSize else {
            throw EngineError(code: EngineCode.corrupt, message: "The file has become shorter while it was read")
        }
        return bytes
    }

    /// Fills the target, which holds whole pages, with their stored bytes, from the one with number `first` on.
    func read(_ first: Int, into target: UnsafeMutableRawBufferPointer) throws {
        guard unsafe try bytes.read(at: Int64(first - 1) * Int64(pageSize), into: target) == target.count else {
            throw EngineError(code: EngineCode.corrupt, message: "The file has become shorter while it was read")
        }
    }

    func authenticates(_ page: UnsafeRawBufferPointer, number: Int) throws(CryptographyFailure) -> Bool {
        guard cipher != nil else { return true }
        return unsafe try cipher?.authenticates(page, number: UInt32(truncatingIfNeeded: number)) ?? true
    }

    /// The content of a page. A page of zeros is one that was never written, and has no content, as the engine sees it.
    func decrypt(
        _ page: UnsafeRawBufferPointer, number: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(CryptographyFailure) {
        if unsafe cipher == nil || PageFile.isZero(page) {
            unsafe target.copyBytes(from: page)
        } else {
            unsafe try cipher?.decrypt(page, number: UInt32(truncatingIfNeeded: number), into: target)
        }
    }

    static func isZero(_ page: UnsafeRawBufferPointer) -> Bool {
        // Compares each byte with its neighbour: true for zeros when the first one is.
        guard page.count > 1, unsafe page[0] == 0 else { return false }
        return unsafe memcmp(page.baseAddress!, page.baseAddress! + 1, page.count - 1) == 0
    }

    /// The pages that are free and have no content: they may never have been written.
    func freeLeafPages() throws -> Set<Int> {
        try FreeList.leaves(pageCount: pageCount, content: content)
    }

    /// The decrypted content of one page.
    func content(_ number: Int) throws -> [UInt8] {
        let stored = try read(number, count: 1)
        var page = stored
        try unsafe stored.withUnsafeBytes { stored in
            try unsafe page.withUnsafeMutableBytes { unsafe try decrypt(stored, number: number, into: $0) }
        }
        return page
    }

    /// Goes through all whole pages but the one that SQLite never uses.
    ///
    /// - Parameters:
    ///   - progress: called now and then with the number of pages that are done.
    ///   - body: called with the stored bytes of a page and its number.
    func forEachPage(progress: (Int) throws -> Void = { _ in }, _ body: (UnsafeRawBufferPointer, Int) throws -> Void) throws {
        let chunk = max(1, 1 << 20 / pageSize)
        for first in stride(from: 1, through: pageCount, by: chunk) {
            try progress(first - 1)
            let count = min(chunk, pageCount - first + 1)
            let bytes = try read(first, count: count)
            for number in first..<first + count where number != lockPage {
                let range = (number - first) * pageSize..<(number - first + 1) * pageSize
                try unsafe bytes.withUnsafeBytes { unsafe try body(UnsafeRawBufferPointer(rebasing: $0[range]), number) }
            }
        }
        try progress(pageCount)
    }
}

/// The list of free pages: <https://www.sqlite.org/fileformat2.html#the_freelist>.
enum FreeList {
    /// - Parameter content: the content of a page.
    static func leaves(pageCount: Int, content: (Int) throws -> [UInt8]) rethrows -> Set<Int> {
        guard pageCount > 0 else { return [] }
        func word(_ page: [UInt8], _ index: Int) -> Int {
            page[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        var leaves: Set<Int> = []
        var trunks: Set<Int> = []
        var trunk = word(try content(1), 8)
        // A damaged list may have a loop, and lead anywhere.
        while trunk > 1, trunk <= pageCount, trunks.insert(trunk).inserted {
            let page = try content(trunk)
            let count = word(page, 1)
            guard count <= page.count / 4 - 2 else { break }
            for index in 0..<count { leaves.insert(word(page, index + 2)) }
            trunk = word(page, 0)
        }
        return leaves
    }
}

/// The main database file of a connection.
// @unchecked: only one thread uses it, the one that uses the connection.
final class ConnectionBytes: StoredBytes, @unchecked Sendable {
    let size: Int64
    private let handle: ConnectionHandle

    init(_ handle: ConnectionHandle) throws(EngineError) {
        self.handle = handle
        size = try handle.fileSize() ?? 0
    }

    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        unsafe try handle.readFile(at: offset, into: target)
    }
}

extension StoredBytes {
    /// Up to `count` bytes, fewer at the end.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, Int(min(Int64(count), size - offset))))
        let done = try unsafe bytes.withUnsafeMutableBytes { unsafe try read(at: offset, into: $0) }
        return done == bytes.count ? bytes : Array(bytes.prefix(done))
    }

    /// Fills all of the target, as far as there are bytes, and returns how many there were.
    func read(at offset: Int64, filling target: inout [UInt8]) throws -> Int {
        try unsafe target.withUnsafeMutableBytes { unsafe try read(at: offset, into: $0) }
    }
}

extension FileHeader {
    init(_ bytes: any StoredBytes, count: Int) throws {
        self.init(size: bytes.size, start: try bytes.read(at: 0, count: count))
    }
}
