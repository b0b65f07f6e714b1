internal import CSQLCipher
internal import Glibc
internal import KeyMaterial

/// A temporary file of SQLite, for example for a sort that does not fit into memory. It is encrypted with a
/// random key that exists only in this object.
///
/// It uses AES-256-XTS in blocks, like disk encryption. Its bytes have no MACs: an attacker who can write to
/// an unnamed file can do everything that this process can.
@safe
final class ScratchBytes: WritableBytes {
    private static let blockSize = 4096

    /// An open file of the standard file system.
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let encryption: OpaquePointer
    private let decryption: OpaquePointer
    private(set) var size: Int64 = 0
    /// The size of the blocks that were written, in bytes.
    private var storedSize: Int64 = 0
    /// Buffers for blocks, encrypted and decrypted.
    private var stored: [UInt8] = []
    private var contents: [UInt8] = []

    /// - Parameter flags: SQLite's flags for the file.
    /// - Throws: an error with SQLite's result code.
    init(flags: CInt) throws(EngineError) {
        guard let system = unsafe sqlite3_vfs_find(nil), let open = unsafe system.pointee.xOpen else {
            throw EngineError(code: SQLITE_CANTOPEN, message: "There is no standard file system")
        }
        guard let encryption = unsafe EVP_CIPHER_CTX_new() else {
            throw EngineError(code: SQLITE_NOMEM, message: nil)
        }
        guard let decryption = unsafe EVP_CIPHER_CTX_new() else {
            unsafe EVP_CIPHER_CTX_free(encryption)
            throw EngineError(code: SQLITE_NOMEM, message: nil)
        }
        let size = unsafe Int(system.pointee.szOsFile)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        unsafe memset(memory, 0, size)
        unsafe file = memory.assumingMemoryBound(to: sqlite3_file.self)
        unsafe self.encryption = encryption
        unsafe self.decryption = decryption
        // From here on, `deinit` releases everything.
        let key: SecretBytes
        do {
            key = try SecretBytes.random(count: 64)
        } catch {
            throw EngineError(code: SQLITE_IOERR, message: "There are no random bytes")
        }
        let isKeyed = key.withUnsafeBytes { key in
            unsafe EVP_EncryptInit_ex(encryption, EVP_aes_256_xts(), nil, key.address(), nil) == 1
                && EVP_DecryptInit_ex(decryption, EVP_aes_256_xts(), nil, key.address(), nil) == 1
        }
        guard isKeyed else { throw EngineError(code: SQLITE_IOERR, message: "AES-256-XTS is missing") }
        let code = unsafe open(system, nil, file, flags, nil)
        guard code == SQLITE_OK else { throw EngineError(code: code, message: nil) }
    }

