/// The names of columns and tables that the library adds to the queries of prefetched rows.
///
/// They are GRDB's names, because stored snapshots and companion packages depend on them.
enum HelperName {
    /// Earlier versions of Coffer used the second prefix.
    private static let prefixes = ["grdb_", "coffer_"]

    static func make(_ name: String) -> String { prefixes[0] + name }

    /// Returns true if a column has the name of a helper of this version or an earlier one.
    static func isHelper(_ name: String) -> Bool { prefixes.contains { name.hasPrefix($0) } }
}
