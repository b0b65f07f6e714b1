internal import SQLCipherBridge

/// What the stored bytes of a file say without a key.
struct FileHeader {
    /// In bytes; nil when the connection has no file.
    let size: Int64?

    /// The first bytes, up to the largest page.
    let start: [UInt8]

    init(size: Int64?, start: [UInt8]) {
        self.size = size
        self.start = start
    }

    /// The size of the largest page, in bytes.
    static let longestPage = 65536
    static let shortestEncryptedPage = 1024

    /// - Parameter count: how much to read; the salt takes 16 bytes.
    init(_ handle: ConnectionHandle, count: Int = 16) throws(EngineError) {
        size = try handle.fileSize()
        start = try handle.readFile(at: 0, count: count)
    }

    /// The same for those who throw errors of keys.
    static func read(_ handle: ConnectionHandle, count: Int = 16) throws(KeyError) -> FileHeader {
        do throws(EngineError) {
            return try FileHeader(handle, count: count)
        } catch {
            throw KeyError(error)
        }
    }

    /// The first 16 bytes, which are the salt of an encrypted file; empty when there are fewer.
    var salt: [UInt8] { start.count >= 16 ? Array(start.prefix(16)) : [] }

    /// Whether there is a file, and nothing in it.
    var isEmptyFile: Bool { size == 0 }

    /// The text that starts every SQLite file that is not encrypted, or has a plaintext header.
    var hasSQLiteMagic: Bool { start.starts(with: DatabaseHeader.magic) }

    /// The size of pages that a plaintext header states, whether or not this is one; nil where there are too
    /// few bytes.
    var statedPageSize: Int? { start.count > 17 ? DatabaseHeader.pageSize(start[16], start[17]) : nil }

    /// The size of the pages of a file that is taken for a plaintext one.
    var plaintextPageSize: Int { max(512, statedPageSize ?? 4096) }

    /// Whether the file is a SQLite database without encryption, although its first bytes may be readable by
    /// intent.
    func isPlaintext(plaintextHeaderSize: Int) -> Bool {
        guard hasSQLiteMagic else { return false }
        if start.count > DatabaseHeader.size, start[21...23] == [64, 32, 32], start[20] != 0 {
            // Some bytes of each page are reserved, as encrypted pages have them, and a few others.
            return start[72..<92].allSatisfy { $0 == 0 } && [2, 5, 10, 13].contains(start[100])
        }
        guard plaintextHeaderSize >= 32, start.count > 20 else { return plaintextHeaderSize == 0 }
        // Byte 20 is the space that each page reserves: an encrypted page always reserves some.
        return start[20] == 0
    }

    /// Whether the file is too short, or its content is too regular to be ciphertext. Its size says nothing
    /// more: a file may have bytes behind its database.
    ///
    /// Half a kilobyte of random bytes has about 221 different values of 256, and fewer than 160 never in the
    /// life of the universe.
    func cannotBeEncrypted(plaintextHeaderSize: Int) -> Bool {
        guard let size, size >= FileHeader.shortestEncryptedPage else { return true }
        let sample = start.dropFirst(max(16, plaintextHeaderSize)).prefix(1024)
        return sample.count >= 400 && Set(sample).count < 128
    }
}
