internal import KeyMaterial
internal import SystemCalls

/// Reads secrets from descriptors into memory that is wiped.
enum SecretInput {
    /// Reads to the end of the input.
    ///
    /// - Parameter name: the subject of error messages.
    static func readAll(_ descriptor: borrowing Descriptor, name: String) throws(Failure) -> SecretBytes {
        do throws(SecretFile.Problem) { return try SecretFile.readAll(from: descriptor) } catch {
            throw KeyFile.failure(error, name)
        }
    }

    /// Reads up to the end of a line. Returns the line without its terminator, or nil at the end of the
    /// input. The next line stays unread.
    static func readLine(_ descriptor: borrowing Descriptor, name: String) throws(Failure) -> SecretBytes? {
        do throws(SecretFile.Problem) { return try SecretFile.readLine(from: descriptor) } catch {
            throw KeyFile.failure(error, name)
        }
    }
}

extension SecretBytes {
    /// Returns the bytes as a line of text.
    borrowing func line() -> SecretBytes {
        var line = SecretBytes(count: count + 1)
        withUnsafeBytes { text in
            line.withUnsafeMutableBytes { line in
                unsafe line.copyMemory(from: text)
                unsafe line[text.count] = UInt8(ascii: "\n")
            }
        }
        return line
    }
}
