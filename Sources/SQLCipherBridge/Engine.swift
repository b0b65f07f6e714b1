internal import CSQLCipher

/// Facts about the linked engine.
package enum Engine {
    package static var sqliteVersionNumber: CInt { sqlite3_libversion_number() }
    package static var compiledSQLiteVersionNumber: CInt { coffer_compiled_sqlite_version() }

    /// Whether the engine was built with a compile-time option, named without its `SQLITE_` prefix.
    package static func hasCompileOption(_ name: String) -> Bool { unsafe sqlite3_compileoption_used(name) != 0 }

    /// Whether a word means something in SQL, so that it is a name in quotes only.
    package static func isKeyword(_ word: String) -> Bool { unsafe sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0 }
}
