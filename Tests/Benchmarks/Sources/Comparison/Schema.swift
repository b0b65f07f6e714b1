import Foundation

extension Comparison {
    /// Definitions and changes of tables, indexes, and views, as stored SQL; schema introspection.
    static func schema(_ area: Area) {
        func stored(_ name: String, _ body: @escaping (Database) throws -> Void) {
            area.call(name) { db in
                let before = try String.fetchSet(db, sql: "SELECT name FROM sqlite_master")
                try body(db)
                return try Row.fetchAll(
                    db,
                    sql:
                        "SELECT name, sql FROM sqlite_master UNION ALL SELECT name, sql FROM "
                        + "sqlite_temp_master ORDER BY name"
                )
                .filter { !before.contains($0["name"]) || ["thing", "owner"].contains($0["name"] as String) }
                .map(\.description)
            }
        }
        stored("table") {
            try $0.create(table: "thing") { t in
                t.autoIncrementedPrimaryKey("id"); t.column("name", .text)
            }
        }
        stored("types") {
            try $0.create(table: "thing") { t in
                let types: [Database.ColumnType] = [
                    .text, .integer, .double, .real, .numeric, .boolean, .blob, .date, .datetime, .any,
                    .jsonText, .jsonb,
                ]
                for (index, type) in types.enumerated() { t.column("c\(index)", type) }
                t.column("free")
                t.column("own", Database.ColumnType(rawValue: "VARCHAR(10)"))
            }
        }
        stored("options") { db in
            try db.create(table: "thing", options: [.ifNotExists, .withoutRowID]) { t in
                t.primaryKey("id", .text)
            }
            try db.create(table: "thing", options: .ifNotExists) { t in t.column("other") }
            try db.create(table: "brief", options: .temporary) { t in t.column("a") }
            try db.create(table: "exact", options: .strict) { t in
                t.column("a", .integer); t.column("b", .any)
            }
        }
        stored("primaryKey") {
            try $0.create(table: "thing") { t in t.primaryKey("uuid", .text, onConflict: .replace) }
        }
        stored("primaryKey.many") {
            try $0.create(table: "thing") { t in
                t.primaryKey {
                    t.column("a", .text); t.column("b", .integer)
                }
            }
        }
        stored("primaryKey.columns") {
            try $0.create(table: "thing") { t in
                t.column("a"); t.column("b"); t.primaryKey(["a", "b"], onConflict: .fail)
            }
        }
        stored("primaryKey.column") {
            try $0.create(table: "thing") { t in
                t.column("a", .integer).primaryKey(); t.column("b")
            }
        }
        stored("primaryKey.auto") {
            try $0.create(table: "thing") { t in
                t.column("a", .integer).primaryKey(onConflict: .ignore, autoincrement: true)
            }
        }
        stored("notNull") {
            try $0.create(table: "thing") { t in
                t.column("a").notNull(); t.column("b").notNull(onConflict: .replace);
                t.column("c").notNull(onConflict: .abort)
            }
        }
        stored("unique") {
            try $0.create(table: "thing") { t in
                t.column("a").unique(); t.column("b").unique(onConflict: .ignore);
                t.column("c").unique(onConflict: .abort);
                t.uniqueKey(["a", "b"], onConflict: .rollback)
            }
        }
        stored("defaults") {
            try $0.create(table: "thing") { t in
                t.column("a").defaults(to: 1); t.column("b").defaults(to: "it's");
                t.column("c").defaults(to: 1.5);
                t.column("d").defaults(to: true)
                t.column("e").defaults(to: Data([1])); t.column("f").defaults(sql: "CURRENT_TIMESTAMP");
                t.column("g").defaults(to: Date(timeIntervalSince1970: 0))
            }
        }
        stored("collate") {
            try $0.create(table: "thing") { t in
                t.column("a", .text).collate(.nocase); t.column("b", .text).collate(.rtrim).notNull();
                t.column("c", .text).collate(.localizedCaseInsensitiveCompare)
            }
        }
        stored("check") {
            try $0.create(table: "thing") { t in
                t.column("a").check { $0 > 0 && $0 < 10 }; t.column("b").check(sql: "LENGTH(b) > 2");
                t.column("c").check { ["x", "y"].contains($0) }
                t.check(Column("a") != Column("b")); t.check(sql: "a + b > 1");
                t.column("d").check { length($0) >= 3 }
            }
        }
        stored("generated") {
            try $0.create(table: "thing") { t in
                t.column("a"); t.column("b").generatedAs(Column("a") + 1);
                t.column("c", .text).generatedAs(sql: "a || 'x'", .stored);
                t.column("d").generatedAs(Column("a").uppercased)
            }
        }
        stored("indexed") {
            try $0.create(table: "thing") { t in
                t.column("a").indexed(); t.column("b", .integer).notNull().indexed();
                t.column("c").unique().indexed()
            }
        }
        stored("references") {
            try $0.create(table: "thing") { t in
                t.column("a").references("owner");
                t.column("b").references(
                    "owner", column: "id", onDelete: .cascade, onUpdate: .setNull, deferred: true)
                t.foreignKey(["a"], references: "owner", columns: ["id"], onDelete: .restrict);
                t.foreignKey(["b"], references: "vault", deferred: true)
            }
        }
        stored("references.composite") {
            try $0.create(table: "thing") { t in
                t.column("v"); t.column("o"); t.foreignKey(["v", "o"], references: "share")
            }
        }
        stored("references.self") {
            try $0.create(table: "thing") { t in
                t.autoIncrementedPrimaryKey("id"); t.column("parent").references("thing")
            }
        }
        stored("belongsTo") {
            try $0.create(table: "thing") { t in
                t.autoIncrementedPrimaryKey("id"); t.belongsTo("owner");
                t.belongsTo("safe", inTable: "vault", onDelete: .cascade).notNull()
                t.belongsTo("partner", inTable: "owner", onUpdate: .cascade, deferred: true, indexed: false)
                    .unique();
                t.belongsTo("share")
            }
        }
        stored("belongsTo.key") {
            try $0.create(table: "thing") { t in
                t.primaryKey {
                    t.belongsTo("owner"); t.belongsTo("vault")
                }
            }
        }
        stored("belongsTo.missing") { try $0.create(table: "thing") { t in t.belongsTo("nowhere") } }
        stored("constraint") {
            try $0.create(table: "thing") { t in
                t.column("a"); t.constraint(sql: "CHECK (a > 1)"); t.constraint(literal: "CHECK (a < \(10))");
                t.column(sql: "b INTEGER DEFAULT 3"); t.column(literal: "c DEFAULT \("x")")
            }
        }
        stored("names") {
            try $0.create(table: "thing") { t in
                t.column("order"); t.column("select it"); t.column("Ä")
            }
        }
        stored("ifNotExists.old") {
            try $0.create(table: "thing", ifNotExists: true, withoutRowID: true) { t in
                t.column("a").primaryKey()
            }
        }
        stored("alter.add") { db in
            try db.alter(table: "owner") { t in
                t.add(column: "a", .text).notNull().defaults(to: "x");
                t.add(column: "b", .integer).references("vault");
                t.addColumn(sql: "c TEXT"); t.addColumn(literal: "d DEFAULT \(4)")
            }
        }
        stored("alter.rename") { db in
            try db.alter(table: "owner") { t in
                t.rename(column: "born", to: "year"); t.drop(column: "year")
            }
        }
        stored("alter.generated") { db in
            try db.alter(table: "owner") { t in t.add(column: "loud").generatedAs(Column("name").uppercased) }
        }
        stored("rename") { try $0.rename(table: "owner", to: "thing") }
        stored("drop") {
            try $0.execute(sql: "CREATE TABLE thing (a)"); try $0.drop(table: "thing")
        }
        stored("drop.missing") { try $0.drop(table: "thing") }
        stored("index") { try $0.create(index: "by_name", on: "owner", columns: ["name", "born"]) }
        stored("index.options") {
            try $0.create(
                index: "by_name", on: "owner", columns: ["name"], options: [.unique, .ifNotExists],
                condition: Column("born") > 1900 && Column("email") != nil)
        }
        stored("index.expressions") {
            try $0.create(
                index: "by_name", on: "owner",
                expressions: [Column("name").collating(.nocase), length(Column("email")), Column("born") + 1])
        }
        stored("index.on") { db in
            try db.create(indexOn: "owner", columns: ["name", "born"]);
            try db.create(indexOn: "owner", columns: ["born"], options: .unique)
        }
        stored("index.drop") { db in
            try db.create(indexOn: "owner", columns: ["name"]);
            try db.drop(indexOn: "owner", columns: ["name"]);
            try db.create(index: "x", on: "owner", columns: ["name"]); try db.drop(index: "x")
        }
        stored("index.drop.missing") { try $0.drop(indexOn: "owner", columns: ["name"]) }
        stored("index.old") {
            try $0.create(index: "by_name", on: "owner", columns: ["name"], unique: true, ifNotExists: true)
        }
        stored("view") {
            try $0.create(
                view: "v",
                as: Item.filter(Column("size") > 10).select(Column("id"), (Column("size") + 1).forKey("more"))
            )
        }
        stored("view.options") {
            try $0.create(
                view: "v", options: [.ifNotExists, .temporary], columns: ["a", "b"],
                as: Item.select(Column("id"), Column("title")).order(Column("title").collating(.nocase)))
        }
        stored("view.literal") {
            try $0.create(view: "v", asLiteral: "SELECT * FROM item WHERE title = \("Bank") AND size > \(1)")
        }
        stored("view.join") {
            try $0.create(
                view: "v",
                as: Vault.annotated(withRequired: Vault.owner.select(Column("name").forKey("ownerName"))))
        }
        stored("view.aggregate") {
            try $0.create(
                view: "v", as: Vault.annotated(with: Vault.items.count).having(Vault.items.count > 0))
        }
        stored("view.sql") { try $0.create(view: "v", as: SQLRequest<Row>("SELECT \(1) AS a")) }
        stored("view.drop") { db in
            try db.create(view: "v", as: Item.all()); try db.drop(view: "v")
        }
        stored("reindex") { db in
            try db.reindex(collation: .nocase); try db.reindex(collation: .localizedCompare)
        }

        area.call("tableExists") { db in
            try [
                db.tableExists("owner"), db.tableExists("OWNER"), db.tableExists("nope"),
                db.viewExists("pinned"), db.tableExists("pinned"),
                db.triggerExists("x"),
            ]
        }
        area.call("columns") { db in
            try ["owner", "item", "share", "pinned", "loose"].flatMap { table in
                try db.columns(in: table).map {
                    "\(table).\($0.name) \($0.type) \($0.isNotNull) \($0.defaultValueSQL ?? "-") "
                        + "\($0.primaryKeyIndex)"
                }
            }
        }
        area.call("columns.missing") { db in try db.columns(in: "nope").count }
        area.call("primaryKey.info") { db in
            try ["owner", "share", "tag", "loose", "profile"].map { table in
                let key = try db.primaryKey(table)
                return "\(table) \(key.columns) \(key.rowIDColumn ?? "-") \(key.isRowID)"
            }
        }
        area.call("primaryKey.view") { db in try db.primaryKey("pinned") }
        area.call("primaryKey.missing") { db in try db.primaryKey("nope") }
        area.call("uniqueKey") { db in
            try [["id"], ["email"], ["ID"], ["name"], ["email", "name"], ["rowid"], ["vaultId", "ownerId"]]
                .map { columns in
                    "\(columns) \(try db.table("owner", hasUniqueKey: columns)) "
                        + "\(try db.table("share", hasUniqueKey: columns))"
                }
        }
        area.call("indexes") { db in
            try ["owner", "item", "share", "tag"].flatMap { table in
                try db.indexes(on: table).sorted { $0.name < $1.name }.map {
                    "\(table) \($0.name) \($0.columns) \($0.isUnique) \($0.origin.rawValue)"
                }
            }
        }
        area.call("foreignKeys") { db in
            try ["vault", "share", "folder", "transfer", "owner"].flatMap { table in
                try db.foreignKeys(on: table).map {
                    "\(table) \($0.id) \($0.destinationTable) "
                        + "\($0.mapping.map { "\($0.origin)>\($0.destination)" }) \($0.originColumns) "
                        + "\($0.destinationColumns)"
                }
            }
        }
        area.bare("violations") { db in
            try db.execute(
                sql:
                    "PRAGMA foreign_keys = OFF; INSERT INTO attachment VALUES (9, 99, 'x', NULL); INSERT "
                    + "INTO share VALUES (99, 1, 'x')"
            )
            let all = try Array(db.foreignKeyViolations()).map {
                "\($0.originTable) \($0.originRowID as Any) \($0.destinationTable) \($0.foreignKeyId) \($0)"
            }
            let one = try Array(db.foreignKeyViolations(in: "share")).map { try $0.failureDescription(db) }
            return all + one
        }
        area.bare("violations.check") { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; INSERT INTO attachment VALUES (9, 99, 'x', NULL)")
            try db.checkForeignKeys(in: "share")
            try db.checkForeignKeys()
        }
        area.call("check.missing") { db in try db.checkForeignKeys(in: "nope") }
        area.bare("attached") { db in
            try db.execute(sql: "CREATE TEMP TABLE owner (x)")
            return try [
                db.columns(in: "owner").map(\.name), db.columns(in: "owner", in: "main").map(\.name),
                db.columns(in: "owner", in: "temp").map(\.name),
            ]
        }
        area.call("schema.unknown") { db in try db.columns(in: "owner", in: "nope").count }
        area.call("schema.source") { db in
            try db.withSchemaSource(PinnedSource()) {
                [
                    try db.primaryKey("pinned").columns,
                    [try Table("pinned").filter(key: 3).fetchCount(db).description],
                    try Table("pinned").all().withStableOrder().makePreparedRequest(db).statement.columnNames,
                ]
            }
        }
    }
}

private struct PinnedSource: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        view.name == "pinned" ? ["id"] : nil
    }
}
