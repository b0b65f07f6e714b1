internal import SQLCipherBridge

extension DatabaseKeyring {
    /// The cost of trying one passphrase on a slot, for its owner and for everyone who guesses.
    ///
    /// A passphrase is stretched by scrypt with blocks of 1 KiB. The cost is stored in the slot when the slot
    /// is made, and stays until the slot gets another secret.
    ///
    /// ```swift
    /// // A device with little memory: up to 128 MiB, as much as 0.6 seconds of its processor are enough for.
    /// let cost = DatabaseKeyring.PassphraseCost.measured(atLeast: .init(logarithm: 15))
    /// try keyring.make([.secret(.passphrase(passphrase, cost: cost))])
    /// ```
    public struct PassphraseCost: Sendable, Hashable {
        let stretching: PassphraseStretching.Cost

        init(_ stretching: PassphraseStretching.Cost) {
            self.stretching = stretching
        }

        /// A cost of 2^`logarithm` steps, each of which reads and writes 1 KiB.
        ///
        /// Less than ``standard`` is for devices with little memory, and for tests.
        ///
        /// - Parameter logarithm: from 10 (1 MiB) to 18 (256 MiB); the nearest of both for other numbers.
        public init(logarithm: Int) {
            self.init(PassphraseStretching.Cost(logarithm: min(max(logarithm, 10), 18)))
        }

        /// 2^17 steps: 128 MiB of memory, and about half a second.
        public static let standard = PassphraseCost(.standard)

        /// The highest cost, up to ``standard``, that takes this machine no more than 0.6 seconds of
        /// processor time.
        ///
        /// The time of the calling thread counts: a busy machine does not make the cost lower.
        ///
        /// - Parameter least: the lowest cost that is returned. It is tried once, on the calling thread.
        public static func measured(atLeast least: PassphraseCost) -> PassphraseCost {
            PassphraseCost(PassphraseStretching.calibrated(from: least.stretching))
        }

        /// The binary logarithm of the number of steps.
        public var logarithm: Int { stretching.logarithm }

        /// The memory that each guess needs, in bytes.
        public var memory: Int { stretching.memory }

        /// True if a guess costs less than the standard cost: give the slot its passphrase anew.
        public var isBelowStandard: Bool { memory < PassphraseCost.standard.memory }
    }
}
