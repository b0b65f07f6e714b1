extension DatabaseFile {
    /// The differences between an older database and this one.
    public struct Difference: Sendable, Hashable {
        /// Version numbers and the encoding, if they differ.
        public var settings: [SettingDifference] = []

        /// Tables, indexes, views, and triggers that are not the same in both.
        public var schema: [SchemaDifference] = []

        /// All tables of both databases, including those without a difference.
        public var tables: [TableDifference] = []

        /// True if both have the same schema, version numbers, encoding, and rows.
        public var isEmpty: Bool {
            settings.isEmpty && schema.isEmpty && !tables.contains(where: \.isDifferent)
        }
    }

    /// A value that belongs to a database as a whole, and differs.
    public struct SettingDifference: Sendable, Hashable {
        /// The name, such as `user_version`.
        public var name: String
        /// The value in the older database.
        public var before: String
        /// The value in this database.
        public var after: String
    }

    /// A table, index, view, or trigger that was created, dropped, or changed.
    public struct SchemaDifference: Sendable, Hashable {
        /// The type as in `sqlite_master`: `table`, `index`, `view`, or `trigger`.
        public var type: String
        public var name: String
        /// Its SQL in the older database, which is empty for the indexes that SQLite creates itself; nil if
        /// it does not exist there.
        public var before: String?
        /// Its SQL in this database.
        public var after: String?
    }

    /// The differences between the rows of a table.
    public struct TableDifference: Sendable, Hashable {
        public var name: String
        /// The number of rows in the older database; zero if it does not have the table.
        public var rowCountBefore = 0
        /// The number of rows in this database.
        public var rowCountAfter = 0
        /// The number of rows that only this database has.
        public var addedCount = 0
        /// The number of rows that only the older database has.
        public var removedCount = 0
        /// The number of rows that both have, with different values.
        public var changedCount = 0
        /// False if rows differ but it is not known which: the tables have different columns, or rows without
        /// an identity.
        public var isComparable = true

        /// True if any row differs.
        public var isDifferent: Bool { !isComparable || addedCount + removedCount + changedCount > 0 }
    }

    /// A row that differs.
    public struct RowDifference: Sendable, Hashable {
        /// The kind of a row's difference.
        public enum Change: String, Sendable, Hashable {
            /// The row is only in this database, only in the older one, or in both with different values.
            case added, removed, changed
        }

        /// The name of the table.
        public var table: String
        /// The kind of the difference.
        public var change: Change
        /// The names of the columns, preceded by `rowid` if none of them holds the row ID.
        public var columns: [String]
        /// The values in the older database as SQL literals, each of which stands for one value only; nil if
        /// the row does not exist there.
        public var before: [String]?
        /// The values in this database.
        public var after: [String]?
    }

    /// Compares this database with an older one, by schema, table, and row.
    ///
    /// Both may be in use: each is read in one transaction. Rows are identified by their row ID, or by their
    /// primary key in tables without one. Values are compared byte for byte and with their types. Only a few
    /// rows are in memory at a time, however large the databases are.
    ///
    /// ```swift
    /// let backup = DatabaseFile(path: backupPath)
    /// let difference = try DatabaseFile(path: path).difference(from: backup, key: key)
    /// for table in difference.tables where table.isDifferent {
    ///     print(table.name, table.addedCount, table.removedCount)
    /// }
    /// ```
    /// - Parameters:
    ///   - old: the older database: rows that only this database has count as added.
    ///   - key: the key of this file; nil if it is not encrypted.
    ///   - oldKey: the key of the older file; nil for the same key.
    ///   - options: the cipher settings of both files, functions, collations, and the time to wait for locks.
    ///   - progress: called regularly; throws to end the comparison.
    ///   - row: called for each row that differs, table by table.
    /// - Throws: a ``DatabaseFileError``, or an error of `row`.
    public func difference(
        from old: DatabaseFile, key: DatabaseKey?, oldKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil, row: ((RowDifference) throws -> Void)? = nil
    ) throws -> Difference {
        try FileConversion.comparing(old.path, oldKey ?? key, path, key, options) { before, after in
            let report = ProgressReport(progress)
            return try ContentDifference(
                old: before, new: after, checkpoint: { try report(.verifying, 0, of: 0) }, row: row
            ).run()
        }
    }
}
