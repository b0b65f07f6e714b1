internal import SQLCipherBridge

extension Database {
    /// Rolls back the transaction if a statement failed with a type error in a `STRICT` table, on an engine
    /// with ``EngineFault/typeErrors``: the rows before the failed one may have been changed, and entries of
    /// indexes may be missing. Outside of a transaction, SQLite rolls back everything itself.
    func rollBackIfHalfDone(_ statement: Statement, after error: DatabaseError) {
        guard error.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE, EngineMend.typeErrors.isOn,
            isInsideTransaction, !statement.insertsOnlyOneRow
        else { return }
        transactions.uncancellably { try? rollback() }
    }
}

extension Statement {
    /// True if the statement certainly changes nothing before its only row is checked: an `INSERT` with the
    /// values of one row, without `REPLACE`, and without triggers that change rows.
    fileprivate var insertsOnlyOneRow: Bool {
        // A trigger may have been created since the statement was compiled.
        guard (try? updateFacts()) != nil,
            facts.eventKinds.count == 1, case .insert = facts.eventKinds[0], !facts.changesIndirectly,
            !mentionsReplace, (try? database.schemaMentionsReplace()) == false
        else { return false }
        var scanner = SQLScanner(Array(sql.utf8))
        var (depth, rowCount, hasValues) = (0, 0, false)
        while let token = scanner.next() {
            switch token.word {
            case "(" where token.kind == .other:
                if depth == 0, hasValues { rowCount += 1 }
                depth += 1
            case ")" where token.kind == .other: depth -= 1
            case "values" where token.kind == .word: hasValues = true
            case "select" where token.kind == .word, "conflict" where token.kind == .word: return false
            default: break
            }
        }
        return hasValues && rowCount == 1
    }
}
