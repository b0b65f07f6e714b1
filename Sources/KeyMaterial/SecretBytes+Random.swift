internal import Glibc

/// A failure of the system's source of randomness, with its `errno`.
package struct RandomnessFailure: Error, Hashable {
    package let errno: CInt
}

/// The kernel's random generator.
package enum SystemRandomness {
    /// Fills memory with random bytes. Waits until the generator has been seeded, if necessary.
    package static func fill(_ memory: UnsafeMutableRawBufferPointer) throws(RandomnessFailure) {
        var offset = 0
        while offset < memory.count {
            // getentropy returns at most 256 bytes per call, all or none.
            let count = min(256, memory.count - offset)
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + count])
            guard let base = part.baseAddress else { return }
            guard unsafe getentropy(base, count) == 0 else { throw RandomnessFailure(errno: errno) }
            offset += count
        }
    }

    /// Fills bytes that need no protection, such as initialization vectors.
    package static func fill(_ bytes: inout MutableSpan<UInt8>) throws(RandomnessFailure) {
        try unsafe bytes.withUnsafeMutableBytes { bytes throws(RandomnessFailure) in try unsafe fill(bytes) }
    }

    /// Returns random bytes that need no protection, such as a salt.
    package static func bytes(count: Int) throws(RandomnessFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var target = bytes.mutableSpan
        try fill(&target)
        return bytes
    }
}

extension SecretBytes {
    package static func random(count: Int) throws(RandomnessFailure) -> SecretBytes {
        var result = SecretBytes(count: count)
        try result.withUnsafeMutableBytes { bytes throws(RandomnessFailure) in
            try unsafe SystemRandomness.fill(bytes)
        }
        return result
    }
}
