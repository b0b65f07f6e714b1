// Functions and collations for all connections of a reader: those that are open, and those that it opens
// later.
//
// `Configuration.prepareDatabase(_:)` with the methods of `Database` is the better way, as nothing is opened
// without them then.

extension DatabaseQueue {
    public func add(function: DatabaseFunction) { connection.reentrantSync { $0.add(function: function) } }
    public func remove(function: DatabaseFunction) {
        connection.reentrantSync { $0.remove(function: function) }
    }
    public func add(collation: DatabaseCollation) {
        connection.reentrantSync { $0.add(collation: collation) }
    }
    public func remove(collation: DatabaseCollation) {
        connection.reentrantSync { $0.remove(collation: collation) }
    }
}

extension DatabasePool {
    /// Adds an SQL function to the connections, in place of one with the same name and number of arguments.
    ///
    /// It waits for the writer. Reads that are running do not see it; those that begin later do.
    public func add(function: DatabaseFunction) {
        prepareConnections(.function(function.id)) { $0.add(function: function) }
    }
    public func remove(function: DatabaseFunction) {
        prepareConnections(.function(function.id)) { $0.remove(function: function) }
    }
    public func add(collation: DatabaseCollation) {
        prepareConnections(.collation(collation.id)) { $0.add(collation: collation) }
    }
    public func remove(collation: DatabaseCollation) {
        prepareConnections(.collation(collation.id)) { $0.remove(collation: collation) }
    }

    private func prepareConnections(
        _ addition: ConnectionFactory.Addition, _ body: @escaping @Sendable (Database) -> Void
    ) {
        factory.add(addition, body)
        // A connection that is opened from here on has the addition. The open ones may be running statements,
        // and are replaced.
        readers.invalidate()
        writer.reentrantSync(body)
    }
}

extension DatabaseSnapshot {
    public func add(function: DatabaseFunction) { connection.reentrantSync { $0.add(function: function) } }
    public func remove(function: DatabaseFunction) {
        connection.reentrantSync { $0.remove(function: function) }
    }
    public func add(collation: DatabaseCollation) {
        connection.reentrantSync { $0.add(collation: collation) }
    }
    public func remove(collation: DatabaseCollation) {
        connection.reentrantSync { $0.remove(collation: collation) }
    }
}

extension DatabaseSnapshotPool {
    /// Adds an SQL function to the connections, in place of one with the same name and number of arguments.
    /// It waits for all reads.
    ///
    /// - Precondition: not called inside of a read of the snapshot.
    public func add(function: DatabaseFunction) { prepareConnections { $0.add(function: function) } }
    public func remove(function: DatabaseFunction) { prepareConnections { $0.remove(function: function) } }
    public func add(collation: DatabaseCollation) { prepareConnections { $0.add(collation: collation) } }
    public func remove(collation: DatabaseCollation) {
        prepareConnections { $0.remove(collation: collation) }
    }

    private func prepareConnections(_ body: (Database) -> Void) {
        // A closed snapshot has no connections left to prepare.
        try? readers.barrier { readers.forEachReaderInBarrier(body) }
    }
}
