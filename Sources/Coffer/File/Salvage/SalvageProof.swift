internal import SQLCipherBridge

/// What the file of a salvage has to have: the schema and the versions that its maker saw, and as many rows
/// in each table as were put there.
struct SalvageProof {
    private let schema: ContentFingerprint
    private let rowCounts: [String: Int]

    /// - Parameters:
    ///   - connection: the one that has made the content.
    ///   - rowCounts: by the names of tables.
    init(of connection: ConnectionHandle, rowCounts: [String: Int]) throws {
        schema = try ContentFingerprint(ofSchemaIn: connection)
        self.rowCounts = rowCounts
    }

    /// - Parameter path: of the new file, for the error that says what differs in what a connection finds.
    func check(_ connection: ConnectionHandle, _ path: String) throws {
        func failure(_ difference: String) -> DatabaseFileError {
            DatabaseFileError(
                .copyRejected("it differs in \(difference) from what was put into it"), path: path)
        }

        if let difference = try schema.difference(from: ContentFingerprint(ofSchemaIn: connection)) {
            throw failure(difference)
        }
        for (name, count) in rowCounts.sorted(by: { $0.key < $1.key }) {
            var found: Int64 = 0
            // No index has a part in it.
            let sql = "SELECT count(*) FROM main.\(name.quotedDatabaseIdentifier) NOT INDEXED"
            try connection.forEachRow(trusted: sql) { found = $0.int64(at: 0) }
            guard found == Int64(count) else { throw failure("the rows of the table \(name)") }
        }
    }
}
