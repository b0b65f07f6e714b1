internal import SQLCipherBridge

extension DatabaseKeyring {
    /// The cost of trying one passphrase on a slot, both for its owner and for an attacker.
    ///
    /// A passphrase is stretched by scrypt with blocks of 1 KiB. The cost is stored in the slot when the slot
    /// is created, and stays until the slot gets another secret.
    ///
    /// ```swift
    /// // A device with little memory: at most 128 MiB, and no more than it can use in 0.6 seconds.
    /// let cost = DatabaseKeyring.PassphraseCost.measured(atLeast: .init(logarithm: 15))
    /// try keyring.make([.secret(.passphrase(passphrase, cost: cost))])
    /// ```
    public struct PassphraseCost: Sendable, Hashable {
        let stretching: PassphraseStretching.Cost

        init(_ stretching: PassphraseStretching.Cost) {
            self.stretching = stretching
        }

        /// Creates a cost of 2^`logarithm` steps, each of which reads and writes 1 KiB.
        ///
        /// Costs below ``standard`` are for devices with little memory, and for tests.
        ///
        /// - Parameter logarithm: from 10 (1 MiB) to 18 (256 MiB); other numbers are clamped.
        public init(logarithm: Int) {
            self.init(PassphraseStretching.Cost(logarithm: min(max(logarithm, 10), 18)))
        }

        /// 2^17 steps: 128 MiB of memory, and about half a second.
        public static let standard = PassphraseCost(.standard)

        /// Returns the highest cost, up to ``standard``, that takes at most 0.6 seconds of processor time on
        /// this machine.
        ///
        /// Only the calling thread's processor time counts, so a busy machine does not lower the cost.
        ///
        /// - Parameter least: the lowest cost that is returned. It is tried once, on the calling thread.
        public static func measured(atLeast least: PassphraseCost) -> PassphraseCost {
            PassphraseCost(PassphraseStretching.calibrated(from: least.stretching))
        }

        /// The binary logarithm of the number of steps.
        public var logarithm: Int { stretching.logarithm }

        /// The memory that each guess needs, in bytes.
        public var memory: Int { stretching.memory }

        /// True if a guess costs less than the standard cost. Setting the slot's passphrase again raises the
        /// cost.
        public var isBelowStandard: Bool { memory < PassphraseCost.standard.memory }
    }
}
