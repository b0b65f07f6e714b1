internal import SQLCipherBridge

/// The information that a file's stored bytes give without a key.
struct FileHeader {
    /// The size in bytes; nil if the connection has no file.
    let size: Int64?

    /// The first bytes, at most as many as the largest page has.
    let start: [UInt8]
}

extension FileHeader {
    /// The size of the largest page, in bytes.
    static let longestPage = 65536
    static let shortestEncryptedPage = 1024

    /// - Parameter count: the number of bytes to read; the salt takes 16 bytes.
    init(_ handle: ConnectionHandle, count: Int = 16) throws(EngineError) {
        size = try handle.fileSize()
        start = try handle.readFile(at: 0, count: count)
    }

    /// Reads a header, for callers that throw ``KeyError``.
    static func read(_ handle: ConnectionHandle, count: Int = 16) throws(KeyError) -> FileHeader {
        do throws(EngineError) {
            return try FileHeader(handle, count: count)
        } catch {
            throw KeyError(error)
        }
    }

    /// The first 16 bytes, which are the salt of an encrypted file; empty if there are fewer.
    var salt: [UInt8] { start.count >= 16 ? Array(start.prefix(16)) : [] }

    /// True if there is a file and it is empty.
    var isEmptyFile: Bool { size == 0 }

    /// True if the file starts with SQLite's magic, as unencrypted files and those with a plaintext header
    /// do.
    var hasSQLiteMagic: Bool { start.starts(with: DatabaseHeader.magic) }

    /// The page size according to the bytes at its place in a plaintext header, even if this is not one; nil
    /// if there are too few bytes.
    var statedPageSize: Int? { start.count > 17 ? DatabaseHeader.pageSize(start[16], start[17]) : nil }

    /// The page size of a file that is treated as plaintext.
    var plaintextPageSize: Int { max(512, statedPageSize ?? 4096) }

    /// Returns true if the file is an unencrypted SQLite database, as opposed to an encrypted one with a
    /// plaintext header.
    func isPlaintext(plaintextHeaderSize: Int) -> Bool {
        guard hasSQLiteMagic else { return false }
        if start.count > DatabaseHeader.size, start[21...23] == [64, 32, 32], start[20] != 0 {
            // Some bytes of each page are reserved. That is so in encrypted files and in a few others. The
            // whole header may be in the clear, but not the root of the schema, which follows it.
            return start[72..<92].allSatisfy { $0 == 0 }
                && DatabaseHeader.precedesRootOfSchema(start, pageSize: plaintextPageSize)
        }
        guard plaintextHeaderSize >= 32, start.count > 20 else { return plaintextHeaderSize == 0 }
        // Byte 20 is the number of bytes that each page reserves. Encrypted pages always reserve some.
        return start[20] == 0
    }

    /// Returns true if the file is too short to be encrypted, or its content is too regular to be ciphertext.
    /// The size gives no other information, because a file may have bytes after its database.
    ///
    /// 512 random bytes contain about 221 of the 256 values, and practically never fewer than 160.
    func cannotBeEncrypted(plaintextHeaderSize: Int) -> Bool {
        guard let size, size >= FileHeader.shortestEncryptedPage else { return true }
        let sample = start.dropFirst(max(16, plaintextHeaderSize)).prefix(1024)
        return sample.count >= 400 && Set(sample).count < 128
    }
}
