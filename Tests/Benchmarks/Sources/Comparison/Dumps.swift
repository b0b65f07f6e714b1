import Foundation

/// A stream that stores its output.
private final class TextStream: TextOutputStream {
    var text = ""
    func write(_ string: String) { text += string }
}

extension Comparison {
    /// Dumps in all formats.
    static func dumps(_ area: Area) {
        func dumped(_ name: String, _ body: @escaping (Database, any TextOutputStream) throws -> Void) {
            area.call(name) { db in
                let stream = TextStream()
                let failure: String?
                do { try body(db, stream); failure = nil } catch { failure = Text.text(of: error) }
                return stream.text.components(separatedBy: "\n") + [failure].compactMap { $0 }
            }
        }
        let odd: SQL = """
            SELECT 1 AS id, NULL AS n, x'5B5D' AS b, 'a' || char(10) || 'b' AS text UNION ALL SELECT 2, 1.5, \
            x'80', 'it''s'
            UNION ALL SELECT -3, 1e999, x'', '' UNION ALL SELECT 4, 2.0, \
            x'000102030405060708090a0b0c0d0e0f', 'é"\\'
            """
        let none: SQL = "SELECT 1 AS a WHERE 0"
        func formats(_ name: String, _ sql: SQL) {
            dumped("debug." + name) { try $0.dumpSQL(sql, to: $1) }
            dumped("debug.header." + name) {
                try $0.dumpSQL(sql, format: .debug(header: true, separator: "~", nullValue: "NIL"), to: $1)
            }
            dumped("list." + name) {
                try $0.dumpSQL(sql, format: .list(header: true, nullValue: "-"), to: $1)
            }
            dumped("line." + name) { try $0.dumpSQL(sql, format: .line(nullValue: "-"), to: $1) }
            dumped("quote." + name) {
                try $0.dumpSQL(sql, format: .quote(header: true, separator: ";"), to: $1)
            }
            dumped("json." + name) { try $0.dumpSQL(sql, format: .json(), to: $1) }
        }
        formats("values", odd)
        formats("none", none)
        formats(
            "many",
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (\(1), \("x")); SELECT * FROM t; SELECT a AS a, a "
                + "AS a FROM t"
        )
        dumped("json.pretty") { db, stream in
            let encoder = JSONDumpFormat.defaultEncoder
            encoder.outputFormatting = .prettyPrinted
            try db.dumpSQL(
                "SELECT 1 AS id, NULL AS n UNION ALL SELECT 2, 'x/y'", format: .json(encoder: encoder),
                to: stream)
        }
        dumped("error") { try $0.dumpSQL("SELECT 1; SELECT * FROM nowhere", to: $1) }
        dumped("defaults") {
            try $0.dumpSQL("SELECT 1.0, -0.5, 1e15, 1e16, 0.1, 123456789012", format: .quote(), to: $1)
        }

        dumped("request") { try $0.dumpRequest(Item.order(Column("id")), to: $1) }
        dumped("request.filter") {
            try $0.dumpRequest(
                Item.filter(Column("size") > 20).select(Column("title")), format: .line(), to: $1)
        }
        dumped("request.join") {
            try $0.dumpRequest(
                Vault.including(optional: Vault.owner).orderByPrimaryKey(), format: .debug(header: true),
                to: $1)
        }
        dumped("request.prefetch") {
            try $0.dumpRequest(
                Owner.orderByPrimaryKey().including(all: Owner.vaults.orderByPrimaryKey()), to: $1)
        }
        dumped("request.prefetch.nested") {
            try $0.dumpRequest(
                Owner.orderByPrimaryKey().including(
                    all: Owner.vaults.including(all: Vault.items.select(Column("title")))), format: .json(),
                to: $1)
        }
        dumped("request.prefetch.one") {
            try $0.dumpRequest(
                Item.including(required: Item.vault.including(all: Vault.shares)),
                format: .quote(header: true), to: $1)
        }
        dumped("request.prefetch.through") {
            try $0.dumpRequest(Owner.orderByPrimaryKey().including(all: Owner.items), to: $1)
        }
        dumped("request.prefetch.composite") {
            let others = Table("share").hasMany(
                Table("share"), key: "others",
                using: ForeignKey(["vaultId", "ownerId"], to: ["vaultId", "ownerId"]))
            try $0.dumpRequest(Table("share").including(all: others), to: $1)
        }
        dumped("request.prefetch.none") {
            try $0.dumpRequest(Owner.none().including(all: Owner.vaults), to: $1)
        }
        dumped("request.sql") { try $0.dumpRequest(SQLRequest<Row>("SELECT \(1) AS a"), to: $1) }

        dumped("tables.one") { try $0.dumpTables(["owner"], to: $1) }
        dumped("tables.one.header") { try $0.dumpTables(["owner"], tableHeader: .always, to: $1) }
        dumped("tables.two") { try $0.dumpTables(["owner", "vault"], format: .list(), to: $1) }
        dumped("tables.key") { try $0.dumpTables(["share", "tag", "loose"], to: $1) }
        dumped("tables.view") { try $0.dumpTables(["pinned"], to: $1) }
        dumped("tables.view.stable") { try $0.dumpTables(["pinned"], stableOrder: true, to: $1) }
        dumped("tables.unknown") { try $0.dumpTables(["nowhere"], to: $1) }
        dumped("tables.json") { try $0.dumpTables(["attachment", "tag"], format: .json(), to: $1) }
        dumped("tables.quote") { try $0.dumpTables(["attachment", "loose"], format: .quote(), to: $1) }
        dumped("tables.line") { try $0.dumpTables(["attachment"], format: .line(), to: $1) }
        dumped("schema") { try $0.dumpSchema(to: $1) }
        dumped("content") { try $0.dumpContent(to: $1) }
        dumped("content.json") { try $0.dumpContent(format: .json(), to: $1) }
        dumped("content.fullText") { db, stream in
            try db.create(virtualTable: "vaultText", using: FTS4()) {
                $0.synchronize(withTable: "vault"); $0.column("title")
            }
            try db.dumpContent(to: stream)
        }
        dumped("content.fullText.five") { db, stream in
            try db.create(virtualTable: "vaultText", using: FTS5()) {
                $0.synchronize(withTable: "vault"); $0.column("title")
            }
            try db.create(table: "grdb_migrations") { $0.primaryKey("identifier", .text) }
            try db.dumpSchema(to: stream)
        }
        area.fresh("empty") { writer in
            let stream = TextStream()
            try writer.dumpContent(to: stream)
            return stream.text.components(separatedBy: "\n")
        }
        area.sample("reader") { writer in
            let stream = TextStream()
            try writer.dumpSQL("SELECT COUNT(*) FROM item", to: stream)
            try writer.dumpRequest(Owner.select(Column("name")).order(Column("name")), to: stream)
            try writer.dumpTables(["profile"], to: stream)
            try writer.dumpSchema(to: stream)
            return stream.text.components(separatedBy: "\n")
        }
    }
}
