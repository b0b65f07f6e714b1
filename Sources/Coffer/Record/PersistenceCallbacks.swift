// The nesting of operations and callbacks. The operations are closures that store fetched results in
// variables of their callers. Because they have no result of their own, everything here is generic over the
// record only, and the compiler generates specialized code for each record type.

extension MutablePersistableRecord {
    /// Calls the callbacks of a save around `body`.
    @inlinable
    mutating func saveWithCallbacks(_ db: Database, _ body: (inout Self) throws -> PersistenceSuccess) throws
    {
        try willSave(db)
        var saved: PersistenceSuccess?
        // The callback receives the record in its state before the insertion, which may change it.
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

    /// Calls the callbacks of a save around `body`, for a record that the save does not change.
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

    /// Returns the value that `body` stores in its argument.
    func withResult<T>(_ body: (inout T?) throws -> Void) throws -> T {
        var result: T?
        try body(&result)
        guard let result else { fatalError("A record operation ended without a result.") }
        return result
    }

    /// Returns the error for a callback that has returned without an error, although its closure has not
    /// succeeded or was not called.
    @usableFromInline
    func closureWasNotCalled(_ callback: String) -> any Error {
        DatabaseError.misuse(
            "\(type(of: self)).\(callback) must call its closure, and rethrow the error of the closure.")
    }
}

extension PersistableRecord {
    /// Calls the callbacks of an insertion around `body`, for a record that the insertion does not change.
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
