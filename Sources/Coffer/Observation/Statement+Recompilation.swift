internal import SQLCipherBridge

extension Statement {
    /// Asks anew what the statement does, if SQLite has compiled it again since that was found out.
    ///
    /// - Throws: what a new compilation throws, as the execution would.
    func updateFacts() throws {
        let preparation = handle.repreparationCount
        guard preparation != factsPreparation else { return }
        setFacts(try database.makeStatement(sql: handle.sql).facts, preparation: preparation)
    }

    /// Whether an event reports each row that the statement changes in such a way.
    ///
    /// There is none for the rows that `REPLACE` deletes, and an update of the row ID itself reports the new
    /// one only.
    func tellsAllRows(ofChanges kind: DatabaseEventKind) -> Bool {
        do {
            switch kind {
            case .delete: return true
            case .insert: return try !mayReplaceRows()
            case .update(let table, let columns):
                return try !mayReplaceRows() && !database.haveRowID(columns, of: table)
            }
        } catch {
            return false
        }
    }

    private func mayReplaceRows() throws -> Bool {
        try mentionsReplace || database.schemaMentionsReplace()
    }
}
