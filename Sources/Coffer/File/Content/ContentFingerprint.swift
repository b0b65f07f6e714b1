internal import SQLCipherBridge

/// What a database contains, in few bytes: two databases with equal digests have the same schema, the same
/// rows with the same row IDs and the same values, byte for byte, and the same version numbers.
///
/// It does not depend on how pages are laid out, encrypted or ordered, nor on free pages. Generated columns
/// and indexes are left out: they follow from the rest.
struct ContentFingerprint: Equatable, Sendable {
    struct Table: Equatable, Sendable {
        var rowCount = 0
        /// SHA-256 over all fields of all rows, in the order of the table.
        var hash: [UInt8] = []
    }

    var tables: [String: Table] = [:]

    /// SHA-256 over the rows of `sqlite_master`, sorted, without the root pages.
    var schema: [UInt8]

    var encoding: TextEncoding
    var userVersion: Int64
    var applicationID: Int64

    static let rowsBetweenCheckpoints = 256

    /// The digest of everything but the rows.
    init(ofSchemaIn connection: ConnectionHandle) throws {
        let encoding = try connection.textEncoding()
        self.encoding = encoding
        userVersion = try connection.integer(pragma: "user_version")
        applicationID = try connection.integer(pragma: "application_id")
        let hash = try ContentHash()
        let sql = "SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY type, name, tbl_name"
        try connection.forEachRow(trusted: sql) { row in
            for column in 0..<CInt(4) { try hash.add(column: column, of: row, encoding: encoding) }
        }
        schema = try hash.finish()
    }

    /// The digest of the whole database, which is read row by row.
    ///
    /// - Parameters:
    ///   - isHashedBeside: whether another thread computes the digests, for which no other work is waiting.
    ///   - checkpoint: called now and then; throws to end.
    init(
        of connection: ConnectionHandle, isHashedBeside: Bool = false, checkpoint: () throws -> Void = {}
    ) throws {
        try self.init(ofSchemaIn: connection)
        let standIns = StandIns(on: connection)
        defer { standIns.remove() }
        for name in try connection.storedTableNames() {
            let table = try StoredTable(name: name, in: connection)
            try standIns.add(collations: table.keyCollations)
            var digest = Table()
            let hash = try ContentHash(isBeside: isHashedBeside)
            try table.forEachRow(in: connection) { row in
                try hash.add(row, of: table, encoding: encoding)
                digest.rowCount += 1
                if digest.rowCount.isMultiple(of: ContentFingerprint.rowsBetweenCheckpoints) {
                    try checkpoint()
                }
            }
            digest.hash = try hash.finish()
            tables[name] = digest
        }
        try standIns.check()
    }

    /// One hash for all, of 32 bytes.
    var hash: [UInt8] {
        get throws {
            let hash = try ContentHash()
            try hash.add(schema)
            try hash.add("\(encoding.rawValue) \(userVersion) \(applicationID)")
            for (name, table) in tables.sorted(by: {
                Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8))
            }) {
                try hash.add(name)
                try hash.add(table.hash)
            }
            return try hash.finish()
        }
    }

    var rowCount: Int { tables.values.reduce(0) { $0 + $1.rowCount } }

    /// What differs, in words, or nil.
    func difference(from other: ContentFingerprint) -> String? {
        if schema != other.schema || encoding != other.encoding { return "the schema" }
        if userVersion != other.userVersion || applicationID != other.applicationID {
            return "user_version or application_id"
        }
        let names = Set(tables.keys).union(other.tables.keys).sorted()
        return names.first { tables[$0] != other.tables[$0] }.map { "the rows of the table \($0)" }
    }
}
