internal import SQLCipherBridge

// A statement may be older than the schema, where others have changed it, or the application keeps its statements. SQLite compiles it again
// in its first step: it may read and change other tables than before.

extension Database {
    /// Follows what statements do that SQLite compiles again in the middle of an execution, so that no change is missed in that execution.
    func followRecompilations() {
        authorizer.recompilation = { [unowned self] recompiled in
            switch recompiled {
            case .change(let kind):
                if !kind.tableName.isSQLiteInternalTableName { observationBroker.statementMayAlsoChange(kind) }
            case .read(let column, let table):
                if !table.isSQLiteInternalTableName { record(column, of: table) }
            }
        }
    }

    /// Adds a column to the region that is recorded, unless a statement of the recording was known to read it.
    private func record(_ column: String, of table: String) {
        guard recordedRegion != nil else { return }
        let region = column.isEmpty ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: [column])
        guard !recordedFacts.contains(where: { $0.union(region) == $0 }) else { return }
        recordedRegion?.formUnion(region)
    }
}

extension DatabaseObservationBroker {
    /// Listens also to changes that the statement that runs now was not known to make.
    func statementMayAlsoChange(_ kind: DatabaseEventKind) {
        guard isExecuting else { return }
        var kind = kind
        let index = audiences.firstIndex { $0.kind.isSameOperation(as: kind) }
        if let index {
            if case (.update(let table, let known), .update(_, let new)) = (audiences[index].kind, kind) {
                kind = .update(tableName: table, columnNames: known.union(new))
            }
            guard audiences[index].kind != kind else { return }
        }
        guard let audience = audience(of: kind, tellsAllRows: false) else { return }
        if let index { audiences[index] = audience } else { audiences.append(audience) }
        if !isListening { startListening() }
    }
}

extension DatabaseEventKind {
    fileprivate func isSameOperation(as other: DatabaseEventKind) -> Bool {
        guard CaseInsensitiveName(tableName) == CaseInsensitiveName(other.tableName) else { return false }
        return switch (self, other) {
        case (.insert, .insert), (.delete, .delete), (.update, .update): true
        default: false
        }
    }
}

extension Statement {
    /// Asks anew what the statement does, if SQLite has compiled it again since that was told.
    func updateFacts() {
        let preparation = handle.repreparationCount
        guard preparation != factsPreparation else { return }
        // What does not compile fails when it is executed.
        guard let current = try? database.makeStatement(sql: handle.sql) else { return }
        setFacts(current.facts, preparation: preparation)
    }
}
