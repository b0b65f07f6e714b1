extension Database {
    /// Creates a virtual table whose module is written as SQL.
    ///
    ///     // CREATE VIRTUAL TABLE "place" USING rtree(id, x0, x1)
    ///     try db.create(virtualTable: "place", using: "rtree(id, x0, x1)")
    ///
    /// - Parameters:
    ///   - name: the name of the table, which may contain any characters.
    ///   - options: makes the table temporary, or allows it to exist already.
    ///   - module: the SQL after `USING`: the module and its arguments, inserted verbatim.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_ERROR` if there is no such module, the module rejects
    ///   its arguments, or the name is taken.
    public func create(virtualTable name: String, options: VirtualTableOptions = [], using module: String)
        throws
    {
        checkIsUsedInItsAccess()
        try executeDefinitions([VirtualTableSQL.creation(of: name, options: options, using: module)])
    }

    /// Creates a virtual table from a definition that a closure fills in.
    ///
    ///     try db.create(virtualTable: "itemText", using: FTS5()) { t in
    ///         t.column("name")
    ///         t.column("details")
    ///     }
    ///
    /// The table and the objects that the module adds to it are created together or not at all.
    ///
    /// - Parameters:
    ///   - tableName: the name of the table, which may contain any characters.
    ///   - options: makes the table temporary, or allows it to exist already.
    ///   - module: the kind of table, for example ``FTS5``.
    ///   - body: fills in the definition.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_ERROR` if SQLite has no such module, or the name is
    ///   taken; errors of the module and of `body`.
    public func create<Module>(
        virtualTable tableName: String, options: VirtualTableOptions = [], using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws where Module: VirtualTableModule {
        checkIsUsedInItsAccess()
        let definition = module.makeTableDefinition(
            configuration: VirtualTableConfiguration(options: options))
        try body?(definition)
        let arguments = try module.moduleArguments(for: definition, in: self)
        let sql = VirtualTableSQL.creation(
            of: tableName, options: options,
            using: VirtualTableSQL.module(module.moduleName, arguments: arguments))
        try inSavepoint {
            try executeDefinitions([sql])
            try module.database(self, didCreate: tableName, using: definition)
            return .commit
        }
    }

    /// Creates a virtual table: the older form of ``create(virtualTable:options:using:)``.
    ///
    /// - Parameters:
    ///   - ifNotExists: if true, an existing table is not an error.
    ///   - module: the SQL after `USING`, such as `fts5`.
    @_disfavoredOverload
    public func create(virtualTable name: String, ifNotExists: Bool = false, using module: String) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module)
    }

    /// Creates a virtual table: the older form of ``create(virtualTable:options:using:_:)``.
    ///
    /// - Parameters:
    ///   - ifNotExists: if true, an existing table is not an error.
    ///   - module: the module, such as ``FTS5``.
    ///   - body: defines the columns; nil leaves the definition to the module.
    @_disfavoredOverload
    public func create<Module>(
        virtualTable tableName: String, ifNotExists: Bool = false, using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws where Module: VirtualTableModule {
        try create(virtualTable: tableName, options: ifNotExists ? .ifNotExists : [], using: module, body)
    }
}

/// The SQL of the definition of a virtual table.
enum VirtualTableSQL {
    /// - Parameter module: the module and its arguments, as SQL.
    static func creation(of name: String, options: VirtualTableOptions, using module: String) -> String {
        var sql = "CREATE VIRTUAL TABLE "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        if options.contains(.temporary) { sql += "temp." }
        return sql + "\(name.quotedDatabaseIdentifier) USING \(module)"
    }

    static func module(_ name: String, arguments: [String]) -> String {
        let name = name.bareOrQuotedWord
        return arguments.isEmpty ? name : "\(name)(\(arguments.joined(separator: ", ")))"
    }
}

extension String {
    /// The name for the arguments of a module: unchanged if it is a word, and otherwise quoted, so that it is
    /// still read as one name.
    var bareOrQuotedWord: String {
        let isWord = utf8.allSatisfy { $0.isASCIIWord || $0 >= 0x80 }
        return isWord && !isEmpty ? self : quotedDatabaseIdentifier
    }
}
