internal import CSQLCipher

/// Facts about the linked engine.
package enum Engine {
    package static var sqliteVersionNumber: CInt { sqlite3_libversion_number() }
    package static var compiledSQLiteVersionNumber: CInt { coffer_compiled_sqlite_version() }

    /// The size in bytes of the largest file for which `PRAGMA cipher_integrity_check` is reliable; nil if
    /// there is no limit.
    ///
    /// Before SQLCipher 4.17, the engine computes file offsets with 32 bits, and reports every page after the
    /// first four gigabytes as damaged: <https://github.com/sqlcipher/sqlcipher/issues/604>.
    package static var largestCheckedFile: Int64? { sqliteVersionNumber < 3_053_003 ? Int64(1) << 32 : nil }

    /// Returns true if the engine was built with a compile-time option, named without its `SQLITE_` prefix.
    package static func hasCompileOption(_ name: String) -> Bool {
        unsafe sqlite3_compileoption_used(name) != 0
    }

    /// The release date of the SQLite version in the engine, as in 2024-08-13: the first ten characters of
    /// its source identifier.
    package static var releaseDay: String { unsafe String(String(cString: sqlite3_sourceid()).prefix(10)) }

    /// The description that `Scripts/build-engine` has built into the engine; nil for the engine of a
    /// distribution.
    package static var ownDescription: String? {
        guard let description = unsafe coffer_own_engine() else { return nil }
        return unsafe String(cString: description)
    }

    /// True if the engine reports rows before they change (``PreUpdateHook``).
    package static let hasPreUpdateHook = coffer_has_preupdate_hook() != 0

    /// True if several connections can be moved to the same state of a database (``SnapshotHandle``).
    package static let hasSnapshots = coffer_has_snapshots() != 0

    /// Returns true if a word is an SQL keyword, which must be quoted to be used as a name.
    package static func isKeyword(_ word: String) -> Bool {
        unsafe sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0
    }
}
