internal import Coffer

/// The statements that define a database.
struct SchemaText {
    struct Object {
        let type: String
        let name: String
        let table: String
        let sql: String

        /// The text with a terminating semicolon that is not part of a comment.
        var statement: String {
            let ends = [";", "\n;", "\n*/;"]
            return ends.lazy.map { sql + $0 }.first(where: StatementSplitter.isWhole) ?? sql + ";"
        }

        /// Returns true if the object has this name or belongs to the table of this name. Like SQLite, it
        /// ignores case.
        func isOf(_ name: String) -> Bool {
            [self.name, table].contains { $0.lowercased() == name.lowercased() }
        }

        var json: JSONObject {
            ["kind": type, "name": name, "table": table, "sql": sql]
        }
    }

    let objects: [Object]

    init(_ db: Database, includesInternal: Bool) throws {
        let shadows = try Set(
            String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL
                ORDER BY tbl_name COLLATE NOCASE, CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 0 WHEN \
                'index' THEN 1 ELSE 2 END, name
                """)
        objects = rows.map { Object(type: $0[0], name: $0[1], table: $0[2], sql: $0[3]) }.filter { object in
            includesInternal
                || !shadows.contains(object.table) && !object.name.lowercased().hasPrefix("sqlite_")
        }
    }
}
