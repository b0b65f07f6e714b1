internal import SQLCipherBridge

// MARK: - Existence

extension Database {
    /// Returns whether a table, possibly a virtual one, exists. Schema tables such as `sqlite_master` do not
    /// count.
    ///
    /// - Parameters:
    ///   - name: the name of the table, compared without regard to the case of ASCII letters.
    ///   - schemaName: `main`, `temp`, or an attached database. Nil searches the temporary schema, the main
    ///     database, and the attached databases, in this order.
    /// - Throws: a ``DatabaseError`` if the database cannot be read, or has no schema of that name.
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try readSchema { try object(name, kind: .table, in: schemaName) != nil }
    }

    /// Returns whether a view exists. See ``tableExists(_:in:)``.
    ///
    /// - Throws: a ``DatabaseError`` if the schema cannot be read.
    public func viewExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try readSchema { try object(name, kind: .view, in: schemaName) != nil }
    }

    /// Returns whether a trigger exists. See ``tableExists(_:in:)``.
    ///
    /// - Throws: a ``DatabaseError`` if the schema cannot be read.
    public func triggerExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try readSchema { try object(name, kind: .trigger, in: schemaName) != nil }
    }

    /// Returns a number that increases with each change of the main database's schema.
    ///
    /// See <https://www.sqlite.org/pragma.html#pragma_schema_version>.
    ///
    /// - Throws: a ``DatabaseError`` if the schema cannot be read.
    public func schemaVersion() throws -> Int32 {
        checkIsUsedInItsAccess()
        var version: Int32 = 0
        try forEachSchemaRow("PRAGMA main.schema_version") {
            version = Int32(truncatingIfNeeded: $0.int64(at: 0))
        }
        return version
    }
}

// MARK: - Reserved names

extension Database {
    /// Returns whether SQLite reserves a table name: it starts with `sqlite_`.
    public static func isSQLiteInternalTable(_ tableName: String) -> Bool {
        tableName.isSQLiteInternalTableName
    }

    /// Returns whether this library reserves a table name, such as the name of the table of migrations: it
    /// starts with `grdb_`.
    public static func isGRDBInternalTable(_ tableName: String) -> Bool {
        CaseInsensitiveName(String(tableName.prefix(5))) == CaseInsensitiveName("grdb_")
    }
}

// MARK: - Look-up

extension Database {
    /// Returns the table or view that SQLite would resolve a name to.
    ///
    /// This function and the ones below must be called inside `readSchema`.
    ///
    /// - Throws: a ``DatabaseError`` if there is neither a table nor a view of that name.
    func tableOrView(_ name: String, in schemaName: String?) throws -> TableStructure {
        let key = KnownSchema.TableKey(name, in: schemaName)
        if let table = knownSchema.tables[key] { return table }
        let table = try findTableOrView(name, in: schemaName)
        knownSchema.insert(table, for: key)
        return table
    }

    /// Returns the table that a name resolves to; throws "no such table" for a view.
    func table(_ name: String, in schemaName: String?) throws -> TableStructure {
        let table = try tableOrView(name, in: schemaName)
        guard table.kind != .view else { throw DatabaseError.noSuchTable(name) }
        return table
    }

    private func findTableOrView(_ name: String, in schemaName: String?) throws -> TableStructure {
        if let schemaID = try schemaOfSchemaTable(name, in: schemaName) {
            return TableStructure(DatabaseObjectID(name: name, schemaID: schemaID), kind: .table)
        }
        for schemaID in try searchedSchemas(schemaName) {
            let objects = try objects(in: schemaID)
            if let name = objects.canonicalName(name, kind: .table) {
                let id = DatabaseObjectID(name: name, schemaID: schemaID)
                return TableStructure(id, kind: objects.isVirtualTable(name) ? .virtualTable : .table)
            }
            if let name = objects.canonicalName(name, kind: .view) {
                return TableStructure(DatabaseObjectID(name: name, schemaID: schemaID), kind: .view)
            }
        }
        throw DatabaseError.noSuchTable(name)
    }

    private func object(_ name: String, kind: SchemaObjectKind, in schemaName: String?) throws
        -> DatabaseObjectID?
    {
        for schemaID in try searchedSchemas(schemaName) {
            if let name = try objects(in: schemaID).canonicalName(name, kind: kind) {
                return DatabaseObjectID(name: name, schemaID: schemaID)
            }
        }
        return nil
    }

    private func searchedSchemas(_ name: String?) throws -> [DatabaseSchemaID] {
        let schemas = knownSchema.watch?.schemas ?? []
        guard let name else { return schemas }
        let schemaID = DatabaseSchemaID.attached(name)
        // The temporary schema always exists, but `PRAGMA database_list` lists it only after its first use.
        guard schemaID == .temp || schemas.contains(schemaID) else {
            throw DatabaseError(message: "no such schema: \(name)")
        }
        return schemas.filter { $0 == schemaID }
    }

    private func objects(in schemaID: DatabaseSchemaID) throws -> SchemaObjects {
        if let objects = knownSchema.objects[schemaID] { return objects }
        var objects = SchemaObjects()
        try forEachSchemaRow(
            "SELECT type, name, rootpage FROM \(schemaID.name.quotedDatabaseIdentifier).sqlite_master"
        ) { row in
            // Among tables, only virtual ones have no root page.
            guard let kind = SchemaObjectKind(rawValue: row.string(at: 0)) else { return }
            objects.insert(row.string(at: 1), kind: kind, isVirtual: kind == .table && row.int64(at: 2) == 0)
        }
        knownSchema.insert(objects, for: schemaID)
        return objects
    }

    /// Returns the schema whose schema table the name refers to, or nil for other names. Schema tables do not
    /// list themselves.
    ///
    /// An unqualified name of a schema table is resolved in the main database first, unlike other names.
    private func schemaOfSchemaTable(_ name: String, in schemaName: String?) throws -> DatabaseSchemaID? {
        guard name.isSQLiteInternalTableName else { return nil }
        switch name.lowercased() {
        case "sqlite_master", "sqlite_schema":
            guard let schemaName else { return .main }
            _ = try searchedSchemas(schemaName)
            return .attached(schemaName)
        case "sqlite_temp_master", "sqlite_temp_schema":
            return DatabaseSchemaID.attached(schemaName ?? "temp") == .temp ? .temp : nil
        default:
            return nil
        }
    }
}

extension DatabaseError {
    static func noSuchTable(_ name: String) -> DatabaseError {
        DatabaseError(message: "no such table: \(name)")
    }
}
