internal import SQLCipherBridge

/// A virtual table of a schema.
struct VirtualTable {
    let name: String
    let sql: String

    /// The module of the table, in lower case; empty if the definition does not name one.
    var module: String {
        let words = sql.lowercased().split { $0.isWhitespace || "(\"'`[];".contains($0) }
        return zip(words, words.dropFirst()).first { word, _ in word == "using" }.map { String($0.1) } ?? ""
    }
}

extension ConnectionHandle {
    /// Returns the virtual tables of the schema, in schema order.
    func virtualTables() throws(EngineError) -> [VirtualTable] {
        let condition = "FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0 ORDER BY rowid"
        let names = try identifiers(trusted: "SELECT name \(condition)")
        let definitions = try column(trusted: "SELECT coalesce(sql, '') \(condition)")
        return zip(names, definitions).map { VirtualTable(name: $0, sql: $1) }
    }

    /// Returns the virtual tables that their own module refuses to open, each with the module's error
    /// message.
    ///
    /// Leaves out a table whose module, tokenizer, function or collation is defined by an application: that
    /// application can open it. Also leaves out a table whose definition has an option that the module does
    /// not know: a newer version may know it.
    func virtualTablesThatDoNotOpen() throws(EngineError) -> [String] {
        try errorsOfVirtualTables().filter { !ConnectionHandle.namesWhatAnApplicationHas($0.words) }
            .map { "\($0.name.readableIdentifier): \($0.words)" }
    }

    /// Returns true if a virtual table needs a module or a tokenizer that only its application has. Since
    /// version 3.53, the engine's checks of the whole schema end with an error for full-text tables of this
    /// kind.
    func hasVirtualTableOfApplication() throws(EngineError) -> Bool {
        if try errorsOfVirtualTables().contains(where: {
            ConnectionHandle.namesWhatAnApplicationHas($0.words)
        }) {
            return true
        }
        return try virtualTables().contains { $0.module == "fts5" && lacksTokenizer(of: $0) }
    }

    /// Returns true if a search in a full-text table that opens needs a tokenizer that only its application
    /// has: newer engines look for the tokenizer at its first use. The search is for a text without tokens,
    /// so it reads no index, which may be a crafted one.
    private func lacksTokenizer(of table: VirtualTable) -> Bool {
        do throws(EngineError) {
            _ = try firstText(
                trusted: "SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier)('\".\"') LIMIT 1")
            return false
        } catch {
            return ConnectionHandle.namesWhatAnApplicationHas(error.message ?? "")
        }
    }

    private func errorsOfVirtualTables() throws(EngineError) -> [(name: String, words: String)] {
        var found: [(name: String, words: String)] = []
        for table in try virtualTables() {
            do throws(EngineError) {
                _ = try prepare(trusted: "SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier)")
            } catch {
                guard error.primaryCode == EngineCode.error, let words = error.message else { continue }
                found.append((table.name, words))
            }
        }
        return found
    }

    /// The messages come from SQLite and its full-text modules.
    private static func namesWhatAnApplicationHas(_ words: String) -> Bool {
        let beginnings = [
            "no such module: ", "no such tokenizer: ", "unknown tokenizer", "error in tokenizer constructor",
            "no such collation sequence: ", "no such function: ", "unrecognized option: ",
            "unrecognized parameter: ",
        ]
        return beginnings.contains { words.hasPrefix($0) }
    }
}
