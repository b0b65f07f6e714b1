internal import SQLCipherBridge

extension Statement {
    /// Updates the statement's facts if SQLite has compiled it again since they were collected.
    ///
    /// - Throws: the error of compiling the statement again, which its execution would throw too.
    func updateFacts() throws {
        let preparation = handle.repreparationCount
        guard preparation != factsPreparation else { return }
        setFacts(try database.makeStatement(sql: handle.sql).facts, preparation: preparation)
    }

    /// Returns true if each row that the statement changes in this way causes an event.
    ///
    /// Rows that `REPLACE` deletes cause none, and an update of the row ID itself reports only the new one.
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
