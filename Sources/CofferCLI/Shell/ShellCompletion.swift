internal import Coffer

/// The possible completions of a word in the shell: commands, keywords, tables, views and columns.
struct ShellCompletion {
    /// The tables and views, with their columns.
    let tables: [String: [String]]

    init(tables: [String: [String]] = [:]) {
        self.tables = tables
    }

    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT l.name, c.name FROM pragma_table_list AS l, pragma_table_info(l.name) AS c
                WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE \
                'sqlite\\_%' ESCAPE '\\'
                """)
        tables = Dictionary(grouping: rows) { row -> String in row[0] }.mapValues { rows in
            rows.map { row -> String in row[1] }
        }
    }

    static let keywords = """
        ABORT ALTER ANALYZE AND AS ASC BEGIN BETWEEN BY CASE CAST CHECK COLLATE COLUMN COMMIT \
        CONSTRAINT CREATE CROSS CURRENT_TIMESTAMP DEFAULT DELETE DESC DISTINCT DROP ELSE END ESCAPE \
        EXCEPT EXISTS EXPLAIN FILTER FOREIGN FROM FULL GROUP HAVING IMMEDIATE INDEX INNER INSERT \
        INTERSECT INTO IS JOIN KEY LEFT LIKE LIMIT MATCH NATURAL NOT NULL OFFSET ON OR ORDER OUTER \
        OVER PARTITION PLAN PRAGMA PRIMARY QUERY RECURSIVE REFERENCES RELEASE RENAME REPLACE \
        RETURNING RIGHT ROLLBACK ROWID SAVEPOINT SELECT SET STRICT TABLE TEMPORARY THEN TO \
        TRANSACTION TRIGGER UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW \
        WITH WITHOUT
        """.split(separator: " ").map(String.init)

    /// - Parameter before: the line up to the cursor.
    /// - Returns: the length of the word before the cursor in characters, and its completions.
    func words(for before: String) -> (length: Int, words: [String]) {
        if before.hasPrefix("."), !before.contains(" ") {
            return (before.count, ShellCommand.names.filter { $0.hasPrefix(before) })
        }
        let word = String(
            before.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }.reversed())
        // A quote before the word belongs to the name.
        let isQuoted = before.dropLast(word.count).hasSuffix("\"")
        let rest = before.dropLast(word.count + (isQuoted ? 1 : 0))
        let candidates: [String]
        if rest.hasSuffix(".") {
            let table = String(
                rest.dropLast().reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
            candidates = tables.first { $0.key.lowercased() == table.lowercased() }?.value ?? []
        } else if before.hasPrefix(".") {
            candidates = before.hasPrefix(".mode ") ? RowFormat.allCases.map(\.rawValue) : Array(tables.keys)
        } else {
            guard !word.isEmpty else { return (0, []) }
            // Keywords follow the case of the typed text.
            let isLower = word.first?.isLowercase ?? false
            candidates =
                Array(tables.keys) + tables.values.flatMap { $0 }
                + ShellCompletion.keywords.map { isLower ? $0.lowercased() : $0 }
        }
        let fitting = Set(candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) })
        let names =
            before.hasPrefix(".")
            ? fitting.sorted() : fitting.sorted().map { ShellCompletion.asIdentifier($0, isQuoted: isQuoted) }
        return (word.count + (isQuoted ? 1 : 0), names)
    }

    /// Returns a name as an SQL identifier, quoted if necessary.
    private static func asIdentifier(_ name: String, isQuoted: Bool) -> String {
        let isWord = name.unicodeScalars.allSatisfy {
            $0.value >= 0x80 || $0.properties.isAlphabetic || "0123456789_$".unicodeScalars.contains($0)
        }
        let begins = name.unicodeScalars.first.map { !"0123456789$".unicodeScalars.contains($0) } ?? false
        return isWord && begins && !isQuoted ? name : name.quotedDatabaseIdentifier
    }
}
