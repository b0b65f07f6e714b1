import Foundation

extension Comparison {
    private static func text(_ migrator: DatabaseMigrator, _ db: Database) throws -> [String] {
        [
            "migrations \(migrator.migrations)", "applied \(try migrator.appliedMigrations(db))",
            "identifiers \(try migrator.appliedIdentifiers(db).sorted())",
            "completed \(try migrator.completedMigrations(db)) \(try migrator.hasCompletedMigrations(db))",
            "superseded \(try migrator.hasBeenSuperseded(db))",
        ]
    }

    private static func objects(_ db: Database) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master ORDER BY name").map(\.description)
    }

    static func migrations(_ area: Area) {
        func migrator(_ count: Int) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            let bodies: [@Sendable (Database) throws -> Void] = [
                {
                    try $0.create(table: "owner") { t in
                        t.autoIncrementedPrimaryKey("id"); t.column("name", .text).notNull().collate(.nocase)
                    }
                },
                {
                    try $0.create(table: "vault") { t in
                        t.autoIncrementedPrimaryKey("id"); t.belongsTo("owner", onDelete: .cascade).notNull()
                    }
                },
                { try $0.alter(table: "owner") { t in t.add(column: "email", .text) } },
                {
                    try $0.create(
                        view: "named",
                        as: Table("owner").filter(Column("email") != nil).select(
                            Column("id"), (Column("id") + 1).forKey("next")))
                },
            ]
            for (index, body) in bodies.prefix(count).enumerated() {
                migrator.registerMigration("v\(index + 1)", migrate: body)
            }
            return migrator
        }

        area.fresh("all") { writer in
            try migrator(4).migrate(writer)
            return try writer.read { try text(migrator(4), $0) + objects($0) }
        }
        area.fresh("upTo") { writer in
            try migrator(4).migrate(writer, upTo: "v2")
            return try writer.read { try text(migrator(4), $0) + objects($0) }
        }
        area.fresh("none") { writer in try writer.read { try text(migrator(3), $0) } }
        area.fresh("later") { writer in
            try migrator(2).migrate(writer)
            let before = try writer.read { try text(migrator(4), $0) }
            try migrator(4).migrate(writer)
            return before + (try writer.read { try text(migrator(4), $0) })
        }
        area.fresh("superseded") { writer in
            try migrator(4).migrate(writer)
            return try writer.read { try text(migrator(2), $0) }
        }
        area.fresh("beyond.known") { writer in
            try migrator(4).migrate(writer)
            try migrator(2).migrate(writer)
            return try writer.read { try text(migrator(4), $0) }
        }
        area.fresh("twice") { writer in
            try migrator(4).migrate(writer)
            try writer.write { try $0.execute(sql: "INSERT INTO owner (name) VALUES ('x')") }
            try migrator(4).migrate(writer)
            return try writer.read { try Row.fetchAll($0, sql: "SELECT * FROM owner") }
        }
        area.fresh("changes") { writer in
            try migrator(4).migrate(writer)
            let same = try writer.read { try migrator(4).hasSchemaChanges($0) }
            try writer.write { try $0.execute(sql: "CREATE TABLE extra (a)") }
            return [same, try writer.read { try migrator(4).hasSchemaChanges($0) }]
        }
        area.fresh("erase") { writer in
            try migrator(2).migrate(writer)
            try writer.write { try $0.execute(sql: "INSERT INTO owner (name) VALUES ('x')") }
            var erasing = migrator(4)
            erasing.eraseDatabaseOnSchemaChange = true
            try erasing.migrate(writer)
            let kept = try writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM owner") }
            try writer.write { try $0.execute(sql: "CREATE TABLE extra (a)") }
            try erasing.migrate(writer)
            return (
                kept,
                try writer.read {
                    (try $0.tableExists("extra"), try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM owner"))
                }
            )
        }
        area.fresh("fails") { writer in
            var migrator = migrator(2)
            migrator.registerMigration("bad") { db in
                try db.execute(sql: "CREATE TABLE half (a)")
                try db.execute(sql: "INSERT INTO nowhere VALUES (1)")
            }
            var lines: [String] = []
            do { try migrator.migrate(writer) } catch { lines = Text.lines(of: error) }
            return lines + (try writer.read { try text(migrator, $0) + objects($0) })
        }
        for checks in [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate] {
            area.fresh("foreignKeys.\(checks)") { writer in
                var migrator = migrator(2)
                migrator.registerMigration("bad", foreignKeyChecks: checks) { db in
                    try db.execute(sql: "INSERT INTO vault (ownerId) VALUES (99)")
                }
                var lines: [String] = []
                do { try migrator.migrate(writer) } catch { lines = Text.lines(of: error) }
                return lines + (try writer.read { try text(migrator, $0) })
            }
            area.fresh("recreate.\(checks)") { writer in
                var migrator = migrator(2)
                migrator.registerMigration("fill") { db in
                    try db.execute(
                        sql: "INSERT INTO owner (name) VALUES ('x'); INSERT INTO vault (ownerId) VALUES (1)")
                }
                migrator.registerMigration("recreate", foreignKeyChecks: checks) { db in
                    try db.create(table: "new_owner") { t in
                        t.autoIncrementedPrimaryKey("id"); t.column("name", .text)
                    }
                    try db.execute(sql: "INSERT INTO new_owner SELECT * FROM owner")
                    try db.drop(table: "owner")
                    try db.rename(table: "new_owner", to: "owner")
                }
                try migrator.migrate(writer)
                return try writer.read {
                    try objects($0) + ["\(try Int.fetchAll($0, sql: "SELECT COUNT(*) FROM vault"))"]
                }
            }
        }
        area.fresh("disabled.checks") { writer in
            var migrator = migrator(2).disablingDeferredForeignKeyChecks()
            migrator.registerMigration("bad") { db in
                try db.execute(sql: "INSERT INTO vault (ownerId) VALUES (99)")
            }
            try migrator.migrate(writer)
            return try writer.read { try text(migrator, $0) }
        }
        area.fresh("merged") { writer in
            var old = DatabaseMigrator()
            old.registerMigration("a") { try $0.execute(sql: "CREATE TABLE a (x)") }
            old.registerMigration("b") { try $0.execute(sql: "CREATE TABLE b (x)") }
            try old.migrate(writer, upTo: "a")
            var merged = DatabaseMigrator()
            let seen = Lines()
            merged.registerMigration("ab", merging: ["a", "b"]) { db, applied in
                seen.add("applied \(applied.sorted())")
                if !applied.contains("b") { try db.execute(sql: "CREATE TABLE b (x)") }
            }
            let before = try writer.read { try text(merged, $0) }
            try merged.migrate(writer)
            return before + seen.all + (try writer.read { try text(merged, $0) + objects($0) })
        }
        area.fresh("merged.fresh") { writer in
            var merged = DatabaseMigrator()
            let seen = Lines()
            merged.registerMigration("ab", merging: ["a", "b"]) { _, applied in
                seen.add("applied \(applied.sorted())")
            }
            try merged.migrate(writer)
            return seen.all + (try writer.read { try text(merged, $0) })
        }
        area.fresh("merged.complete") { writer in
            var old = DatabaseMigrator()
            old.registerMigration("a") { _ in }
            old.registerMigration("b") { _ in }
            try old.migrate(writer)
            var merged = DatabaseMigrator()
            let seen = Lines()
            merged.registerMigration("ab", merging: ["a", "b"]) { _, applied in
                seen.add("applied \(applied.sorted())")
            }
            try merged.migrate(writer)
            return seen.all + (try writer.read { try text(merged, $0) })
        }
        area.fresh("order") { writer in
            var migrator = DatabaseMigrator()
            let seen = Lines()
            for name in ["b", "a", "c"] {
                migrator.registerMigration(name) { db in seen.add("\(name) \(db.isInsideTransaction)") }
            }
            try migrator.migrate(writer)
            return seen.all + (try writer.read { try text(migrator, $0) })
        }
        area.fresh("skipped") { writer in
            var first = DatabaseMigrator()
            first.registerMigration("a") { _ in }
            first.registerMigration("c") { _ in }
            try first.migrate(writer)
            var migrator = DatabaseMigrator()
            let seen = Lines()
            for name in ["a", "b", "c", "d"] { migrator.registerMigration(name) { _ in seen.add(name) } }
            try migrator.migrate(writer)
            return seen.all + (try writer.read { try text(migrator, $0) })
        }
        area.fresh("wait") { writer in
            let done = DispatchSemaphore(value: 0), lines = Lines()
            migrator(2).asyncMigrate(writer) { result in
                lines.add("\((try? result.get().tableExists("vault")) as Any)")
                done.signal()
            }
            done.wait()
            return lines.all
        }
        area.fresh("traced") { writer in
            let lines = Lines()
            try writer.writeWithoutTransaction { db in
                db.trace { lines.add("sql: \(Text.oneLine($0.expandedDescription))") }
            }
            try migrator(2).migrate(writer)
            try writer.writeWithoutTransaction { db in db.trace(options: [], nil) }
            return lines.all
        }
    }
}
