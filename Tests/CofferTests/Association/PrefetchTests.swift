import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Prefetched associations", .serialized)
struct PrefetchTests {
    @Test("are fetched by one statement each", arguments: GardenStore.allCases)
    func statements(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let base = #"SELECT * FROM "garden""#
            try gardens.expect(
                Garden.including(all: Garden.beds.filter(Column("name") != "").order(Column("name"))), base,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE ("name" <> '') AND ("gardenId" IN (1, 2, 3)) ORDER BY "name""#
            )
            try gardens.expect(
                Garden.including(all: Garden.beds.including(required: Bed.labels)), base,
                #"SELECT "bed".*, "bed"."gardenId" AS "grdb_gardenId", "label".* FROM "bed" JOIN "label" ON "label"."bedId" = "bed"."id" "#
                    + #"WHERE "bed"."gardenId" IN (1, 2, 3)"#)
            try gardens.expect(
                Garden.including(all: Garden.plants.order(Column("height"))), base,
                #"SELECT "plant".*, "bed"."gardenId" AS "grdb_gardenId" FROM "plant" JOIN "bed" ON ("bed"."id" = "plant"."bedId") "#
                    + #"AND ("bed"."gardenId" IN (1, 2, 3)) ORDER BY "plant"."height""#)
            let filtered = Garden.hasMany(
                Plant.self, through: Garden.beds.filter(Column("name") == "x"), using: Bed.plants)
            try gardens.expect(
                Garden.including(all: filtered), base,
                #"SELECT "plant".*, "bed"."gardenId" AS "grdb_gardenId" FROM "plant" JOIN "bed" ON ("bed"."id" = "plant"."bedId") "#
                    + #"AND ("bed"."name" = 'x') AND ("bed"."gardenId" IN (1, 2, 3))"#)
            let other = Garden.hasMany(
                Plant.self, through: Garden.beds.filter(Column("id") > 1), using: Bed.plants)
            try gardens.expect(
                Garden.including(all: filtered).including(all: other), base,
                #"SELECT "plant".*, "bed"."gardenId" AS "grdb_gardenId" FROM "plant" JOIN "bed" ON ("bed"."id" = "plant"."bedId") "#
                    + #"AND ("bed"."name" = 'x') AND ("bed"."id" > 1) AND ("bed"."gardenId" IN (1, 2, 3))"#)
            try gardens.expect(
                Plant.including(required: Plant.bed.including(all: Bed.labels)),
                #"SELECT "plant".*, "bed".* FROM "plant" JOIN "bed" ON "bed"."id" = "plant"."bedId""#,
                #"SELECT "label".*, "bed"."id" AS "grdb_id" FROM "label" JOIN "bed" ON ("bed"."id" = "label"."bedId") "#
                    + #"AND ("bed"."id" IN (1, 2, 3))"#)
            try gardens.expect(
                Room.filter(Column("building") == "B").including(
                    all: Room.hasMany(Desk.self).filter(Column("id") > 5)),
                #"SELECT * FROM "room" WHERE "building" = 'B'"#,
                #"WITH "grdb_base" AS (SELECT "building", "number" FROM "room" WHERE "building" = 'B') "#
                    + #"SELECT *, "building" AS "grdb_building", "number" AS "grdb_number" FROM "desk" "#
                    + #"WHERE ("id" > 5) AND (("building", "number") IN "grdb_base")"#)
            try gardens.expect(Garden.none().including(all: Garden.beds), #"SELECT * FROM "garden" WHERE 0"#)
            try gardens.expect(
                Garden.including(all: Garden.beds.none()), base,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE 0 AND ("gardenId" IN (1, 2, 3))"#
            )
            try gardens.expect(
                Garden.including(all: Garden.beds.select(Column("name")).distinct()), base,
                #"SELECT DISTINCT "name", "gardenId" AS "grdb_gardenId" FROM "bed" WHERE "gardenId" IN (1, 2, 3)"#
            )
            try gardens.expect(
                Garden.including(all: Garden.beds.annotated(with: Bed.plants.count)), base,
                #"SELECT "bed".*, COUNT(DISTINCT "plant"."id") AS "plantCount", "bed"."gardenId" AS "grdb_gardenId" FROM "bed" "#
                    + #"LEFT JOIN "plant" ON "plant"."bedId" = "bed"."id" WHERE "bed"."gardenId" IN (1, 2, 3) GROUP BY "bed"."id""#
            )
            try gardens.expect(
                Garden.filter(key: 2).including(all: Garden.beds), #"SELECT * FROM "garden" WHERE "id" = 2"#,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE "gardenId" = 2"#)
            try gardens.expect(
                Plant.filter(Column("bedId") == nil).including(
                    all: Plant.hasMany(Label.self, through: Plant.bed, using: Bed.labels)),
                #"SELECT * FROM "plant" WHERE "bedId" IS NULL"#,
                #"SELECT "label".*, "bed"."id" AS "grdb_id" FROM "label" JOIN "bed" ON ("bed"."id" = "label"."bedId") AND 0"#
            )
        }
    }

    @Test("contain the associated rows of each row, in the requested order", arguments: GardenStore.allCases)
    func rows(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let rows = try gardens.rows(
                Garden.including(all: Garden.beds.order(Column("name").desc)).order(Column("id")))
            #expect(rows.map { $0.prefetchedRows["beds"]?.map { $0["id"] as Int64 } } == [[2, 1], [3], []])
            #expect(rows[0].prefetchedRows.keys == ["beds"])
            #expect(rows[0].prefetchedRows["beds"]?[0]["grdb_gardenId"] == 1)
            #expect(rows[0].unscoped.prefetchedRows.isEmpty)
            #expect(rows[0].copy().prefetchedRows == rows[0].prefetchedRows)
            #expect(rows[0] != rows[0].unscoped)
            #expect(Array(rows[0].databaseValues) == Array(rows[0].unscoped.databaseValues))
            #expect(rows[0].hashValue == rows[0].unscoped.hashValue)
            let beds: [Bed] = rows[0]["beds"]
            #expect(beds.map(\.name) == ["B", "A"])
            let set: Set<Bed> = rows[0]["beds"]
            #expect(set == Set(beds))
            let error = #expect(throws: RowDecodingError.self) {
                try rows[0].decode([Bed].self, forKey: "nothing")
            }
            #expect(error.map { "\($0)".contains(#"key for prefetched rows not found: "nothing""#) } == true)
        }
    }

    @Test("are available in the scopes of joined rows", arguments: GardenStore.allCases)
    func scopes(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let rows = try gardens.rows(
                Plant.including(optional: Plant.bed.including(all: Bed.labels.order(Column("id")))).order(
                    Column("id")))
            let labels = rows.map { $0.prefetchedRows["labels"]?.map { $0["text"] as String } }
            #expect(labels == [["sunny", "dry"], ["sunny", "dry"], [], ["wet"], []])
            #expect(rows[0].scopes["bed"]?.prefetchedRows["labels"]?.count == 2)
            #expect(
                rows[0].debugDescription == """
                    ▿ [id:1 bedId:1 name:"Rose" height:150]
                      unadapted: [id:1 bedId:1 name:"Rose" height:150 id:1 gardenId:1 name:"A"]
                      - bed: [id:1 gardenId:1 name:"A"]
                        + labels: 2 rows
                      + labels: 2 rows
                    """)
            #expect(rows[4].scopes["bed"]?.containsNonNullValue == false)
            #expect(rows[4]["bed"] as Bed? == nil)
            let error = #expect(throws: RowDecodingError.self) { try rows[4].decode(Bed.self, forKey: "bed") }
            #expect(error.map { "\($0)".contains(#"scope "bed" only contains null values"#) } == true)
        }
    }

    @Test(
        "are fetched in tree order, but not for counts, values and cursors",
        arguments: GardenStore.allCases)
    func order(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let db = gardens.db
            let beds = Garden.beds.including(all: Bed.plants).including(all: Bed.labels)
            let people = Garden.hasMany(Person.self, using: ForeignKey(["id"], to: ["id"]))
            let tables = try gardens.sql(Garden.including(all: beds).including(all: people)).map {
                statement in
                statement.components(separatedBy: " FROM ")[1].split(separator: "\"")[0]
            }
            #expect(tables == ["garden", "bed", "plant", "label", "person"])
            let request = Garden.including(all: Garden.beds)
            #expect(
                try gardens.statements { _ = try Int64.fetchAll(db, request.select(Column("id"))) }.count == 1
            )
            #expect(try gardens.statements { _ = try request.isEmpty(db) }.count == 1)
            #expect(try gardens.statements { _ = try request.filter(key: 9).fetchOne(db) }.count == 1)
            #expect(throws: DatabaseError.self) { try request.fetchCursor(db) }
            #expect(throws: DatabaseError.self) {
                try request.select(Column("name")).asRequest(of: Row.self).fetchAll(db)
            }
            #expect(
                try AnyFetchRequest(request).asRequest(of: Row.self).fetchOne(db)?.prefetchedRows["beds"]?
                    .count == 2)
            let adapted = request.adapted { _ in SuffixRowAdapter(fromIndex: 1) }
            #expect(try Row.fetchOne(db, adapted)?.prefetchedRows["beds"]?.count == 2)
        }
    }

    @Test(
        "work with foreign keys of several columns",
        arguments: GardenStore.allCases)
    func compositeKeys(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let rows = try gardens.rows(
                Room.including(all: Room.desks.order(Column("id"))).order(
                    Column("number"), Column("building")))
            #expect(
                rows.map { $0.prefetchedRows["desks"]?.map { $0["id"] as Int64 } } == [[9], [5], [1, 6, 7]])
            let limited = Room.order(Column("number").desc).limit(1).including(all: Room.desks)
            #expect(
                try gardens.sql(limited)[1].hasPrefix(
                    #"WITH "grdb_base" AS (SELECT "building", "number" FROM "room" ORDER BY "number" DESC LIMIT 1) SELECT"#
                ))
        }
    }

    @Test("are fetched in batches if the rows exceed the parameter limit")
    func manyRows() throws {
        let queue = try DatabaseQueue()
        let recorder = SQLRecorder()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE garden(id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE bed(id INTEGER PRIMARY KEY, gardenId INTEGER REFERENCES garden(id), name \
                    TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500) INSERT \
                    INTO garden SELECT i, 'g' FROM n;
                    INSERT INTO bed SELECT id, id, 'a' || id FROM garden;
                    INSERT INTO bed SELECT id + 3500, id, 'b' FROM garden WHERE id % 7 = 0;
                    """)
            db.handle.limit(.variableNumber, newValue: 1000)
            recorder.record(db)
            let rows = try Row.fetchAll(
                db,
                Garden.including(all: Garden.beds.order(Column("name").desc, Column("id"))).order(
                    Column("id")))
            #expect(rows.count == 3500)
            for row in rows {
                let id: Int64 = row["id"]
                let expected = id % 7 == 0 ? [id + 3500, id] : [id]
                guard row.prefetchedRows["beds"]?.map({ $0["id"] as Int64 }) == expected else {
                    Issue.record("garden \(id)")
                    break
                }
            }
            let statements = recorder.statements.filter { $0.contains("grdb_gardenId") }
            #expect(statements.map { $0.utf8.count { $0 == UInt8(ascii: "?") } } == [1000, 1000, 1000, 500])
        }
    }
}
