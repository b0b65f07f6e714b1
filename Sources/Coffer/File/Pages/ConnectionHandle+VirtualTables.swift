internal import SQLCipherBridge

/// A virtual table of a schema.
struct VirtualTable {
    let name: String
    let sql: String

    /// The module that makes it, in lower case; empty where its definition does not say.
    var module: String {
        let words = sql.lowercased().split { $0.isWhitespace || "(\"'`[];".contains($0) }
        return zip(words, words.dropFirst()).first { word, _ in word == "using" }.map { String($0.1) } ?? ""
    }
}

extension ConnectionHandle {
    /// Returns the virtual tables of the schema, in its order.
    func virtualTables() throws(EngineError) -> [VirtualTable] {
        let condition = "FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0 ORDER BY rowid"
        let names = try column(trusted: "SELECT name \(condition)")
        let definitions = try column(trusted: "SELECT coalesce(sql, '') \(condition)")
        return zip(names, definitions).map { VirtualTable(name: $0, sql: $1) }
    }

    /// Returns the virtual tables that their own module refuses to open, and why, in its words.
    ///
    /// A table whose module, tokenizer, function or collation only an application has is not among them:
    /// that application opens it. Neither is one whose module knows no option of its definition, as a newer
    /// version may.
    func virtualTablesThatDoNotOpen() throws(EngineError) -> [String] {
        var found: [String] = []
        for table in try virtualTables() {
            do throws(EngineError) {
                _ = try prepare(trusted: "SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier)")
            } catch {
                guard error.primaryCode == EngineCode.error, let words = error.message,
                    !ConnectionHandle.namesWhatAnApplicationHas(words)
                else { continue }
                found.append("\(table.name): \(words)")
            }
        }
        return found
    }

    /// The words of SQLite and of its full-text modules.
    private static func namesWhatAnApplicationHas(_ words: String) -> Bool {
        let beginnings = [
            "no such module: ", "no such tokenizer: ", "unknown tokenizer", "error in tokenizer constructor",
            "no such collation sequence: ", "no such function: ", "unrecognized option: ",
            "unrecognized parameter: ",
        ]
        return beginnings.contains { words.hasPrefix($0) }
    }
}
