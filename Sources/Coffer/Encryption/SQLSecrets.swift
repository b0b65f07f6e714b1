/// For the tools of this package: whether SQL text has a key in it.
package enum SQLSecrets {
    /// Whether a statement sets or changes a key by its text, as `PRAGMA rekey` and `ATTACH ... KEY` do.
    package static func containsKey(_ sql: String) -> Bool { KeyRedaction.containsKey(sql) }
}
