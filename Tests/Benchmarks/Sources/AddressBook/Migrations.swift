#if GRDB
import GRDB
#else
import Coffer
#endif

enum AddressBookMigrations {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()

        migrator.registerMigration("v1") { db in
            try db.create(table: "circle") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull().unique()
            }
            try db.create(table: "contact") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull()
                t.column("birthday", .datetime)
                t.column("createdAt", .datetime).notNull()
                t.belongsTo("circle", onDelete: .setNull)
            }
        }

        migrator.registerMigration("v2") { db in
            try db.create(table: "phone") { t in
                t.column("contactId", .text).notNull()
                t.column("number", .text).notNull()
            }
            try db.execute(sql: "INSERT INTO phone SELECT hex(id), 'none' FROM contact")
        }

        migrator.registerMigration("v3", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "contact") { t in
                t.add(column: "kind", .text).notNull().defaults(to: "friend").check {
                    ["friend", "family", "colleague"].contains($0)
                }
                t.add(column: "score", .double).notNull().defaults(to: 0.5)
                t.add(column: "isFavorite", .boolean).notNull().defaults(to: false)
                t.add(column: "photo", .blob)
                t.add(column: "tags", .jsonText).notNull().defaults(to: "[]")
                t.add(column: "address", .jsonText)
            }
            try db.alter(table: "circle") { t in
                t.add(column: "color", .text)
            }
            try db.create(indexOn: "contact", columns: ["name"])
            try db.create(
                index: "contact_favorites", on: "contact", expressions: [Column("name").collating(.nocase)],
                condition: Column("isFavorite") == true)
        }

        migrator.registerMigration("v4") { db in
            try db.create(table: "new_phone", options: .withoutRowID) { t in
                t.primaryKey {
                    t.column("contactId", .text)
                    t.column("label", .text)
                }
                t.column("number", .text).notNull().check { length($0) > 2 }
                t.column("verified_at", .integer)
                t.column("digits", .text).generatedAs(sql: "replace(number, ' ', '')", .stored)
                t.uniqueKey(["contactId", "number"])
            }
            try db.execute(sql: "INSERT INTO new_phone SELECT contactId, 'home', number, NULL FROM phone")
            try db.drop(table: "phone")
            try db.rename(table: "new_phone", to: "phone")
            try db.create(
                view: "favorite",
                as: Table("contact").filter(Column("isFavorite") == true).select(Column("id"), Column("name"))
            )
        }

        return migrator
    }()
}
