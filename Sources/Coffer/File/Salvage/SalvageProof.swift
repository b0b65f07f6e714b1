internal import SQLCipherBridge

/// The expected content of a salvaged file: the schema and the versions at the time of its creation, and the
/// number of rows that were inserted into each table.
struct SalvageProof {
    private let schema: ContentFingerprint
    private let rowCounts: [ExactText: Int]

    /// - Parameters:
    ///   - connection: the connection that created the content.
    ///   - rowCounts: the expected number of rows, by table name.
    init(of connection: ConnectionHandle, rowCounts: [ExactText: Int]) throws {
        schema = try ContentFingerprint(ofSchemaIn: connection)
        self.rowCounts = rowCounts
    }

    /// Checks the content of a fresh connection to the new file.
    ///
    /// - Parameter path: the path for the error message.
    func check(_ connection: ConnectionHandle, _ path: String) throws {
        func failure(_ difference: String) -> DatabaseFileError {
            DatabaseFileError(
                .copyRejected("it differs from the salvaged content in \(difference)"), path: path)
        }

        if let difference = try schema.difference(from: ContentFingerprint(ofSchemaIn: connection)) {
            throw failure(difference)
        }
        for (name, count) in rowCounts.sorted(by: { $0.key < $1.key }) {
            var found: Int64 = 0
            // The rows are counted in the table itself, never in an index.
            let sql = "SELECT count(*) FROM main.\(name.text.quotedDatabaseIdentifier) NOT INDEXED"
            try connection.forEachRow(trusted: sql) { found = $0.int64(at: 0) }
            guard found == Int64(count) else {
                throw failure("the rows of the table \(name.text.readableIdentifier)")
            }
        }
    }
}
