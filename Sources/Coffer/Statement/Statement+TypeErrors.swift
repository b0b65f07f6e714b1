internal import SQLCipherBridge

extension Database {
    /// Rolls back the innermost savepoint, or the transaction if there is none, if a statement failed with a
    /// type error in a `STRICT` table, on an engine with ``EngineFault/typeErrors``: the rows before the
    /// failed one may have been changed, and entries of indexes may be missing. Outside of a transaction,
    /// SQLite rolls back everything itself.
    func rollBackIfHalfDone(_ statement: Statement, after error: DatabaseError) {
        guard error.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE, EngineMend.typeErrors.isOn,
            isInsideTransaction, !statement.insertsOnlyOneRow
        else { return }
        do {
            try undoSavepoint()
        } catch {
            transactions.uncancellably { try? rollback() }
        }
    }

    /// Rolls back the innermost savepoint.
    ///
    /// Every open savepoint is older than the statement that has just failed: SQLite opens none while a
    /// statement writes.
    private func undoSavepoint() throws {
        guard let savepoint = observerNotifier.innermostSavepoint else {
            throw DatabaseError(message: "no savepoint is open")
        }
        try withoutInterruption {
            try prepare("ROLLBACK TO \(savepoint.quotedDatabaseIdentifier)").execute()
        }
        transactions.savepointWasUndone()
    }

    /// Throws an error if a statement would continue in a savepoint that the library has rolled back, and
    /// whose earlier changes the program may rely on.
    func checkSavepoint(of statement: Statement) throws {
        guard isInsideTransaction, statement.facts.transactionStep?.isRollback != true else { return }
        throw statement.error(
            .SQLITE_ABORT, "Savepoint was rolled back. Continue with ROLLBACK TO or ROLLBACK.",
            statement.arguments, messageIsOurs: true)
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
