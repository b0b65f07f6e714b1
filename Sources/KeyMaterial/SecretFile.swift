internal import Glibc
package import SystemCalls

/// Reads files that contain a secret and that other users must not be able to read.
package enum SecretFile {
    /// The maximum size in bytes. No key is longer, so a longer file is not a key file.
    package static let limit = 65_536

    package enum Problem: Error, Hashable {
        case notOpened(Errno)
        case notRead(Errno)
        case notAFile
        /// The file's mode, which allows other users to read or change it.
        case readableByOthers(mode: UInt32)
        /// The file belongs to another user. That user knows the secret and can change it.
        case ofAnotherUser
        case tooLong
    }

    /// The users other than this process's user who may have access to the file.
    package enum Access: Sendable, Equatable {
        /// Only root, who may read the files of all users.
        case ownerOnly
        /// Only root, who may read files of the given user too: any other owner of the file would know a
        /// secret that is about to be used for the first time.
        case ownerOnlyOfNew(orOf: UInt32?)
        /// Any user: the mode is not checked. For systemd credentials: systemd grants access through an
        /// access control list, which appears as group permissions in the mode.
        case unchecked
    }

    /// Reads a whole file through the descriptor that was checked, because the path may lead elsewhere the
    /// next time.
    ///
    /// A pipe, as in `<(command)`, is read without checking its mode. A named pipe must belong to this user
    /// or to root, even if this user is root: its owner decides how long readers wait.
    ///
    /// - Parameter followsLinks: true if the last component of the path may be a symbolic link.
    package static func read(_ path: String, access: Access, followsLinks: Bool = true) throws(Problem)
        -> SecretBytes
    {
        let file = try opening { () throws(Errno) in
            // Otherwise, opening a named pipe would wait for its writer, before its owner is known.
            try Descriptor(opening: path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        }
        let status = try opening { () throws(Errno) in try file.status() }
        switch status.mode & S_IFMT {
        case S_IFREG:
            if access != .unchecked { try check(status, access) }
        case S_IFIFO:
            if access != .unchecked {
                guard status.isOwn || status.userID == 0 || file.isUnnamedPipe else { throw .ofAnotherUser }
            }
            do throws(Errno) { try file.waitForInput() } catch { throw .notRead(error) }
        default: throw .notAFile
        }
        return try readAll(from: file)
    }

    private static func opening<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(Problem)
        -> Result
    {
        do throws(Errno) { return try body() } catch { throw .notOpened(error) }
    }

    private static func check(_ status: FileStatus, _ access: Access) throws(Problem) {
        let mode = status.mode & 0o777
        guard mode & 0o077 == 0 else { throw .readableByOthers(mode: mode) }
        if status.isOwn || status.userID == 0 { return }
        guard geteuid() == 0 else { throw .ofAnotherUser }
        if case .ownerOnlyOfNew(let owner) = access, status.userID != owner { throw .ofAnotherUser }
    }

    /// Reads to the end of the file.
    package static func readAll(from file: borrowing Descriptor) throws(Problem) -> SecretBytes {
        var buffer = SecretBuffer()
        while try buffer.read(from: file) {}
        return buffer.secret
    }

    /// Reads up to the end of a line. Returns the line without its newline, or nil at the end of the file.
    /// Reads one byte at a time, so the next line stays unread.
    package static func readLine(from file: borrowing Descriptor) throws(Problem) -> SecretBytes? {
        var buffer = SecretBuffer()
        while try buffer.read(from: file, upTo: 1) {
            if buffer.last == UInt8(ascii: "\n") { return buffer.bytes.prefix(buffer.count - 1) }
        }
        return buffer.count == 0 ? nil : buffer.secret
    }
}

/// A secret that is read in parts.
package struct SecretBuffer: ~Copyable {
    fileprivate private(set) var bytes = SecretBytes(count: SecretFile.limit + 1)
    fileprivate private(set) var count = 0

    package init() {}

    /// The bytes that have been read so far.
    package var secret: SecretBytes { bytes.prefix(count) }

    fileprivate var last: UInt8? { count == 0 ? nil : bytes.withUnsafeBytes { unsafe $0[count - 1] } }

    /// Reads the available bytes, up to `limit`, and waits for the first one. Returns false at the end.
    package mutating func read(from file: borrowing Descriptor, upTo limit: Int = .max)
        throws(SecretFile.Problem) -> Bool
    {
        let (number, start) = (file.number, count)
        do throws(Errno) {
            count += try bytes.withUnsafeMutableBytes { bytes throws(Errno) in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...].prefix(limit))
                return try unsafe Descriptor.read(from: number, into: rest)
            }
        } catch {
            throw .notRead(error)
        }
        guard count <= SecretFile.limit else { throw .tooLong }
        return count > start
    }
}

// MARK: - Decoding

extension SecretBytes {
    /// Returns the first bytes.
    package borrowing func prefix(_ count: Int) -> SecretBytes {
        withUnsafeBytes { unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Returns the bytes without one newline at the end, which editors and 'echo' add.
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

    /// Returns the bytes unchanged if there are `size` of them, or the bytes encoded by twice as many
    /// hexadecimal digits. The digits may be in quotes or in SQL's form (`x'...'`), with a newline or a UTF-8
    /// byte order mark. Returns nil for everything else.
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

    /// Returns the number of bytes encoded by hexadecimal digits, in the forms that ``decoded(size:)``
    /// accepts; nil for everything else.
    package borrowing func decodedSize() -> Int? {
        guard let range = digitRange(), range.count.isMultiple(of: 2) else { return nil }
        let areDigits = withUnsafeBytes { bytes in
            unsafe bytes[range].allSatisfy { SecretHex.isDigit($0) }
        }
        return areDigits ? range.count / 2 : nil
    }

    /// Returns the range of the digits, without the optional characters around them; nil if it is empty.
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

    /// The UTF-8 byte order mark, which some editors write at the start of a text.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// A byte order mark at the start of the bytes, which a text editor has added.
    package enum TextMark: Sendable { case utf8, utf16 }

    package borrowing func textMark() -> TextMark? {
        withUnsafeBytes { bytes in
            if unsafe bytes.starts(with: SecretBytes.byteOrderMark) { return .utf8 }
            return unsafe bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) ? .utf16 : nil
        }
    }
}
