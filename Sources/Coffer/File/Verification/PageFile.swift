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

    private let handle: ConnectionHandle
    private let cipher: PageCipher?

    /// - Throws: ``EngineError``, ``KeyError``, ``CryptographyFailure``.
    init(_ handle: ConnectionHandle, _ protection: FileProtection) throws {
        let header = try FileHeader(handle, count: 100)
        let size = Int(header.size ?? 0)
        self.handle = handle
        if let ring = protection.ring, let material = try protection.material(fileSalt: header.salt) {
            cipher = try PageCipher(
                key: material.secret.bytes, salt: material.salt ?? header.salt, layout: PageCipher.Layout(ring.settings))
            pageSize = ring.settings.pageSize
        } else {
            cipher = nil
            let stored = header.start.count > 17 ? Int(header.start[16]) << 8 | Int(header.start[17]) : 4096
            pageSize = stored == 1 ? 65536 : max(512, stored)
        }
        pageCount = size / pageSize
        excess = size % pageSize
        lockPage = (1 << 30) / pageSize + 1
    }

    /// The stored bytes of pages, from the one with number `first` on.
    func read(_ first: Int, count: Int) throws(EngineError) -> [UInt8] {
        let bytes = try handle.readFile(at: Int64(first - 1) * Int64(pageSize), count: count * pageSize)
        guard bytes.count == count * pageSize else {
            throw EngineError(code: EngineCode.corrupt, message: "The file has become shorter while it was read")
        }
        return bytes
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
        try FreeList.leaves(pageCount: pageCount) { number in
            let stored = try read(number, count: 1)
            var page = stored
            try unsafe stored.withUnsafeBytes { stored in
                try unsafe page.withUnsafeMutableBytes { unsafe try decrypt(stored, number: number, into: $0) }
            }
            return page
        }
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

extension PageCipher.Layout {
    init(_ settings: CipherSettings) {
        self.init(
            pageSize: settings.pageSize, hmac: settings.usesHMAC ? settings.hmacAlgorithm.bridged : nil,
            kdf: settings.kdfAlgorithm.bridged, hmacKeyIterations: settings.hmacKeyIterations,
            plaintextHeaderSize: settings.plaintextHeaderSize)
    }
}
