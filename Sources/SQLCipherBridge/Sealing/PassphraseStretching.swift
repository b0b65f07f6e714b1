internal import CSQLCipher
internal import Glibc
package import KeyMaterial
internal import Synchronization

/// scrypt (RFC 7914), implemented by libcrypto. The derivation needs much memory, so that many parallel
/// guesses are expensive.
package enum PassphraseStretching {
    /// The cost of a derivation: 2^`logarithm` steps, each of which reads and writes `128 * blockSize` bytes.
    package struct Cost: Sendable, Hashable {
        package var logarithm: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logarithm: Int, blockSize: Int = 8, parallelism: Int = 1) {
            self.logarithm = logarithm
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// The default cost, which uses 128 MiB.
        package static let standard = Cost(logarithm: 17)

        /// True if Coffer runs a derivation with this cost, which may come from a file: up to 256 MiB, and
        /// twice the time of the standard cost.
        ///
        /// libcrypto rejects an N of 2^(16 r) or more, so such a cost in a file counts as damage.
        package var isAcceptable: Bool {
            guard (10...20).contains(logarithm), (1...32).contains(blockSize), (1...4).contains(parallelism),
                logarithm < 16 * blockSize
            else { return false }
            return memory * parallelism <= 256 << 20
        }

        /// The memory of a derivation, in bytes.
        package var memory: Int { 128 * blockSize << logarithm }
    }

    private static let derivations = Atomic<Int>(0)

    /// The number of derivations that this process has performed, for tests. Each takes about half a second.
    package static var derivationCount: Int { derivations.load(ordering: .relaxed) }

    /// Derives 32 bytes from a passphrase.
    ///
    /// - Precondition: the cost is acceptable.
    package static func derive(
        _ passphrase: borrowing SecretBytes, salt: [UInt8], _ cost: Cost
    ) throws(CryptographyFailure) -> SecretBytes {
        precondition(cost.isAcceptable)
        derivations.add(1, ordering: .relaxed)
        var result = SecretBytes(count: 32)
        let isDerived = passphrase.withUnsafeBytes { passphrase in
            result.withUnsafeMutableBytes { result in
                unsafe EVP_PBE_scrypt(
                    passphrase.assumingMemoryBound(to: CChar.self).baseAddress, passphrase.count, salt,
                    salt.count,
                    UInt64(1) << UInt64(cost.logarithm), UInt64(cost.blockSize), UInt64(cost.parallelism),
                    // In addition to the large table, each of at most 4 threads needs a few kilobytes.
                    UInt64(cost.memory) + 1 << 20, result.address(), result.count) == 1
            }
        }
        guard isDerived else { throw CryptographyFailure(function: "EVP_PBE_scrypt") }
        return result
    }

    /// Returns the highest cost, up to the standard one, whose derivation takes at most the given processor
    /// time on this machine.
    ///
    /// It measures the time of the thread, so that other busy threads and processes do not lower the cost.
    ///
    /// - Parameter least: the lowest cost to return, even if it takes longer or cannot be measured.
    package static func calibrated(from least: Cost, to duration: Duration = .milliseconds(600)) -> Cost {
        let probe = SecretBytes(count: 8)
        let start = threadTime
        guard (try? derive(probe, salt: [UInt8](repeating: 0, count: 16), least)) != nil else { return least }
        var needed = threadTime - start
        var cost = least
        while cost.logarithm < Cost.standard.logarithm, needed * 2 <= duration {
            cost.logarithm += 1
            needed *= 2
        }
        return cost
    }

    private static var threadTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
