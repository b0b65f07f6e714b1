/// An index of a table, as `PRAGMA index_list` describes it:
/// <https://www.sqlite.org/pragma.html#pragma_index_list>.
public struct IndexInfo: Sendable {
    /// Why an index exists.
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

    /// Whether two rows of the index cannot have the same values.
    public let isUnique: Bool

    /// Why the index exists.
    public let origin: Origin

    /// Whether the index has a `WHERE` clause, so that there can be rows that are not in it.
    let isPartial: Bool
}
