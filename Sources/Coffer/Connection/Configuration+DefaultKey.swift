internal import Synchronization

extension Configuration {
    /// The key of database files whose configuration has none; nil unless ``setDefaultKey(_:)`` has set it.
    public static var defaultKey: DatabaseKey? {
        DefaultKey.state.withLock { state in
            if case .set(let key) = state { key } else { nil }
        }
    }

    /// Sets the key of all database files that this process opens with a configuration without a key.
    ///
    /// Use it in a program whose databases are opened by code without keys, such as a package for GRDB. Call
    /// it once, before the first file is opened. ``DatabaseKey/provider(_:)`` asks a closure when the key is
    /// needed.
    ///
    ///     try Configuration.setDefaultKey(.passphrase("by default"))
    ///
    /// A key in the configuration, a passphrase that its preparation uses, and ``allowsPlaintext`` take
    /// precedence over the default key. Databases in memory do not use it. The functions of ``DatabaseFile``
    /// do not use it either: they take keys as parameters.
    ///
    /// Can be called on any thread.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if the default key is set already, or if a file was
    ///   rejected before because it had no key.
    public static func setDefaultKey(_ key: DatabaseKey) throws {
        let problem: String? = DefaultKey.state.withLock { state in
            switch state {
            case .unset:
                state = .set(key)
                return nil
            case .missed:
                return
                    "The default key is set too late: a file was already opened without a key. Set it at the "
                    + "start of the program."
            case .set: return "The default key is already set. Set it once, at the start of the program."
            }
        }
        if let problem { throw DatabaseError.misuse(problem) }
    }

    /// Returns the default key for a file that is about to be opened. The default key can no longer be set
    /// afterwards.
    func defaultKeyOfFile() -> DatabaseKey? {
        guard !allowsPlaintext else { return nil }
        return DefaultKey.state.withLock { state in
            switch state {
            case .set(let key): return key
            case .unset, .missed:
                state = .missed
                return nil
            }
        }
    }
}

/// The default key of the process.
private enum DefaultKey {
    case unset
    /// A file that would have needed the default key was opened before it was set.
    case missed
    case set(DatabaseKey)

    static let state = Mutex(DefaultKey.unset)
}
