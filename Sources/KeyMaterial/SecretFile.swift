internal import Glibc

/// Files that hold a secret, and that no other user may read.
package enum SecretFile {
    /// No key is longer; a file that is longer is another file.
    package static let limit = 65_536

    package enum Problem: Error, Hashable {
        /// The number of the failed system call.
        case notOpened(CInt)
        case notRead(CInt)
        case notAFile
        /// The permissions of the file, which allow others to read it.
        case readableByOthers(mode: UInt32)
        /// The file belongs to another user, who knows the secret and can change it.
        case ofAnotherUser
        case tooLong
    }

    /// Who may have access to the file beside the user of this process.
    package enum Access: Sendable {
        /// Nobody but root.
        case ownerOnly
        /// Whoever the system lets: the mode is not looked at. Of credentials of systemd, which gives access
        /// by an access control list, which shows as a mode for the group.
        case unchecked
    }

    /// Reads a file to its end, through the descriptor that was judged: the path may lead elsewhere the next
    /// time.
    ///
    /// A pipe, as in `<(command)`, is its creator's, and is read without a look at its mode.
    /// - Parameter followsLinks: whether the last part of the path may be a symbolic link.
    package static func read(_ path: String, access: Access, followsLinks: Bool = true) throws(Problem)
        -> SecretBytes
    {
        let file = try File(path, flags: O_RDONLY | O_CLOEXEC | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW))
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else { throw .notOpened(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            if case .ownerOnly = access { try check(status) }
        case S_IFIFO, S_IFSOCK: break
        default: throw .notAFile
        }
        return try file.readAll()
    }

    private static func check(_ status: stat) throws(Problem) {
        let mode = status.st_mode & 0o777
        guard mode & 0o077 == 0 else { throw .readableByOthers(mode: mode) }
        let user = geteuid()
        guard status.st_uid == user || status.st_uid == 0 || user == 0 else { throw .ofAnotherUser }
    }

    private struct File: ~Copyable {
        let descriptor: CInt

        init(_ path: String, flags: CInt) throws(Problem) {
            var descriptor: CInt
            repeat { descriptor = unsafe open(path, flags) } while descriptor < 0 && errno == EINTR
            guard descriptor >= 0 else { throw .notOpened(errno) }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        borrowing func readAll() throws(Problem) -> SecretBytes {
            var bytes = SecretBytes(count: SecretFile.limit + 1)
            var count = 0
            while true {
                let part = bytes.withUnsafeMutableBytes { target in
                    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...])
                    return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
                }
                if part < 0 {
                    if errno == EINTR { continue }
                    throw .notRead(errno)
                }
                count += part
                guard count <= SecretFile.limit else { throw .tooLong }
                if part == 0 { return bytes.prefix(count) }
            }
        }
    }
}

// MARK: - What the bytes stand for

extension SecretBytes {
    /// The first bytes.
    package borrowing func prefix(_ count: Int) -> SecretBytes {
        withUnsafeBytes { unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Without exactly one newline at the end, which editors and 'echo' add.
    package consuming func withoutNewline() -> SecretBytes {
        let end = withUnsafeBytes { bytes in
            guard let last = unsafe bytes.last, last == UInt8(ascii: "\n") else { return bytes.count }
            guard bytes.count > 1, unsafe bytes[bytes.count - 2] == UInt8(ascii: "\r") else {
                return bytes.count - 1
            }
            return bytes.count - 2
        }
        return end == count ? self : prefix(end)
    }

    /// The bytes as they are where there are `size` of them, or those that twice as many hexadecimal digits
    /// stand for: alone, or as SQL has them (`x'...'`), with a newline or a byte order mark of UTF-8; nil for
    /// everything else.
    package consuming func decoded(size: Int) -> SharedSecret? {
        if count == size { return SharedSecret(self) }
        guard let digits = digitRange(), digits.count == 2 * size else { return nil }
        var result = SecretBytes(count: size)
        let isRead = withUnsafeBytes { bytes in
            result.withUnsafeMutableBytes {
                unsafe SecretHex.read(UnsafeRawBufferPointer(rebasing: bytes[digits]), to: $0)
            }
        }
        return isRead ? SharedSecret(result) : nil
    }

    /// The number of bytes that hexadecimal digits stand for, written as ``decoded(size:)`` takes them; nil
    /// for everything else.
    package borrowing func decodedSize() -> Int? {
        guard let range = digitRange(), range.count.isMultiple(of: 2) else { return nil }
        let areDigits = withUnsafeBytes { bytes in
            unsafe bytes[range].allSatisfy { SecretHex.isDigit($0) }
        }
        return areDigits ? range.count / 2 : nil
    }

    /// Where digits are, if there is nothing else but what may be around them.
    private borrowing func digitRange() -> Range<Int>? {
        withUnsafeBytes { bytes in
            var range = 0..<bytes.count
            func has(_ part: [UInt8], at index: Int) -> Bool {
                part.indices.allSatisfy { unsafe bytes[index + $0] == part[$0] }
            }
            func drop(_ start: [UInt8], _ end: [UInt8] = []) -> Bool {
                guard range.count > start.count + end.count, has(start, at: range.lowerBound),
                    has(end, at: range.upperBound - end.count)
                else { return false }
                range = (range.lowerBound + start.count)..<(range.upperBound - end.count)
                return true
            }
            _ = drop([], Array("\n".utf8)) && drop([], Array("\r".utf8))
            _ = drop(SecretBytes.byteOrderMark)
            _ = drop(Array("\"".utf8), Array("\"".utf8))
            _ = drop(Array("x'".utf8), Array("'".utf8)) || drop(Array("X'".utf8), Array("'".utf8))
            return range.isEmpty ? nil : range
        }
    }

    /// The bytes with which some editors begin a text in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// A mark of the byte order that the bytes begin with, which a text editor has added.
    package enum TextMark: Sendable { case utf8, utf16 }

    package borrowing func textMark() -> TextMark? {
        withUnsafeBytes { bytes in
            if unsafe bytes.starts(with: SecretBytes.byteOrderMark) { return .utf8 }
            return unsafe bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) ? .utf16 : nil
        }
    }
}
