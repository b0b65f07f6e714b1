/// What was added to a connection after it was opened, so that a connection that takes its place gets it too.
struct ConnectionAdditions {
    /// In the order in which they were added: a later one takes the place of an earlier one with the same name.
    private(set) var functions: [DatabaseFunction] = []
    private(set) var collations: [DatabaseCollation] = []
    private(set) var tokenizers: [any FTS5CustomTokenizer.Type] = []
    var trace: (options: Database.TracingOptions, function: (Database.TraceEvent) -> Void)?

    mutating func add(_ function: DatabaseFunction) {
        remove(function)
        functions.append(function)
    }

    mutating func add(_ collation: DatabaseCollation) {
        remove(collation)
        collations.append(collation)
    }

    mutating func add(_ tokenizer: any FTS5CustomTokenizer.Type) {
        tokenizers.removeAll { $0.name == tokenizer.name }
        tokenizers.append(tokenizer)
    }

    mutating func remove(_ function: DatabaseFunction) { functions.removeAll { $0.id == function.id } }
    mutating func remove(_ collation: DatabaseCollation) { collations.removeAll { $0.id == collation.id } }

    /// Adds everything to a connection that has none of it.
    func install(on db: Database) {
        db.withAccess {
            db.additions = ConnectionAdditions()
            for function in functions { db.add(function: function) }
            for collation in collations { db.add(collation: collation) }
            for tokenizer in tokenizers { db.add(tokenizer: tokenizer) }
            if let trace { db.trace(options: trace.options, trace.function) }
        }
    }
}
