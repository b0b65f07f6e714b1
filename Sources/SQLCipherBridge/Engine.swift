internal import CSQLCipher

/// Facts about the linked engine.
package enum Engine {
    package static var sqliteVersionNumber: CInt { sqlite3_libversion_number() }
    package static var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }
    package static var compiledSQLiteVersionNumber: CInt { coffer_compiled_sqlite_version() }

    /// Whether the engine was built with a compile-time option, named without its `SQLITE_` prefix.
    package static func hasCompileOption(_ name: String) -> Bool { unsafe sqlite3_compileoption_used(name) != 0 }

    /// Whether a word means something in SQL, so that it is a name in quotes only.
    package static func isKeyword(_ word: String) -> Bool { unsafe sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0 }

    /// SQLite's own judgement of whether `sql` ends with a complete statement.
    package static func isComplete(_ sql: String) -> Bool { unsafe sqlite3_complete(sql) != 0 }

    /// Frees `count` bytes of heap that caches hold, in the whole process.
    @discardableResult
    package static func releaseMemory(_ count: CInt) -> CInt { sqlite3_release_memory(count) }
}
