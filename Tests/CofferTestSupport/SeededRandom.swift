import Foundation

/// A random number generator that produces the same sequence for the same seed (SplitMix64).
///
/// Its initializer prints the seed. To repeat a run, set `COFFER_TEST_SEED` to that seed.
public struct SeededRandom: RandomNumberGenerator {
    public let seed: UInt64
    private var state: UInt64

    /// - Parameter purpose: a label that is printed with the seed, and that makes generators with the same
    ///   seed differ.
    public init(_ purpose: String) {
        let seed =
            ProcessInfo.processInfo.environment["COFFER_TEST_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0...(.max))
        print("random \(purpose): COFFER_TEST_SEED=\(seed)")
        self.init(seed: seed, purpose)
    }

    public init(seed: UInt64, _ purpose: String = "") {
        self.seed = seed
        // FNV-1a, because the values of Hasher differ between processes.
        state = purpose.utf8.reduce(seed ^ 0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count + 8)
        while result.count < count {
            let word = next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                result.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        result.removeLast(result.count - count)
        return result
    }
}