    deinit {
        if let methods = unsafe file.pointee.pMethods { _ = unsafe methods.pointee.xClose(file) }
        unsafe UnsafeMutableRawPointer(file).deallocate()
        unsafe EVP_CIPHER_CTX_free(encryption)
        unsafe EVP_CIPHER_CTX_free(decryption)
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let count = Int(max(0, min(Int64(target.count), size - offset)))
        guard count > 0 else { return 0 }
        let blocks = blocks(at: offset, count)
        try open(blocks)
        let start = Int(offset - Int64(blocks.lowerBound * ScratchBytes.blockSize))
        let contents = contents
        target.copy(contents.span.extracting(start..<start + count))
        return count
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt {
        guard bytes.count > 0 else { return 0 }
        let blocks = blocks(at: offset, bytes.count)
        let start = Int(offset - Int64(blocks.lowerBound * ScratchBytes.blockSize))
        do throws(EngineError) {
            // Keep the rest of partially written blocks.
            if start == 0 && bytes.count == blocks.count * ScratchBytes.blockSize {
                makeRoom(blocks.count)
            } else {
                try open(blocks)
            }
            contents.copy(bytes, at: start)
            try seal(blocks)
        } catch {
            return error.primaryCode == SQLITE_FULL ? ENOSPC : EIO
        }
        size = max(size, offset + Int64(bytes.count))
        return 0
    }

    func truncate(to size: Int64) -> CInt {
        // SQLite deletes such files, and does not continue to write after their end.
        self.size = min(self.size, size)
        return 0
    }

    // MARK: - Blocks

    private func blocks(at offset: Int64, _ count: Int) -> Range<Int> {
        Int(offset) / ScratchBytes.blockSize..<(Int(offset) + count - 1) / ScratchBytes.blockSize + 1
    }

    private func makeRoom(_ count: Int) {
        guard contents.count < count * ScratchBytes.blockSize else { return }
        contents = [UInt8](repeating: 0, count: count * ScratchBytes.blockSize)
        stored = contents
    }

    /// Reads and decrypts blocks. Blocks that were never written are zeros.
    private func open(_ blocks: Range<Int>) throws(EngineError) {
        makeRoom(blocks.count)
        let start = Int64(blocks.lowerBound) * Int64(ScratchBytes.blockSize)
        let count = Int(max(0, min(Int64(blocks.count * ScratchBytes.blockSize), storedSize - start)))
        if count > 0, let methods = unsafe file.pointee.pMethods {
            let code = unsafe methods.pointee.xRead(file, &stored, CInt(count), start)
            guard code == SQLITE_OK else { throw EngineError(code: code, message: nil) }
        }
        for index in 0..<blocks.count {
            let part = index * ScratchBytes.blockSize..<(index + 1) * ScratchBytes.blockSize
            if part.upperBound <= count, !isGap(part) {
                try convert(blocks.lowerBound + index, part, isSealing: false)
            } else {
                contents.clear(part)
            }
        }
    }

    /// Returns true if a block was never written: encrypted bytes are not all zeros.
    private func isGap(_ part: Range<Int>) -> Bool {
        let stored = stored
        return stored.span.extracting(part).isZero
    }

    private func seal(_ blocks: Range<Int>) throws(EngineError) {
        for index in 0..<blocks.count {
            let part = index * ScratchBytes.blockSize..<(index + 1) * ScratchBytes.blockSize
            try convert(blocks.lowerBound + index, part, isSealing: true)
        }
        guard let methods = unsafe file.pointee.pMethods else { return }
        let start = Int64(blocks.lowerBound) * Int64(ScratchBytes.blockSize)
        let count = blocks.count * ScratchBytes.blockSize
        let code = unsafe methods.pointee.xWrite(file, stored, CInt(count), start)
        guard code == SQLITE_OK else { throw EngineError(code: code, message: nil) }
        storedSize = max(storedSize, start + Int64(count))
    }

    /// Encrypts or decrypts a block. The tweak is the block's number.
    private func convert(_ block: Int, _ part: Range<Int>, isSealing: Bool) throws(EngineError) {
        var tweak = [UInt8](repeating: 0, count: 16)
        for index in 0..<8 { tweak[index] = UInt8(truncatingIfNeeded: block >> (8 * index)) }
        let (context, size) = unsafe (isSealing ? encryption : decryption, CInt(part.count))
        var count: CInt = 0
        let start = part.lowerBound
        let isDone = unsafe stored.withUnsafeMutableBytes { stored in
            unsafe contents.withUnsafeMutableBytes { contents in
                // Both buffers have room for the part.
                let (stored, contents) = unsafe (stored.address(at: start), contents.address(at: start))
                let (input, output) = unsafe isSealing ? (contents, stored) : (stored, contents)
                return unsafe EVP_CipherInit_ex(context, nil, nil, nil, tweak, isSealing ? 1 : 0) == 1
                    && EVP_CipherUpdate(context, output, &count, input, size) == 1
            }
        }
        guard isDone, count == size else {
            throw EngineError(code: SQLITE_IOERR, message: "AES-256-XTS has failed")
        }
    }
}
