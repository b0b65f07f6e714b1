// How operations and callbacks are nested. The operations themselves are closures: plain, or such that return rows.

extension MutablePersistableRecord {
    /// Calls the callbacks of a save around `body`.
    mutating func saveWithCallbacks<T>(
        _ db: Database, _ body: (inout Self) throws -> (success: PersistenceSuccess, result: T)
    ) throws -> T {
        try willSave(db)
        var saved: (success: PersistenceSuccess, result: T)?
        // The callback gets the record as it is before the insertion, which may change it.
        let record = self
        try record.aroundSave(db) {
            let outcome = try body(&self)
            saved = outcome
            return outcome.success
        }
        guard let saved else { fatalError("\(type(of: self)).aroundSave(_:save:) must call its closure, or throw an error.") }
        didSave(saved.success)
        return saved.result
    }

    /// Calls the callbacks of an insertion around `body`.
    mutating func insertWithCallbacks<T>(
        _ db: Database, _ body: (Self) throws -> (success: InsertionSuccess, result: T)
    ) throws -> (success: InsertionSuccess, result: T) {
        try willInsert(db)
        var inserted: (success: InsertionSuccess, result: T)?
        try aroundInsert(db) {
            let outcome = try body(self)
            inserted = outcome
            return outcome.success
        }
        guard let inserted else { fatalError("\(type(of: self)).aroundInsert(_:insert:) must call its closure, or throw an error.") }
        didInsert(inserted.success)
        return inserted
    }

    /// Calls the callbacks of an update around `body`.
    func updateWithCallbacks<T>(
        _ db: Database, columns: Set<String>, _ body: () throws -> (success: PersistenceSuccess, result: T)
    ) throws -> (success: PersistenceSuccess, result: T) {
        try willUpdate(db, columns: columns)
        var updated: (success: PersistenceSuccess, result: T)?
        try aroundUpdate(db, columns: columns) {
            let outcome = try body()
            updated = outcome
            return outcome.success
        }
        guard let updated else { fatalError("\(type(of: self)).aroundUpdate(_:columns:update:) must call its closure, or throw an error.") }
        didUpdate(updated.success)
        return updated
    }

    /// Calls the callbacks of a deletion around `body`.
    func deleteWithCallbacks(_ db: Database, _ body: () throws -> Bool) throws -> Bool {
        try willDelete(db)
        var deleted: Bool?
        try aroundDelete(db) {
            let outcome = try body()
            deleted = outcome
            return outcome
        }
        guard let deleted else { fatalError("\(type(of: self)).aroundDelete(_:delete:) must call its closure, or throw an error.") }
        didDelete(deleted: deleted)
        return deleted
    }
}
