/// An index of a table, as `PRAGMA index_list` describes it:
/// <https://www.sqlite.org/pragma.html#pragma_index_list>.
public struct IndexInfo: Sendable {
    /// The origin of an index.
    public struct Origin: RawRepresentable, Equatable, DatabaseValueConvertible, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A `CREATE INDEX` statement.
        public static let createIndex = Origin(rawValue: "c")

        /// A `PRIMARY KEY` constraint.
        public static let primaryKeyConstraint = Origin(rawValue: "pk")

        /// A `UNIQUE` constraint.
        public static let uniqueConstraint = Origin(rawValue: "u")
    }

    /// The name of the index.
    public let name: String

    /// The indexed columns, in the order of the index.
    public let columns: [String]

    /// A Boolean value that indicates whether the index is unique.
    public let isUnique: Bool

    /// The statement or constraint that created the index.
    public let origin: Origin

    /// True if the index has a `WHERE` clause, so that it may not contain all rows.
    let isPartial: Bool
}
