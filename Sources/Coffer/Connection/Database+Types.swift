extension Database {
    /// SQLite's reaction to a row that violates a constraint: see
    /// <https://www.sqlite.org/lang_conflict.html>.
    public enum ConflictResolution: String, Sendable {
        /// The statement fails, and its transaction is rolled back.
        case rollback = "ROLLBACK"
        /// The statement fails, and its changes are undone. SQLite's default.
        case abort = "ABORT"
        /// The statement fails, but its previous changes to other rows stay.
        case fail = "FAIL"
        /// The row is skipped, and the statement continues.
        case ignore = "IGNORE"
        /// The conflicting rows are deleted first.
        case replace = "REPLACE"
    }

    /// The effect on a row when its parent row is deleted or changed: see
    /// <https://www.sqlite.org/foreignkeys.html>.
    public enum ForeignKeyAction: String, Sendable {
        /// The row is deleted or changed as well.
        case cascade = "CASCADE"
        /// The statement fails.
        case restrict = "RESTRICT"
        /// The foreign key becomes NULL.
        case setNull = "SET NULL"
        /// The foreign key becomes the default of its column.
        case setDefault = "SET DEFAULT"
    }

    /// The name of a collation of SQLite or of the application.
    public struct CollationName: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates the name of a collation of the application.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Compares byte by byte. The default collation of columns.
        public static let binary = CollationName("BINARY")
        /// Ignores the case of the letters A to Z.
        public static let nocase = CollationName("NOCASE")
        /// Ignores trailing spaces.
        public static let rtrim = CollationName("RTRIM")
    }

    /// The declared type of a column.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a type from its name in SQL.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Text.
        public static let text = ColumnType("TEXT")
        /// Text that is JSON.
        public static let jsonText = ColumnType("TEXT")
        /// JSON in SQLite's binary format.
        public static let jsonb = ColumnType("BLOB")
        /// An integer of up to 64 bits.
        public static let integer = ColumnType("INTEGER")
        /// A floating-point number of 64 bits.
        public static let double = ColumnType("DOUBLE")
        /// The same as ``double``, by the name that strict tables require.
        public static let real = ColumnType("REAL")
        /// A number, stored as an integer if possible.
        public static let numeric = ColumnType("NUMERIC")
        /// 0 or 1.
        public static let boolean = ColumnType("BOOLEAN")
        /// Bytes.
        public static let blob = ColumnType("BLOB")
        /// A day, as text such as `2026-03-01`.
        public static let date = ColumnType("DATE")
        /// A point in time, as text in UTC such as `2026-03-01 09:30:00.000`.
        public static let datetime = ColumnType("DATETIME")
        /// A value of any type, stored unchanged. For strict tables.
        public static let any = ColumnType("ANY")
    }

    /// The target type of `cast(_:as:)`: see <https://www.sqlite.org/datatype3.html>.
    public struct StorageClass: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a type from its name in SQL.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// An integer of up to 64 bits.
        public static let integer = StorageClass("INTEGER")
        /// A floating-point number of 64 bits.
        public static let real = StorageClass("REAL")
        /// Text.
        public static let text = StorageClass("TEXT")
        /// Bytes.
        public static let blob = StorageClass("BLOB")
        /// An integer if the conversion loses nothing, otherwise a floating-point number.
        public static let numeric = StorageClass("NUMERIC")
    }

    /// The role of a connection in its queue or pool.
    enum Purpose: Sendable {
        case writer
        case reader
    }
}
