import Coffer
import Testing

@Suite("Tables that belong to others")
struct BelongsToTests {
    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TABLE countries (code TEXT PRIMARY KEY);
        CREATE TABLE hidden (x);
        CREATE TABLE pair (a INTEGER, bigName VARCHAR(10), PRIMARY KEY (a, bigName));
        CREATE TABLE city (_id BLOB PRIMARY KEY);
        CREATE TABLE noType (id PRIMARY KEY);
        """

    @Test("columns have the name and the type of the key that they refer to")
    func columns() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(table: "p") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("team")
                t.belongsTo("country").notNull()
                t.belongsTo("hidden", onDelete: .cascade, onUpdate: .setNull, deferred: true)
                t.belongsTo("pair", indexed: false)
                t.belongsTo("city").unique()
                t.belongsTo("boss", inTable: "team", indexed: false).notNull(onConflict: .replace)
                t.belongsTo("noType")
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE "p" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "teamId" INTEGER REFERENCES \
                "team"("id"), "countryCode" TEXT NOT NULL REFERENCES "countries"("code"), "hiddenId" INTEGER \
                REFERENCES "hidden"("rowid") ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY \
                DEFERRED, "pairA" INTEGER, "pairBigName" VARCHAR(10), "city_id" BLOB UNIQUE REFERENCES \
                "city"("_id"), "bossId" INTEGER NOT NULL ON CONFLICT REPLACE REFERENCES "team"("id"), \
                "noTypeId" REFERENCES "noType"("id"), FOREIGN KEY ("pairA", "pairBigName") REFERENCES \
                "pair"("a", "bigName"))
                """,
                #"CREATE INDEX "p_on_teamId" ON "p"("teamId")"#,
                #"CREATE INDEX "p_on_countryCode" ON "p"("countryCode")"#,
                #"CREATE INDEX "p_on_hiddenId" ON "p"("hiddenId")"#,
                #"CREATE INDEX "p_on_noTypeId" ON "p"("noTypeId")"#,
            ])
    }

    @Test("a reference to a composite key has several columns, one foreign key and one index")
    func compositeKeys() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(table: "p", options: .ifNotExists) { t in
                t.belongsTo("pair").notNull().unique()
                t.belongsTo("other", inTable: "pair", onDelete: .cascade)
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE IF NOT EXISTS "p" ("pairA" INTEGER NOT NULL, "pairBigName" VARCHAR(10) NOT \
                NULL, "otherA" INTEGER, "otherBigName" VARCHAR(10), FOREIGN KEY ("pairA", "pairBigName") \
                REFERENCES "pair"("a", "bigName"), FOREIGN KEY ("otherA", "otherBigName") REFERENCES \
                "pair"("a", "bigName") ON DELETE CASCADE)
                """,
                #"CREATE UNIQUE INDEX IF NOT EXISTS "index_p_on_pairA_pairBigName" ON "p"("pairA", "pairBigName")"#,
                #"CREATE INDEX IF NOT EXISTS "index_p_on_otherA_otherBigName" ON "p"("otherA", "otherBigName")"#,
            ])
    }

    @Test("in a primary key, columns are not NULL and have no index of their own")
    func inPrimaryKey() throws {
        let sql = try recordedSQL(after: Self.schema) { (db) throws in
            try db.create(table: "p") { t in
                t.primaryKey {
                    t.belongsTo("team")
                    t.belongsTo("pair")
                    t.column("c", .text)
                }
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE "p" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "pairA" INTEGER NOT \
                NULL, "pairBigName" VARCHAR(10) NOT NULL, "c" TEXT NOT NULL, PRIMARY KEY ("teamId", "pairA", \
                "pairBigName", "c"), FOREIGN KEY ("pairA", "pairBigName") REFERENCES "pair"("a", "bigName"))
                """
            ])
    }

    @Test("a table can refer to its own rows, wherever its primary key is declared")
    func selfReferences() throws {
        let sql = try recordedSQL { (db) throws in
            try db.create(table: "employee") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("manager", inTable: "employee", onDelete: .setNull, indexed: false)
                t.column("deputy").references("employee")
            }
            try db.create(table: "node") { t in
                t.belongsTo("parent", inTable: "NODE", indexed: false)
                t.primaryKey("code", .text)
            }
            try db.create(table: "entries") { t in
                t.belongsTo("entry", indexed: false)
                t.column("x")
            }
            try db.create(table: "pair") { t in
                t.primaryKey {
                    t.belongsTo("employee")
                    t.column("b", .blob)
                }
                t.belongsTo("pair", indexed: false)
                t.column("x")
                t.column("y")
                t.foreignKey(["x", "y"], references: "pair")
            }
        }
        #expect(
            sql == [
                """
                CREATE TABLE "employee" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "managerId" INTEGER \
                REFERENCES "employee"("id") ON DELETE SET NULL, "deputy" REFERENCES "employee"("id"))
                """,
                #"CREATE TABLE "node" ("parentCode" TEXT REFERENCES "node"("code"), "code" TEXT PRIMARY KEY NOT NULL)"#,
                #"CREATE TABLE "entries" ("entryId" INTEGER REFERENCES "entries"("rowid"), "x")"#,
                """
                CREATE TABLE "pair" ("employeeId" INTEGER NOT NULL REFERENCES "employee"("id"), "b" BLOB NOT \
                NULL, "pairEmployeeId" INTEGER, "pairB" BLOB, "x", "y", PRIMARY KEY ("employeeId", "b"), \
                FOREIGN KEY ("pairEmployeeId", "pairB") REFERENCES "pair"("employeeId", "b"), FOREIGN KEY \
                ("x", "y") REFERENCES "pair"("employeeId", "b"))
                """,
            ])
    }

    @Test("a primary key that refers to itself is an error", arguments: ["node", "nodes"])
    func endlessSelfReference(table: String) throws {
        let error = try databaseError { db in
            try db.create(table: table) { t in t.primaryKey { t.belongsTo("node") } }
        }
        #expect(error?.message == "the primary key of table \"\(table)\" refers to itself")
    }

    @Test("the table has the name, or its plural, and never its singular")
    func inflection() throws {
        let schema = """
            CREATE TABLE mouse (id INTEGER PRIMARY KEY); CREATE TABLE mice (id TEXT PRIMARY KEY);
            CREATE TABLE people (uuid BLOB PRIMARY KEY); CREATE TABLE team (id INTEGER PRIMARY KEY);
            """
        let sql = try recordedSQL(after: schema) { (db) throws in
            try db.create(table: "a") { $0.belongsTo("mouse", indexed: false) }
            try db.create(table: "b") { $0.belongsTo("mice", indexed: false) }
            try db.create(table: "c") { $0.belongsTo("person", indexed: false) }
            try db.create(table: "d") { $0.belongsTo("TEAM", indexed: false) }
        }
        #expect(
            sql == [
                #"CREATE TABLE "a" ("mouseId" INTEGER REFERENCES "mouse"("id"))"#,
                #"CREATE TABLE "b" ("miceId" TEXT REFERENCES "mice"("id"))"#,
                #"CREATE TABLE "c" ("personUuid" BLOB REFERENCES "people"("uuid"))"#,
                #"CREATE TABLE "d" ("TEAMId" INTEGER REFERENCES "TEAM"("id"))"#,
            ])
        let error = try databaseError(after: schema) { db in
            try db.create(table: "e") { $0.belongsTo("teams") }
        }
        #expect(error?.message == "no such table: teams")
    }

    @Test("tables that do not exist, and views, cannot be referred to without the name of the column")
    func missingTables() throws {
        let schema = "CREATE VIEW v AS SELECT 1 AS id"
        #expect(
            try databaseError(after: schema) { db in try db.create(table: "t") { $0.belongsTo("v") } }?
                .message == "no such table: v")
        #expect(
            try databaseError { db in try db.create(table: "t") { $0.column("a").references("nowhere") } }?
                .message
                == "no such table: nowhere")
        #expect(
            try recordedSQL { db in
                try db.create(table: "t") { $0.column("a").references("nowhere", column: "b") }
            }
                == [#"CREATE TABLE "t" ("a" REFERENCES "nowhere"("b"))"#])
    }

    @Test("a single column cannot reference a composite key")
    func mismatch() throws {
        let error = try databaseError(after: Self.schema) { db in
            try db.create(table: "t") { $0.column("a").references("pair") }
        }
        #expect(error?.message == #"foreign key on a should reference only one column of table "pair""#)
    }
}
