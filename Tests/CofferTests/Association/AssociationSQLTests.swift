import Coffer
import CofferTestSupport
import Testing

@Suite("SQL of associations", .serialized)
struct AssociationSQLTests {
    @Test("joins to one row and to many", arguments: GardenStore.allCases)
    func joins(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Bed.including(required: Bed.garden),
                #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            try gardens.expect(
                Bed.including(optional: Bed.garden).filter(Column("name") == "A"),
                #"SELECT "bed".*, "garden".* FROM "bed" LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId" WHERE "bed"."name" = 'A'"#
            )
            try gardens.expect(
                Bed.joining(required: Bed.garden.filter(Column("name") == "Eden")),
                #"SELECT "bed".* FROM "bed" JOIN "garden" ON ("garden"."id" = "bed"."gardenId") AND ("garden"."name" = 'Eden')"#
            )
            try gardens.expect(
                Garden.joining(optional: Garden.beds),
                #"SELECT "garden".* FROM "garden" LEFT JOIN "bed" ON "bed"."gardenId" = "garden"."id""#)
            try gardens.expect(
                Garden.joining(optional: Garden.hasOne(Bed.self)),
                #"SELECT "garden".* FROM "garden" LEFT JOIN "bed" ON "bed"."gardenId" = "garden"."id""#)
            try gardens.expect(
                Desk.including(required: Desk.belongsTo(Room.self)),
                #"SELECT "desk".*, "room".* FROM "desk" JOIN "room" ON ("room"."building" = "desk"."building") "#
                    + #"AND ("room"."number" = "desk"."number")"#)
            try gardens.expect(
                Bed.including(required: Bed.garden.none()),
                #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON ("garden"."id" = "bed"."gardenId") AND 0"#
            )
        }
    }

    @Test("nested joins, sibling joins, and joins through others", arguments: GardenStore.allCases)
    func nestedJoins(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Plant.including(required: Plant.bed.including(optional: Bed.garden)),
                #"SELECT "plant".*, "bed".*, "garden".* FROM "plant" JOIN "bed" ON "bed"."id" = "plant"."bedId" "#
                    + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            try gardens.expect(
                Bed.including(required: Bed.garden).including(optional: Bed.labels),
                #"SELECT "bed".*, "garden".*, "label".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" "#
                    + #"LEFT JOIN "label" ON "label"."bedId" = "bed"."id""#)
            try gardens.expect(
                Plant.joining(required: Plant.bed.including(required: Bed.garden)),
                #"SELECT "plant".*, "garden".* FROM "plant" JOIN "bed" ON "bed"."id" = "plant"."bedId" "#
                    + #"JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            try gardens.expect(
                Plant.including(optional: Plant.garden),
                #"SELECT "plant".*, "garden".* FROM "plant" LEFT JOIN "bed" ON "bed"."id" = "plant"."bedId" "#
                    + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            try gardens.expect(
                Garden.including(required: Garden.plants),
                #"SELECT "garden".*, "plant".* FROM "garden" JOIN "bed" ON "bed"."gardenId" = "garden"."id" "#
                    + #"JOIN "plant" ON "plant"."bedId" = "bed"."id""#)
            let merged =
                #"SELECT "plant".*, "bed".*, "garden".* FROM "plant" JOIN "bed" ON "bed"."id" = "plant"."bedId" "#
                + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            try gardens.expect(Plant.including(required: Plant.bed).including(optional: Plant.garden), merged)
            try gardens.expect(Plant.including(optional: Plant.garden).including(required: Plant.bed), merged)
        }
    }

    @Test("self joins, and one table under two keys", arguments: GardenStore.allCases)
    func selfJoins(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Person.including(optional: Person.belongsTo(Person.self, key: "parent")),
                #"SELECT "person1".*, "person2".* FROM "person" "person1" LEFT JOIN "person" "person2" ON "person2"."id" = "person1"."parentId""#
            )
            try gardens.expect(
                Parcel.including(required: Parcel.sender).including(required: Parcel.receiver),
                #"SELECT "parcel".*, "person1".*, "person2".* FROM "parcel" JOIN "person" "person1" ON "person1"."id" = "parcel"."senderId" "#
                    + #"JOIN "person" "person2" ON "person2"."id" = "parcel"."receiverId""#)
        }
    }

    @Test("selections", arguments: GardenStore.allCases)
    func selections(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Bed.including(required: Bed.garden.select(Column("name"))),
                #"SELECT "bed".*, "garden"."name" FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            )
            let annotated = Bed.select(Column("name")).annotated(
                withRequired: Bed.garden.select(Column("name").forKey("gardenName")))
            try gardens.expect(
                annotated,
                #"SELECT "bed"."name", "garden"."name" AS "gardenName" FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            )
            let row = try #require(try gardens.rows(annotated).first)
            #expect(row == ["name": "A", "gardenName": "Eden"])
            #expect(row.scopes.isEmpty)
            try gardens.expect(
                Bed.annotated(withOptional: Bed.garden),
                #"SELECT "bed".*, "garden".* FROM "bed" LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            )
            try gardens.expect(
                Bed.including(required: Bed.garden.select(.allColumns(excluding: ["name"]))),
                #"SELECT "bed".*, "garden"."id" FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            )
            try gardens.expect(
                Bed.select([any SQLSelectable]()).including(required: Bed.garden),
                #"SELECT "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            #expect(
                gardens.message(Bed.select([any SQLSelectable]()).joining(required: Bed.garden))?.contains(
                    "selects no columns") == true)
            let literal = Bed.select(sql: "bed.id").including(required: Bed.garden)
            #expect(gardens.message(literal)?.contains("selection literal") == true)
            #expect(try literal.fetchCount(gardens.db) == 3)
        }
    }

    @Test("orderings", arguments: GardenStore.allCases)
    func orders(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let start =
                #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            let garden = Bed.garden.order(Column("name"))
            let request = Bed.including(required: garden).order(Column("name").desc)
            try gardens.expect(request, start + #" ORDER BY "bed"."name" DESC, "garden"."name""#)
            try gardens.expect(
                request.reversed(), start + #" ORDER BY "bed"."name" ASC, "garden"."name" DESC"#)
            try gardens.expect(
                Bed.including(required: garden.reversed()).order(Column("name")),
                start + #" ORDER BY "bed"."name", "garden"."name" DESC"#)
            try gardens.expect(
                Bed.including(required: garden.reversed()).order(Column("name")).reversed(),
                start + #" ORDER BY "bed"."name" DESC, "garden"."name""#)
            try gardens.expect(
                Bed.including(required: garden).withStableOrder(),
                start + #" ORDER BY "bed"."id", "garden"."name", "garden"."id""#)
            try gardens.expect(request.order(Column("id")), start + #" ORDER BY "bed"."id", "garden"."name""#)
            try gardens.expect(request.unordered(), start)
            try gardens.expect(
                Garden.including(all: Garden.beds.order(Column("name"))).unordered(),
                #"SELECT * FROM "garden""#,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE "gardenId" IN (1, 2, 3)"#)
            try gardens.expect(
                Garden.including(all: Garden.beds.order(Column("name"))).withStableOrder().reversed(),
                #"SELECT * FROM "garden" ORDER BY "id" DESC"#,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE "gardenId" IN (1, 2, 3) ORDER BY "name", "id""#
            )
        }
    }

    @Test("limits and counts", arguments: GardenStore.allCases)
    func limits(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let db = gardens.db
            try gardens.expect(
                Bed.including(required: Bed.garden).distinct().limit(3),
                #"SELECT DISTINCT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" LIMIT 3"#
            )
            #expect(
                try gardens.statements { _ = try Bed.including(required: Bed.garden).fetchOne(db) }
                    == [
                        #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" LIMIT 1"#
                    ])
            #expect(
                try gardens.statements {
                    _ = try Bed.filter(key: 1).including(required: Bed.garden).fetchOne(db)
                }
                    == [
                        #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" WHERE "bed"."id" = 1 LIMIT 1"#
                    ])
            #expect(
                try gardens.statements {
                    _ = try Bed.joining(required: Bed.garden).order(Column("name")).fetchCount(db)
                }
                    == [
                        #"SELECT COUNT(*) FROM (SELECT "bed".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId")"#
                    ])
            #expect(
                try gardens.statements { _ = try Garden.including(all: Garden.beds).fetchCount(db) }
                    == [#"SELECT COUNT(*) FROM "garden""#])
            #expect(try Bed.joining(required: Bed.garden).fetchCount(db) == 3)
            try gardens.expect(
                Garden.filter(
                    Bed.joining(required: Bed.labels).including(all: Bed.plants).select(Column("gardenId"))
                        .contains(Column("id"))),
                #"SELECT * FROM "garden" WHERE "id" IN (SELECT "bed"."gardenId" FROM "bed" JOIN "label" ON "label"."bedId" = "bed"."id")"#
            )
        }
    }

    @Test("aliases", arguments: GardenStore.allCases)
    func aliases(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let alias = TableAlias<Garden>()
            try gardens.expect(
                Bed.joining(required: Bed.garden.aliased(alias)).filter(alias[Column("name")] == "Eden")
                    .order(alias[Column("name")].desc),
                #"SELECT "bed".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" WHERE "garden"."name" = 'Eden' "#
                    + #"ORDER BY "garden"."name" DESC"#)
            try gardens.expect(
                Bed.joining(required: Bed.garden).filter(sql: "garden.name = ?", arguments: ["Eden"]),
                #"SELECT "bed".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" WHERE garden.name = 'Eden'"#
            )
            let person = TableAlias<Person>(name: "p")
            try gardens.expect(
                Person.aliased(person).including(optional: Person.parent),
                #"SELECT "p".*, "person".* FROM "person" "p" LEFT JOIN "person" ON "person"."id" = "p"."parentId""#
            )
            let bed = TableAlias<Garden>(name: "bed")
            try gardens.expect(
                Garden.aliased(bed).joining(required: Garden.beds),
                #"SELECT "bed".* FROM "garden" "bed" JOIN "bed" "bed1" ON "bed1"."gardenId" = "bed"."id""#)
            try gardens.expect(Person.aliased(person), #"SELECT "p".* FROM "person" "p""#)
            let same = TableAlias<Person>(name: "p")
            let twice = Person.aliased(person).including(optional: Person.parent.aliased(same))
            #expect(gardens.message(twice)?.contains("have the alias \"p\"") == true)
            let shared = TableAlias<Void>()
            #expect(
                gardens.message(Bed.aliased(shared).joining(required: Bed.garden.aliased(shared)))?.contains(
                    "Two tables") == true)
            let left = TableAlias<Garden>()
            let base = Bed.joining(optional: Bed.garden.aliased(left))
            let join = #"FROM "bed" LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            try gardens.expect(
                base.filter(left.exists), #"SELECT "bed".* "# + join + #" WHERE "garden"."id" IS NOT NULL"#)
            try gardens.expect(
                base.filter(!left.exists), #"SELECT "bed".* "# + join + #" WHERE "garden"."id" IS NULL"#)
            try gardens.expect(
                base.annotated(with: left.exists.forKey("hasGarden")),
                #"SELECT "bed".*, "garden"."id" IS NOT NULL AS "hasGarden" "# + join)
        }
    }

    @Test("common table expressions", arguments: GardenStore.allCases)
    func commonTables(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let tall = CommonTableExpression(named: "tall", request: Plant.filter(Column("height") > 100))
            let association = Bed.association(
                to: tall, on: { bed, plant in plant[Column("bedId")] == bed[Column("id")] })
            let request = Bed.with(tall).including(optional: association.filter(Column("name") != nil))
            try gardens.expect(
                request,
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".*, "tall".* FROM "bed" "#
                    + #"LEFT JOIN "tall" ON ("tall"."bedId" = "bed"."id") AND ("tall"."name" IS NOT NULL)"#)
            #expect(
                try gardens.rows(request).map { $0.text("name", in: "tall") } == ["Rose", nil, "Rose", nil])
            try gardens.expect(
                Bed.including(optional: Bed.association(to: tall).with(tall)),
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".*, "tall".* FROM "bed" LEFT JOIN "tall""#
            )
            let chain = tall.association(
                to: Label.self, on: { tall, label in label["bedId"] == tall["bedId"] })
            try gardens.expect(
                Bed.with(tall).joining(required: association.including(required: chain)),
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".*, "label".* FROM "bed" "#
                    + #"JOIN "tall" ON "tall"."bedId" = "bed"."id" JOIN "label" ON "label"."bedId" = "tall"."bedId""#
            )
            let other = Bed.association(to: tall, on: { bed, plant in plant["id"] == bed["id"] })
            try gardens.expect(
                Bed.with(tall).joining(optional: association).joining(optional: other),
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".* FROM "bed" "#
                    + #"LEFT JOIN "tall" ON "tall"."id" = "bed"."id""#)
            try gardens.expect(
                Bed.with(tall).joining(optional: association).joining(optional: other.forKey("other")),
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".* FROM "bed" "#
                    + #"LEFT JOIN "tall" "tall1" ON "tall1"."bedId" = "bed"."id" LEFT JOIN "tall" "tall2" ON "tall2"."id" = "bed"."id""#
            )
            let broken = CommonTableExpression(named: "broken", sql: "SELECT * FROM missing")
            let message = gardens.message(Bed.with(broken).including(required: Bed.association(to: broken)))
            #expect(
                message?.contains(#"The columns of the common table expression "broken" cannot be counted"#)
                    == true)
            let numbers = CommonTableExpression(
                recursive: true, named: "number", columns: ["n"],
                sql: "SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 3")
            let counted = try gardens.rows(
                Garden.including(required: Garden.association(to: numbers).with(numbers)).filter(key: 1))
            #expect(counted.map { $0.scopes["number"].flatMap { $0["n"] as Int? } } == [1, 2, 3])
            try gardens.expect(
                Garden.including(all: Garden.beds.with(tall).joining(required: association)),
                #"SELECT * FROM "garden""#,
                #"WITH "tall" AS (SELECT * FROM "plant" WHERE "height" > 100) SELECT "bed".*, "bed"."gardenId" AS "grdb_gardenId" "#
                    + #"FROM "bed" JOIN "tall" ON "tall"."bedId" = "bed"."id" WHERE "bed"."gardenId" IN (1, 2, 3)"#
            )
        }
    }

    @Test("updates and deletions", arguments: GardenStore.allCases)
    func changes(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let db = gardens.db
            let bed = Label.belongsTo(Bed.self)
            var count = 0
            let deletion = try gardens.statements {
                try db.inTransaction {
                    let request = Label.joining(
                        required: bed.filter(Column("name") == "A").joining(required: Bed.garden))
                    count = try request.including(optional: bed).deleteAll(db)
                    return .rollback
                }
            }
            #expect(count == 3)
            #expect(
                deletion == [
                    #"DELETE FROM "label" WHERE "id" IN (SELECT "label"."id" FROM "label" JOIN "bed" ON ("bed"."id" = "label"."bedId") "#
                        + #"AND ("bed"."name" = 'A') JOIN "garden" ON "garden"."id" = "bed"."gardenId")"#
                ])
            let update = try gardens.statements {
                count = try Garden.having(Garden.beds.isEmpty).updateAll(db, Column("name").set(to: "x"))
            }
            #expect(count == 1)
            #expect(
                update == [
                    #"UPDATE "garden" SET "name" = 'x' WHERE "id" IN (SELECT "garden"."id" FROM "garden" LEFT JOIN "bed" "#
                        + #"ON "bed"."gardenId" = "garden"."id" GROUP BY "garden"."id" HAVING COUNT(DISTINCT "bed"."id") = 0)"#
                ])
            let deleting = try Garden.having(Garden.beds.isEmpty).deleteAndFetchStatement(
                db, selection: [Column("id")])
            #expect(deleting.sql.hasSuffix(#"HAVING COUNT(DISTINCT "bed"."id") = 0) RETURNING "id""#))
            #expect(throws: DatabaseError.self) {
                try Garden.joining(required: Garden.beds).group(Column("name")).deleteAll(db)
            }
            let garden = TableAlias<Garden>()
            #expect(throws: DatabaseError.self) {
                try Bed.joining(required: Bed.garden.aliased(garden)).updateAll(
                    db, Column("name").set(to: garden[Column("name")]))
            }
        }
    }
}
