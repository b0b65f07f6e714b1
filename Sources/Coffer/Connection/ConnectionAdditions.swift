/// What was added to a connection after it was opened, so that a connection that takes its place gets it too.
struct ConnectionAdditions {
    /// In the order in which they were added: a later one takes the place of an earlier one with the same name.
    var functions: [DatabaseFunction] = []
    var collations: [DatabaseCollation] = []
    var tokenizers: [any FTS5CustomTokenizer.Type] = []
    var trace: (options: Database.TracingOptions, function: (Database.TraceEvent) -> Void)?

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
