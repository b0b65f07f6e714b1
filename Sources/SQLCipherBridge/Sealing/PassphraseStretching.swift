internal import CSQLCipher
internal import Glibc
package import KeyMaterial
internal import Synchronization

/// scrypt (RFC 7914) by libcrypto: a derivation that needs memory, so that many guesses at once are
/// expensive.
package enum PassphraseStretching {
    /// What a derivation costs: 2^`logarithm` steps, each of which reads and writes `128 * blockSize` bytes.
    package struct Cost: Sendable, Hashable {
        package var logarithm: Int
        package var blockSize: Int
        package var parallelism: Int

        package init(logarithm: Int, blockSize: Int = 8, parallelism: Int = 1) {
            self.logarithm = logarithm
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// What is made unless a program asks for another cost: 128 MiB.
        package static let standard = Cost(logarithm: 17)

        /// The costs that are ever tried, whatever a file asks for: up to 256 MiB, and twice the time of the
        /// standard cost.
        ///
        /// libcrypto refuses N of 2^(16 r) and more: with smaller blocks, N counts as damaged.
        package var isAcceptable: Bool {
            guard (10...20).contains(logarithm), (1...32).contains(blockSize), (1...4).contains(parallelism),
                logarithm < 16 * blockSize
            else { return false }
            return memory * parallelism <= 256 << 20
        }

        /// In bytes.
        package var memory: Int { 128 * blockSize << logarithm }
    }

    private static let derivations = Atomic<Int>(0)

    /// How many derivations this process has made. One costs about half a second; tests count them.
    package static var derivationCount: Int { derivations.load(ordering: .relaxed) }

    /// 32 bytes of a passphrase.
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
                    // The memory beside the large table is a few kilobytes for each of at most 4 threads.
                    UInt64(cost.memory) + 1 << 20, result.assumingMemoryBound(to: UInt8.self).baseAddress,
                    result.count) == 1
            }
        }
        guard isDerived else { throw CryptographyFailure(function: "EVP_PBE_scrypt") }
        return result
    }

    /// The highest cost, up to the standard one, whose derivation takes no more than a duration of the
    /// processor on this machine.
    ///
    /// The time is that of the thread: other threads and processes that keep the processors busy do not make
    /// the cost lower.
    ///
    /// - Parameter least: the lowest cost that is returned, also where it takes longer or cannot be measured.
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
