// Functions and collations for all current and future connections of a reader.
//
// Calling the methods of `Database` in `Configuration.prepareDatabase(_:)` is better: no connection is ever
// opened without the function or collation.

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
    /// Adds an SQL function to all connections. It replaces one with the same name and number of arguments.
    ///
    /// The call waits for the writer. Running reads do not see the function; later reads do.
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
        // Connections that are opened from now on have the addition. Open readers may be running statements,
        // so they are replaced.
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
    /// Adds an SQL function to all connections. It replaces one with the same name and number of arguments.
    /// The call waits for all reads.
    ///
    /// - Precondition: not called inside a read of the snapshot.
    public func add(function: DatabaseFunction) { prepareConnections { $0.add(function: function) } }
    public func remove(function: DatabaseFunction) { prepareConnections { $0.remove(function: function) } }
    public func add(collation: DatabaseCollation) { prepareConnections { $0.add(collation: collation) } }
    public func remove(collation: DatabaseCollation) {
        prepareConnections { $0.remove(collation: collation) }
    }

    private func prepareConnections(_ body: (Database) -> Void) {
        // A closed snapshot has no connections to prepare.
        try? readers.barrier { readers.forEachReaderInBarrier(body) }
    }
}
