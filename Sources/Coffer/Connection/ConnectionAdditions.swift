/// The functions, collations and other additions to an open connection, which are installed again on a
/// connection that replaces it.
struct ConnectionAdditions {
    /// The functions in the order of their addition. A later one replaces an earlier one with the same name.
    private(set) var functions: [DatabaseFunction] = []
    private(set) var collations: [DatabaseCollation] = []
    private var others: [(name: String, install: (Database) -> Void)] = []
    var trace: (options: Database.TracingOptions, function: (Database.TraceEvent) -> Void)?

    mutating func add(_ function: DatabaseFunction) {
        remove(function)
        functions.append(function)
    }

    mutating func add(_ collation: DatabaseCollation) {
        remove(collation)
        collations.append(collation)
    }

    /// Adds something that a higher layer of the library knows how to install, once the key is known.
    ///
    /// - Parameter name: the identity of the addition. It replaces an earlier one with the same name.
    mutating func add(named name: String, install: @escaping (Database) -> Void) {
        others.removeAll { $0.name == name }
        others.append((name, install))
    }

    mutating func remove(_ function: DatabaseFunction) { functions.removeAll { $0.id == function.id } }
    mutating func remove(_ collation: DatabaseCollation) { collations.removeAll { $0.id == collation.id } }

    /// Installs everything on a connection that has none of these additions.
    func install(on db: Database) {
        db.withAccess {
            db.additions = ConnectionAdditions()
            for function in functions { db.add(function: function) }
            for collation in collations { db.add(collation: collation) }
            for other in others { other.install(db) }
            if let trace { db.trace(options: trace.options, trace.function) }
        }
    }

    /// Installs the additions that need the schema, and so wait for the key of the file.
    func installAwaitingKey(on db: Database) {
        db.withAccess {
            for other in others { other.install(db) }
        }
    }
}
