internal import SQLCipherBridge

/// Whether b-trees are whole, in so far as a connection can tell that does not know every function, collation and module of the schema.
struct LenientStructureCheck {
    private let connection: ConnectionHandle

    init(_ connection: ConnectionHandle) {
        self.connection = connection
    }

    /// - Throws: `SQLITE_CORRUPT` with the first finding; the error of a read that failed.
    func run() throws {
        do {
            try check("PRAGMA main.quick_check(1)")
        } catch let error as EngineError where error.primaryCode == EngineCode.error {
            // A tokenizer or collation of an application: the tables that need none of it can be checked one by one.
            for name in try connection.storedTableNames() where name != "sqlite_sequence" {
                do {
                    try check("PRAGMA main.quick_check(\(name.quotedDatabaseIdentifier))")
                } catch let error as EngineError where error.primaryCode == EngineCode.error {
                    continue
                }
            }
        }
    }

    private func check(_ pragma: String) throws {
        let finding = try connection.firstText(trusted: pragma)
        guard finding == "ok" else {
            throw EngineError(code: EngineCode.corrupt, message: "The file is damaged: \(finding ?? "no answer")")
        }
    }
}
