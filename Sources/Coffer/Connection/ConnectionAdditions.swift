/// What was added to a connection after it was opened, so that a connection that takes its place gets it too.
struct ConnectionAdditions {
    /// In the order in which they were added: a later one takes the place of an earlier one with the same
    /// name.
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

    /// Adds something that another floor of the library knows how to install.
    ///
    /// - Parameter name: says what takes the place of what.
    mutating func add(named name: String, install: @escaping (Database) -> Void) {
        others.removeAll { $0.name == name }
        others.append((name, install))
    }

    mutating func remove(_ function: DatabaseFunction) { functions.removeAll { $0.id == function.id } }
    mutating func remove(_ collation: DatabaseCollation) { collations.removeAll { $0.id == collation.id } }

    /// Adds everything to a connection that has none of it.
    func install(on db: Database) {
        db.withAccess {
            db.additions = ConnectionAdditions()
            for function in functions { db.add(function: function) }
            for collation in collations { db.add(collation: collation) }
            for other in others { other.install(db) }
            if let trace { db.trace(options: trace.options, trace.function) }
        }
    }
}
