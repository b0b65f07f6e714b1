internal import Glibc
internal import KeyMaterial

/// Reading secrets from descriptors into memory that is wiped.
enum SecretInput {
    static let limit = SecretFile.limit

    /// Reads to the end.
    ///
    /// - Parameter name: what is read, for messages.
    static func readAll(_ descriptor: borrowing Descriptor, name: String) throws(Failure) -> SecretBytes {
        var buffer = Buffer(name: name)
        while try buffer.read(descriptor) {}
        return buffer.secret
    }

    /// A secret that comes in parts.
    struct Buffer: ~Copyable {
        private let name: String
        private var bytes = SecretBytes(count: SecretInput.limit + 1)
        private var count = 0

        /// - Parameter name: what is read, for messages.
        init(name: String) {
            self.name = name
        }

        /// Reads what is there, waiting for the first byte; false at the end.
        mutating func read(_ descriptor: borrowing Descriptor) throws(Failure) -> Bool {
            let part = try SecretInput.read(descriptor, into: &bytes, at: count, name: name)
            count += part
            guard count <= SecretInput.limit else {
                throw Failure(
                    .keyRejected, "invalid_key",
                    "\(name) has more than \(TextLayout.grouped(SecretInput.limit)) bytes, which no key has.")
            }
            return part > 0
        }

        /// What was read so far.
        var secret: SecretBytes { bytes.prefix(count) }
    }

    /// Reads up to the end of a line, without it; nil at the end of the input. One byte at a time, so that
    /// the rest is left to the next line.
    static func readLine(_ descriptor: borrowing Descriptor, name: String) throws(Failure) -> SecretBytes? {
        var buffer = SecretBytes(count: limit + 1)
        var count = 0
        while count < limit {
            guard try readByte(descriptor, into: &buffer, at: count, name: name) else {
                return count == 0 ? nil : buffer.prefix(count)
            }
            if buffer.withUnsafeBytes({ unsafe $0[count] }) == UInt8(ascii: "\n") {
                return buffer.prefix(count)
            }
            count += 1
        }
        throw Failure(
            .keyRejected, "invalid_key",
            "\(name) has more than \(TextLayout.grouped(limit)) bytes, which no key has.")
    }

    fileprivate static func read(
        _ descriptor: borrowing Descriptor, into buffer: inout SecretBytes, at offset: Int, name: String
    ) throws(Failure) -> Int {
        do throws(SystemError) {
            return try buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
            }
        } catch {
            throw Failure(error, "\(name) cannot be read")
        }
    }

    private static func readByte(
        _ descriptor: borrowing Descriptor, into buffer: inout SecretBytes, at offset: Int, name: String
    ) throws(Failure) -> Bool {
        do throws(SystemError) {
            return try buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                try unsafe descriptor.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + 1])) == 1
            }
        } catch {
            throw Failure(error, "\(name) cannot be read")
        }
    }
}
