// How operations and callbacks are nested. The operations themselves are closures, which keep what they fetch
// in variables of their callers: without a result of their own, nothing here is generic but the record, and
// the compiler makes plain code of it for each record type.

extension MutablePersistableRecord {
    /// Calls the callbacks of a save around `body`.
    @inlinable
    mutating func saveWithCallbacks(_ db: Database, _ body: (inout Self) throws -> PersistenceSuccess) throws
    {
        try willSave(db)
        var saved: PersistenceSuccess?
        // The callback gets the record as it is before the insertion, which may change it.
        let record = self
        try record.aroundSave(db) {
            let success = try body(&self)
            saved = success
            return success
        }
        guard let saved else { throw closureWasNotCalled("aroundSave(_:save:)") }
        didSave(saved)
    }

    /// Calls the callbacks of an insertion around `body`.
    @inlinable
    mutating func insertWithCallbacks(_ db: Database, _ body: (Self) throws -> InsertionSuccess) throws
        -> PersistenceSuccess
    {
        try willInsert(db)
        var inserted: InsertionSuccess?
        try aroundInsert(db) {
            let success = try body(self)
            inserted = success
            return success
        }
        guard let inserted else { throw closureWasNotCalled("aroundInsert(_:insert:)") }
        didInsert(inserted)
        return PersistenceSuccess(inserted)
    }

    /// Calls the callbacks of an update around `body`.
    @inlinable
    func updateWithCallbacks(
        _ db: Database, columns: Set<String>, _ body: () throws -> PersistenceSuccess
    ) throws -> PersistenceSuccess {
        try willUpdate(db, columns: columns)
        var updated: PersistenceSuccess?
        try aroundUpdate(db, columns: columns) {
            let success = try body()
            updated = success
            return success
        }
        guard let updated else { throw closureWasNotCalled("aroundUpdate(_:columns:update:)") }
        didUpdate(updated)
        return updated
    }

    /// Calls the callbacks of a deletion around `body`.
    @inlinable
    func deleteWithCallbacks(_ db: Database, _ body: () throws -> Bool) throws -> Bool {
        try willDelete(db)
        var deleted: Bool?
        try aroundDelete(db) {
            let outcome = try body()
            deleted = outcome
            return outcome
        }
        guard let deleted else { throw closureWasNotCalled("aroundDelete(_:delete:)") }
        didDelete(deleted: deleted)
        return deleted
    }

    /// Calls the callbacks of a save of a record that does not change by it.
    @inlinable
    func saveWithCallbacks(_ db: Database, _ body: () throws -> PersistenceSuccess) throws {
        try willSave(db)
        var saved: PersistenceSuccess?
        try aroundSave(db) {
            let success = try body()
            saved = success
            return success
        }
        guard let saved else { throw closureWasNotCalled("aroundSave(_:save:)") }
        didSave(saved)
    }

    /// What `body` puts into its argument before it returns.
    func withResult<T>(_ body: (inout T?) throws -> Void) throws -> T {
        var result: T?
        try body(&result)
        guard let result else { fatalError("An operation of a record has ended without a result.") }
        return result
    }

    /// The error of a callback that has returned, and neither called its closure with success nor thrown an
    /// error.
    @usableFromInline
    func closureWasNotCalled(_ callback: String) -> any Error {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(type(of: self)).\(callback) must call its closure, and throw the error that the closure "
                + "throws."
        )
    }
}

extension PersistableRecord {
    /// Calls the callbacks of an insertion of a record that does not change by it.
    @inlinable
    func insertWithCallbacks(_ db: Database, _ body: () throws -> InsertionSuccess) throws
        -> PersistenceSuccess
    {
        try willInsert(db)
        var inserted: InsertionSuccess?
        try aroundInsert(db) {
            let success = try body()
            inserted = success
            return success
        }
        guard let inserted else { throw closureWasNotCalled("aroundInsert(_:insert:)") }
        didInsert(inserted)
        return PersistenceSuccess(inserted)
    }
}
