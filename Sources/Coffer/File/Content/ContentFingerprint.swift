internal import SQLCipherBridge

/// A fingerprint of a database's content. Two databases with equal fingerprints have the same schema, the
/// same rows with the same row IDs and the same values, byte for byte, and the same version numbers.
///
/// It does not depend on the layout, encryption or order of pages, or on free pages. Generated columns and
/// indexes are left out, because they follow from the rest.
struct ContentFingerprint: Equatable, Sendable {
    struct Table: Equatable, Sendable {
        var rowCount = 0
        /// SHA-256 over all fields of all rows, in the order of the table.
        var hash: [UInt8] = []
    }

    var tables: [ExactText: Table] = [:]

    /// SHA-256 over the rows of `sqlite_master`, sorted, without the root pages.
    var schema: [UInt8]

    /// The SQL of the objects in the schema, by type and name, to report which one differs.
    private let definitions: [ExactText: ExactText]

    var encoding: TextEncoding
    var userVersion: Int64
    var applicationID: Int64

    static let rowsBetweenCheckpoints = 256

    /// Creates a fingerprint of everything except the rows.
    init(ofSchemaIn connection: ConnectionHandle) throws {
        let encoding = try connection.textEncoding()
        self.encoding = encoding
        userVersion = try connection.integer(pragma: "user_version")
        applicationID = try connection.integer(pragma: "application_id")
        let hash = try ContentHash()
        var definitions: [ExactText: ExactText] = [:]
        let sql = "SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY type, name, tbl_name"
        try connection.forEachRow(trusted: sql) { row in
            for column in 0..<CInt(4) { try hash.add(column: column, of: row, encoding: encoding) }
            definitions[ExactText("\(row.string(at: 0)) \(row.identifier(at: 1))")] = ExactText(
                row.string(at: 3))
        }
        schema = try hash.finish()
        self.definitions = definitions
    }

    /// Creates a fingerprint of the whole database, by reading all rows.
    ///
    /// - Parameters:
    ///   - isHashedBeside: true if an otherwise idle thread computes the hashes.
    ///   - checkpoint: called now and then; throws to stop.
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
            tables[ExactText(name)] = digest
        }
        try standIns.check()
    }

    /// A single hash of everything, 32 bytes.
    var hash: [UInt8] {
        get throws {
            let hash = try ContentHash()
            try hash.add(schema)
            try hash.add("\(encoding.rawValue) \(userVersion) \(applicationID)")
            for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
                try hash.add(name.text)
                try hash.add(table.hash)
            }
            return try hash.finish()
        }
    }

    var rowCount: Int { tables.values.reduce(0) { $0 + $1.rowCount } }

    /// Returns a description of the difference, or nil.
    func difference(from other: ContentFingerprint) -> String? {
        if encoding != other.encoding { return "the text encoding" }
        if schema != other.schema {
            let objects = Set(definitions.keys).union(other.definitions.keys).sorted()
            let changed = objects.first { definitions[$0] != other.definitions[$0] }
            return changed.map { "the schema, in the definition of the \($0.text.readableIdentifier)" }
                ?? "the schema"
        }
        if userVersion != other.userVersion || applicationID != other.applicationID {
            return "user_version or application_id"
        }
        return tableWithOtherRows(in: other).map { "the rows of the table \($0.text.readableIdentifier)" }
    }

    /// Returns the first table with different rows.
    private func tableWithOtherRows(in other: ContentFingerprint) -> ExactText? {
        Set(tables.keys).union(other.tables.keys).sorted().first { tables[$0] != other.tables[$0] }
    }

    /// Returns a description of the difference to a copy whose rows were inserted, with the remedy for the
    /// most probable cause; nil if there is none.
    func difference(fromInserted copy: ContentFingerprint) -> String? {
        guard let difference = difference(from: copy) else { return nil }
        guard let table = tableWithOtherRows(in: copy),
            tables[table]?.rowCount == copy.tables[table]?.rowCount
        else { return difference }
        // Values whose type the column does not store, which another program left there by a change of the
        // schema, are converted when they are inserted.
        return
            "\(difference). Its columns may contain values that they convert when they are written, such as "
            + "the text '1' in an INTEGER column. To convert them, execute UPDATE "
            + "\(table.text.readableIdentifier) SET column = column for each column, and try again"
    }
}
