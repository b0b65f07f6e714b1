import Foundation

extension Comparison {
    /// Files written by each library, in which the other library must find the schema of the same migrations.
    enum History {
        /// Migrations with each kind of definition, whose stored SQL is the same only if both libraries
        /// generate the same text.
        static var migrator: DatabaseMigrator {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("tables") { db in
                try db.create(table: "owner") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull().collate(.nocase).check { length($0) > 0 }
                    t.column("email", .text).unique(onConflict: .abort).collate(
                        .localizedCaseInsensitiveCompare)
                    t.column("created", .datetime).notNull(onConflict: .abort).defaults(
                        sql: "CURRENT_TIMESTAMP")
                    t.column("kind", .text).defaults(to: "it's").check { ["x", "it's"].contains($0) }
                }
                try db.create(table: "vault") { t in
                    t.primaryKey("uuid", .blob)
                    t.belongsTo("owner", onDelete: .cascade).notNull()
                    t.belongsTo("keeper", inTable: "owner", indexed: false)
                    t.column("info", .jsonText)
                    t.column("country", .text).generatedAs(JSONColumn("info")["country"]).indexed()
                }
                try db.create(table: "share", options: .withoutRowID) { t in
                    t.primaryKey {
                        t.belongsTo("owner"); t.belongsTo("vault", onDelete: .cascade)
                    }
                    t.column("until", .integer).check { $0 > 0 || $0 == nil }
                    t.uniqueKey(["until"], onConflict: .replace)
                }
            }
            migrator.registerMigration("indexes") { db in
                try db.create(indexOn: "owner", columns: ["name", "created"])
                try db.create(
                    index: "lower", on: "owner",
                    expressions: [Column("name").lowercased, Column("email").collating(.nocase)],
                    condition: Column("email") != nil && Column("kind") == "x")
                try db.create(
                    index: "json", on: "vault", expressions: [JSONColumn("info").jsonExtract(atPath: "$.a")])
            }
            migrator.registerMigration("views") { db in
                try db.create(
                    view: "named",
                    as: Table("owner").filter(Column("email").collating(.nocase) != "x").select(
                        Column("id"), (Column("id") + 1).forKey("next")))
                try db.create(
                    view: "kept", columns: ["a", "b"],
                    as: Table("owner").filter(
                        [1, 2].contains(Column("id")) || (1...3).contains(Column("id"))
                    ).select(
                        Column("id"), Column("name")
                    ).order(Column("name").collating(.nocase).desc))
                try db.create(
                    view: "joined",
                    as: Table("vault").annotated(
                        withRequired: Table("vault").belongsTo(Table("owner"), using: ForeignKey(["ownerId"]))
                            .select(
                                Column("name").forKey("ownerName"))))
                try db.create(
                    view: "literal",
                    asLiteral: "SELECT \(Column("id") * 2) AS d FROM owner WHERE name = \("it's")")
            }
            migrator.registerMigration("changes") { db in
                try db.alter(table: "owner") { t in
                    t.add(column: "score", .double).notNull().defaults(to: 0.5)
                    t.add(column: "loud", .text).generatedAs(Column("name").uppercased)
                    t.rename(column: "kind", to: "sort")
                }
                try db.create(virtualTable: "ownerText", using: FTS5()) { t in
                    t.synchronize(withTable: "owner")
                    t.tokenizer = .porter(wrapping: .unicode61())
                    t.column("name")
                }
                try db.create(virtualTable: "vaultText", using: FTS4()) { t in
                    t.tokenizer = .unicode61(diacritics: .remove)
                    t.column("title").notIndexed()
                    t.column("body")
                }
            }
            return migrator
        }

        static func fill(_ writer: any DatabaseWriter) throws {
            try migrator.migrate(writer)
            try writer.write { db in
                try db.execute(
                    sql:
                        "INSERT INTO owner (name, email, sort) VALUES ('Ann', 'ann@example.com', 'x'), "
                        + "('bob', NULL, 'it''s')"
                )
                try db.execute(
                    sql: #"INSERT INTO vault (uuid, ownerId, info) VALUES (x'01', 1, '{"country":"DE"}')"#)
            }
        }

        static func found(_ migrator: DatabaseMigrator, _ writer: any DatabaseWriter, table: String) throws
            -> [String]
        {
            guard try !writer.read({ try migrator.hasSchemaChanges($0) }) else {
                return ["changes: it would be erased"]
            }
            var erasing = migrator
            erasing.eraseDatabaseOnSchemaChange = true
            try erasing.migrate(writer)
            return [
                "no changes", "rows kept: \(try writer.read { try Table(table).fetchCount($0) > 0 })",
                "complete: \(try writer.read { try migrator.hasCompletedMigrations($0) })",
            ]
        }
    }

    /// Writes the files.
    static func writeHistory(_ databases: Databases) throws {
        let history = try databases.open(
            databases.folder + "/history-\(Library.name).db", databases.configuration)
        try History.fill(history)
        try history.close()
        let book = try databases.open(databases.folder + "/book-\(Library.name).db", databases.configuration)
        try AddressBook(writer: book) { Output.write("  " + $0) }.run()
        try book.close()
    }

    /// Opens the files of both libraries.
    static func reopenHistory(_ databases: Databases) throws {
        for library in ["grdb", "coffer"] {
            Output.write("# history.\(library)")
            let history = try databases.open(
                databases.folder + "/history-\(library).db", databases.configuration)
            for line in try History.found(History.migrator, history, table: "owner") {
                Output.write("  " + line)
            }
            try history.close()
            Output.write("# book.\(library)")
            let book = try databases.open(databases.folder + "/book-\(library).db", databases.configuration)
            for line in try History.found(AddressBookMigrations.migrator, book, table: "contact") {
                Output.write("  " + line)
            }
            try book.close()
        }
    }
}
