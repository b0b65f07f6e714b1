internal import SQLCipherBridge

// A statement may be older than the schema, where others have changed it, or the application keeps its statements. SQLite compiles it again
// in its first step: it may read and change other tables than before.

extension Database {
    /// Follows what statements do that SQLite compiles again in the middle of an execution, so that no change is missed in that execution.
    func followRecompilations() {
        authorizer.recompilation = { [unowned self] recompiled in
            switch recompiled {
            case .change(let kind):
                return !kind.tableName.isSQLiteInternalTableName && observationBroker.statementMayAlsoChange(kind)
            case .read(let column, let table):
                if !table.isSQLiteInternalTableName { record(column, of: table) }
                return false
            }
        }
    }

    /// Adds a column to the region that is recorded, unless the statement was known to read it. What is compiled again is in its first step, so
    /// that no other statement has begun since.
    private func record(_ column: String, of table: String) {
        guard recordedRegion != nil else { return }
        let region = column.isEmpty ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: [column])
        guard lastRecordedFacts.union(region) != lastRecordedFacts else { return }
        recordedRegion?.formUnion(region)
    }
}

extension DatabaseObservationBroker {
    /// Listens also to changes that the statement that runs now was not known to make. Returns whether anybody wants to hear of them.
    func statementMayAlsoChange(_ kind: DatabaseEventKind) -> Bool {
        guard isExecuting else { return false }
        var kind = kind
        let index = audiences.firstIndex { $0.kind.isSameOperation(as: kind) }
        if let index {
            if case (.update(let table, let known), .update(_, let new)) = (audiences[index].kind, kind) {
                kind = .update(tableName: table, columnNames: known.union(new))
            }
            guard audiences[index].kind != kind else { return true }
        }
        guard let audience = audience(of: kind, tellsAllRows: false) else { return false }
        if let index { audiences[index] = audience } else { audiences.append(audience) }
        if !isListening { startListening() }
        return true
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
    ///
    /// - Throws: what a new compilation throws, as the execution would.
    func updateFacts() throws {
        let preparation = handle.repreparationCount
        guard preparation != factsPreparation else { return }
        setFacts(try database.makeStatement(sql: handle.sql).facts, preparation: preparation)
    }
}
