/// Detects keys in SQL text, for the tools of this package.
package enum SQLSecrets {
    /// Returns true if a statement sets or changes a key in its text, as `PRAGMA rekey` and `ATTACH ... KEY`
    /// do.
    package static func containsKey(_ sql: String) -> Bool { KeyRedaction.containsKey(sql) }
}
