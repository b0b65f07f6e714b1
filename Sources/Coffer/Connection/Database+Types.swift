public import Foundation

extension Database {
    /// Returns whether SQLite tries again (true), or gives up with `SQLITE_BUSY` (false). The argument counts
    /// the tries for one lock.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// What happens when another connection holds the lock that a statement needs.
    public enum BusyMode: Sendable {
        /// The statement fails at once with `SQLITE_BUSY`.
        case immediateError

        /// The statement fails with `SQLITE_BUSY` if the lock is not free after so many seconds.
        case timeout(TimeInterval)

        /// A function decides.
        case callback(BusyCallback)
    }

    /// How a WAL file is brought into the database file: see
    /// <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>.
    public enum CheckpointMode: CInt, Sendable {
        /// As many frames as possible, without waiting for readers or writers.
        case passive = 0

        /// All frames, waiting for writers and for readers of older states.
        case full = 1

        /// As `full`, and the next writer starts at the beginning of the WAL file.
        case restart = 2

        /// As `restart`, and the WAL file is truncated to nothing.
        case truncate = 3
    }

    /// How a transaction takes its locks: see <https://www.sqlite.org/lang_transaction.html>.
    public enum TransactionKind: String, Sendable {
        /// Locks are taken by the first statement that needs them.
        case deferred = "DEFERRED"

        /// The write lock is taken at once.
        case immediate = "IMMEDIATE"

        /// Other connections cannot even read, except in WAL mode.
        case exclusive = "EXCLUSIVE"
    }

    /// How a transaction ends.
    @frozen public enum TransactionCompletion: Hashable, Sendable {
        case commit
        /// The changes are taken back.
        case rollback
    }

    /// What SQLite does with a row that violates a constraint: see
    /// <https://www.sqlite.org/lang_conflict.html>.
    public enum ConflictResolution: String, Sendable {
        /// The statement fails, and its transaction is rolled back.
        case rollback = "ROLLBACK"
        /// The statement fails, and what it has changed is taken back. What SQLite does by default.
        case abort = "ABORT"
        /// The statement fails, and the rows that it has changed before stay changed.
        case fail = "FAIL"
        /// The row is left out, and the statement goes on.
        case ignore = "IGNORE"
        /// The rows that are in the way are deleted first.
        case replace = "REPLACE"
    }

    /// What happens to a row whose parent row is deleted or changed: see
    /// <https://www.sqlite.org/foreignkeys.html>.
    public enum ForeignKeyAction: String, Sendable {
        /// It is deleted or changed as well.
        case cascade = "CASCADE"
        /// The statement fails.
        case restrict = "RESTRICT"
        /// Its foreign key becomes NULL.
        case setNull = "SET NULL"
        /// Its foreign key gets the default of its column.
        case setDefault = "SET DEFAULT"
    }

    /// The collations of SQLite, and those of the application by name.
    public struct CollationName: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Names a collation of the application.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Byte by byte. The collation of columns that have no other.
        public static let binary = CollationName("BINARY")
        /// Without regard to the case of the letters A to Z.
        public static let nocase = CollationName("NOCASE")
        /// Without regard to spaces at the end.
        public static let rtrim = CollationName("RTRIM")
    }

    /// The type of a column in its declaration.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Names a type in the words of SQLite.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Text.
        public static let text = ColumnType("TEXT")
        /// Text that is JSON.
        public static let jsonText = ColumnType("TEXT")
        /// JSON in the binary form of SQLite.
        public static let jsonb = ColumnType("BLOB")
        /// A whole number of up to 64 bits.
        public static let integer = ColumnType("INTEGER")
        /// A number with a fraction, of 64 bits.
        public static let double = ColumnType("DOUBLE")
        /// The same as ``double``, and the word that strict tables take.
        public static let real = ColumnType("REAL")
        /// A number, whole where it can be.
        public static let numeric = ColumnType("NUMERIC")
        /// 0 or 1.
        public static let boolean = ColumnType("BOOLEAN")
        /// Bytes.
        public static let blob = ColumnType("BLOB")
        /// A day, as text such as `2026-03-01`.
        public static let date = ColumnType("DATE")
        /// A point in time, as text in UTC such as `2026-03-01 09:30:00.000`.
        public static let datetime = ColumnType("DATETIME")
        /// Any value, unchanged. For strict tables.
        public static let any = ColumnType("ANY")
    }

    /// What a value is converted to by `cast(_:as:)`: see <https://www.sqlite.org/datatype3.html>.
    public struct StorageClass: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Names a type in the words of SQLite.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// A whole number of up to 64 bits.
        public static let integer = StorageClass("INTEGER")
        /// A number with a fraction, of 64 bits.
        public static let real = StorageClass("REAL")
        /// Text.
        public static let text = StorageClass("TEXT")
        /// Bytes.
        public static let blob = StorageClass("BLOB")
        /// A whole number where nothing is lost by that, or else one with a fraction.
        public static let numeric = StorageClass("NUMERIC")
    }

    /// The role of a connection in its queue or pool.
    enum Purpose: Sendable {
        case writer
        case reader
    }
}
