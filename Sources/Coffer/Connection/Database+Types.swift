public import Foundation

extension Database {
    /// Tells SQLite to try again (true) or to give up with `SQLITE_BUSY` (false). The argument counts the tries for one lock.
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

    /// How a WAL file is brought into the database file: see <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>.
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
        case rollback
    }

    /// What SQLite does with a row that violates a constraint: see <https://www.sqlite.org/lang_conflict.html>.
    public enum ConflictResolution: String, Sendable {
        case rollback = "ROLLBACK"
        case abort = "ABORT"
        case fail = "FAIL"
        case ignore = "IGNORE"
        case replace = "REPLACE"
    }

    /// What happens to a row whose parent row is deleted or changed: see <https://www.sqlite.org/foreignkeys.html>.
    public enum ForeignKeyAction: String, Sendable {
        case cascade = "CASCADE"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
    }

    /// The collations of SQLite, and those of the application by name.
    public struct CollationName: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }

        public static let binary = CollationName("BINARY")
        public static let nocase = CollationName("NOCASE")
        public static let rtrim = CollationName("RTRIM")
    }

    /// The type of a column in its declaration.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }

        public static let text = ColumnType("TEXT")
        public static let jsonText = ColumnType("TEXT")
        public static let jsonb = ColumnType("BLOB")
        public static let integer = ColumnType("INTEGER")
        public static let double = ColumnType("DOUBLE")
        public static let real = ColumnType("REAL")
        public static let numeric = ColumnType("NUMERIC")
        public static let boolean = ColumnType("BOOLEAN")
        public static let blob = ColumnType("BLOB")
        public static let date = ColumnType("DATE")
        public static let datetime = ColumnType("DATETIME")
        public static let any = ColumnType("ANY")
    }

    /// What a value is converted to by ``cast(_:as:)``: see <https://www.sqlite.org/datatype3.html>.
    public struct StorageClass: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }

        public static let integer = StorageClass("INTEGER")
        public static let real = StorageClass("REAL")
        public static let text = StorageClass("TEXT")
        public static let blob = StorageClass("BLOB")
        public static let numeric = StorageClass("NUMERIC")
    }

    /// The role of a connection in its queue or pool.
    enum Purpose: Sendable {
        case writer
        case reader
    }
}
