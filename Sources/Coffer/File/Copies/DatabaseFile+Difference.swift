internal import SQLCipherBridge

extension DatabaseFile {
    /// What two databases do not have in common.
    public struct Difference: Sendable, Hashable {
        /// Versions and the encoding, where they differ.
        public var settings: [SettingDifference] = []

        /// Tables, indexes, views and triggers that are not the same in both.
        public var schema: [SchemaDifference] = []

        /// All tables of both, also those without a difference.
        public var tables: [TableDifference] = []

        /// Whether both have the same schema, versions and rows.
        public var isEmpty: Bool {
            settings.isEmpty && schema.isEmpty && !tables.contains(where: \.isDifferent)
        }
    }

    /// A value that belongs to a database as a whole.
    public struct SettingDifference: Sendable, Hashable {
        /// Such as `user_version`.
        public var name: String
        /// The value in this database.
        public var before: String
        /// The value in the other one.
        public var after: String
    }

    /// A table, index, view or trigger that was made, dropped or changed.
    public struct SchemaDifference: Sendable, Hashable {
        /// As in `sqlite_master`: `table`, `index`, `view` or `trigger`.
        public var type: String
        public var name: String
        /// Its SQL, which is empty for the indexes that SQLite makes itself; nil where it is not there.
        public var before: String?
        /// The same in the other database.
        public var after: String?
    }

    /// How the rows of a table differ.
    public struct TableDifference: Sendable, Hashable {
        public var name: String
        /// How many rows there are; zero where there is no such table.
        public var rowCountBefore = 0
        /// The same in the other database.
        public var rowCountAfter = 0
        /// How many rows only the other database has.
        public var addedCount = 0
        /// How many rows only this database has.
        public var removedCount = 0
        /// How many rows both have, with other values.
        public var changedCount = 0
        /// False where it is known that rows differ, and not which: the tables have other columns, or rows
        /// without anything that distinguishes one from the other.
        public var isComparable = true

        /// Whether any row differs.
        public var isDifferent: Bool { !isComparable || addedCount + removedCount + changedCount > 0 }

        init(name: String) { self.name = name }
    }

    /// A row that differs.
    public struct RowDifference: Sendable, Hashable {
        /// In which way a row differs.
        public enum Change: String, Sendable, Hashable {
            /// The row is only in the other database, only in this one, or in both with other values.
            case added, removed, changed
        }

        /// The name of the table.
        public var table: String
        /// In which way the row differs.
        public var change: Change
        /// The columns, in front of them `rowid` where no column has it.
        public var columns: [String]
        /// The values as literals of SQL, each of which stands for one value only; nil where the row is not
        /// there.
        public var before: [String]?
        /// The same in the other database.
        public var after: [String]?
    }

    /// Finds out how another database differs from this one, by schema, table and row.
    ///
    /// Both may be in use: each is read in one transaction. Rows are the same row by their row ID, or by
    /// their primary key in tables without one. Values are compared byte for byte and with their types.
    /// However large the databases are, a few rows at a time are in memory.
    ///
    /// ```swift
    /// let backup = DatabaseFile(path: backupPath)
    /// let difference = try DatabaseFile(path: path).difference(from: backup, key: key)
    /// for table in difference.tables where table.isDifferent {
    ///     print(table.name, table.addedCount, table.removedCount)
    /// }
    /// ```
    /// - Parameters:
    ///   - old: the other database, which counts as the older one: rows that only this one has were added.
    ///   - key: the key of this file; nil for one without encryption.
    ///   - oldKey: the key of the other file; nil for that of this one.
    ///   - options: cipher settings of both files, functions, collations, and how long to wait for others.
    ///   - progress: called now and then; throws to end it.
    ///   - row: called for each row that differs, table by table.
    /// - Throws: a ``DatabaseFileError``, or what `row` throws.
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
