package import KeyMaterial

/// A message with secret and public parts, assembled in memory that is wiped.
package struct SecretMessage: ~Copyable {
    private var memory: SecretBytes
    private var count = 0

    /// - Parameter capacity: the maximum size of the message, in bytes.
    package init(capacity: Int) {
        memory = SecretBytes(count: capacity)
    }

    package mutating func append(_ bytes: [UInt8]) {
        let start = count
        memory.withUnsafeMutableBytes { memory in
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytes.count]).copyBytes(
                from: bytes)
        }
        count += bytes.count
    }

    package mutating func append(_ secret: borrowing SecretBytes) {
        let start = count
        secret.withUnsafeBytes { bytes in
            memory.withUnsafeMutableBytes { memory in
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytes.count])
                    .copyMemory(from: bytes)
            }
        }
        count += secret.count
    }

    package consuming func finished() -> SecretBytes { memory.prefix(count) }
}
