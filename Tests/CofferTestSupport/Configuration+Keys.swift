public import Coffer

extension Configuration {
    /// A configuration with a raw key, which needs no key derivation.
    public static var rawKeyed: Configuration { rawKeyed(0x42) }

    /// Returns a configuration with a raw key of 32 equal bytes.
    public static func rawKeyed(_ byte: UInt8) -> Configuration {
        var configuration = Configuration()
        configuration.key = .rawKey([UInt8](repeating: byte, count: 32))
        return configuration
    }

    /// Returns a configuration with a passphrase. Opening a queue or pool with it takes about a tenth of a
    /// second.
    public static func passphrase(_ passphrase: String = "a passphrase for tests") -> Configuration {
        var configuration = Configuration()
        configuration.key = .passphrase(passphrase)
        return configuration
    }

    /// Returns a copy of the configuration with changes.
    public func with(_ change: (inout Configuration) -> Void) -> Configuration {
        var result = self
        change(&result)
        return result
    }
}
