internal import CSQLCipher

/// Facts about the linked engine.
package enum Engine {
    package static var sqliteVersionNumber: CInt { sqlite3_libversion_number() }
    package static var compiledSQLiteVersionNumber: CInt { coffer_compiled_sqlite_version() }

    /// The size of the largest file of which `PRAGMA cipher_integrity_check` is right, in bytes; nil for any.
    ///
    /// Before SQLCipher 4.17 the engine computes where a page is with 32 bits, and finds each page behind
    /// four gigabytes damaged: <https://github.com/sqlcipher/sqlcipher/issues/604>.
    package static var largestCheckedFile: Int64? { sqliteVersionNumber < 3_053_003 ? Int64(1) << 32 : nil }

    /// Whether the engine was built with a compile-time option, named without its `SQLITE_` prefix.
    package static func hasCompileOption(_ name: String) -> Bool {
        unsafe sqlite3_compileoption_used(name) != 0
    }

    /// The day of the release of SQLite that the engine was made of, as in 2024-08-13: the first ten
    /// characters of its source identifier.
    package static var releaseDay: String { unsafe String(String(cString: sqlite3_sourceid()).prefix(10)) }

    /// How `Scripts/build-engine` has built the engine; nil for the engine of a distribution.
    package static var ownDescription: String? {
        guard let description = unsafe coffer_own_engine() else { return nil }
        return unsafe String(cString: description)
    }

    /// Whether the engine reports rows before they change (``PreUpdateHook``).
    package static let hasPreUpdateHook = coffer_has_preupdate_hook() != 0

    /// Whether several connections can be given one state of a database (``SnapshotHandle``).
    package static let hasSnapshots = coffer_has_snapshots() != 0

    /// Whether a word means something in SQL, so that it is a name in quotes only.
    package static func isKeyword(_ word: String) -> Bool {
        unsafe sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0
    }
}
