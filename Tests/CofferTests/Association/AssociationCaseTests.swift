import Coffer
import CofferTestSupport
import Testing

// The numbered cases at the end of the specification.

@Suite("Cases of associations: joins", .serialized)
struct AssociationJoinCaseTests {
    @Test("1, 10: two associations to one table", arguments: GardenStore.allCases)
    func twoToOneTable(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let sql = try gardens.sql(
                Parcel.joining(required: Parcel.sender).joining(required: Parcel.receiver))[0]
            #expect(sql.contains(#""person" "person1""#) && sql.contains(#""person" "person2""#))
            try gardens.expect(
                Parcel.joining(required: Parcel.sender).joining(required: Parcel.sender),
                #"SELECT "parcel".* FROM "parcel" JOIN "person" ON "person"."id" = "parcel"."senderId""#)
            let ambiguous = Parcel.belongsTo(Person.self)
            let message = gardens.message(Parcel.including(required: ambiguous))
            #expect(message?.contains("Ambiguous foreign key from 'parcel' to 'person'") == true)
            #expect(message?.contains("senderId") == true && message?.contains("receiverId") == true)
        }
    }

    @Test("2, 3, 4: kinds and filters", arguments: GardenStore.allCases)
    func kindsAndFilters(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let join =
                #"SELECT "bed".*, "garden".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId""#
            try gardens.expect(Bed.including(required: Bed.garden).including(optional: Bed.garden), join)
            try gardens.expect(Bed.including(optional: Bed.garden).including(required: Bed.garden), join)
            let alias = TableAlias<Garden>()
            try gardens.expect(
                Bed.including(optional: Bed.garden.filter(Column("id") > 1).aliased(alias)).filter(
                    alias[Column("name")] == "Kew"),
                #"SELECT "bed".*, "garden".* FROM "bed" LEFT JOIN "garden" ON ("garden"."id" = "bed"."gardenId") AND ("garden"."id" > 1) "#
                    + #"WHERE "garden"."name" = 'Kew'"#)
            let none = Bed.including(optional: Bed.garden.filter(false.sqlExpression))
            #expect(
                try gardens.rows(none).map { $0.scopes["garden"]?.containsNonNullValue } == [
                    false, false, false, false,
                ])
            #expect(try gardens.rows(Bed.including(required: Bed.garden.filter(false.sqlExpression))).isEmpty)
        }
    }

    @Test(
        "5, 7, 8, 9: foreign keys that differ in letter case, refer to the row ID, or are missing",
        arguments: GardenStore.allCases)
    func foreignKeys(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.execute(
                """
                CREATE TABLE Shed(id INTEGER PRIMARY KEY, gardenId INTEGER REFERENCES GARDEN);
                CREATE TABLE meadow(name TEXT);
                CREATE TABLE cow(id INTEGER PRIMARY KEY, meadowId INTEGER);
                """)
            let (shed, cow) = (Table<Row>("Shed"), Table<Row>("cow"))
            try gardens.expect(
                shed.joining(required: shed.belongsTo(Garden.self)),
                #"SELECT "Shed".* FROM "Shed" JOIN "garden" ON "garden"."id" = "Shed"."gardenId""#)
            try gardens.expect(
                Garden.joining(required: Garden.hasMany(Table<Row>("SHED"))),
                #"SELECT "garden".* FROM "garden" JOIN "SHED" ON "SHED"."gardenId" = "garden"."id""#)
            try gardens.expect(
                cow.joining(required: cow.belongsTo(Table<Row>("meadow"), using: ForeignKey(["meadowId"]))),
                #"SELECT "cow".* FROM "cow" JOIN "meadow" ON "meadow"."rowid" = "cow"."meadowId""#)
            #expect(
                gardens.message(cow.joining(required: cow.belongsTo(Table<Row>("meadow"))))?
                    .contains("Could not infer foreign key from 'cow' to 'meadow'") == true)
            #expect(
                gardens.message(cow.joining(required: cow.hasMany(Table<Row>("nothing"))))?.contains(
                    "no such table: nothing") == true)
        }
    }

    @Test(
        "11, 12, 13, 39: foreign keys of several columns, without a constraint, and of views",
        arguments: GardenStore.allCases)
    func givenForeignKeys(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let on = #"ON ("room"."building" = "desk"."building") AND ("room"."number" = "desk"."number")"#
            try gardens.expect(
                Desk.joining(required: Desk.belongsTo(Room.self, using: ForeignKey(["number", "building"]))),
                #"SELECT "desk".* FROM "desk" JOIN "room" "# + on)
            try gardens.execute(
                """
                CREATE TABLE lamp(building TEXT, number INTEGER);
                CREATE VIEW place AS SELECT id AS placeId, name FROM garden;
                """)
            let lamp = Table<Row>("lamp")
            try gardens.expect(
                lamp.joining(required: lamp.belongsTo(Room.self, using: ForeignKey(["building", "number"]))),
                #"SELECT "lamp".* FROM "lamp" JOIN "room" ON ("room"."building" = "lamp"."building") AND ("room"."number" = "lamp"."number")"#
            )
            let place = Table<Row>("place")
            let key = ForeignKey(["gardenId"], to: ["placeId"])
            let beds = place.hasMany(Bed.self, using: key)
            try gardens.expect(
                Bed.including(required: Bed.belongsTo(place, using: key)),
                #"SELECT "bed".*, "place".* FROM "bed" JOIN "place" ON "place"."placeId" = "bed"."gardenId""#)
            #expect(
                try gardens.rows(place.including(all: beds)).map {
                    $0.prefetchedRows["beds"]?.map { $0["id"] as Int64 }
                } == [
                    [1, 2], [3], [],
                ])
            #expect(
                gardens.message(place.joining(required: place.belongsTo(Garden.self)))?.contains(
                    "Could not infer") == true)
            #expect(gardens.message(place.having(beds.isEmpty)) != nil)
            struct Keys: DatabaseSchemaSource {
                func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
                    ["placeId"]
                }
            }
            try gardens.db.withSchemaSource(Keys()) { () throws in
                #expect(try gardens.rows(place.having(beds.isEmpty)).map { $0["placeId"] as Int64 } == [3])
            }
        }
    }

    @Test("14, 15, 16: self joins", arguments: GardenStore.allCases)
    func selfJoins(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let rows = try gardens.rows(
                Person.including(optional: Person.parent).including(all: Person.children).order(Column("id")))
            #expect(rows.map { $0.text("name", in: "parent") } == [nil, "Ada", "Ada", "Ben"])
            #expect(rows.map { $0.prefetchedRows["children"]?.count } == [2, 1, 0, 0])
            let three = Person.joining(optional: Person.parent.joining(optional: Person.parent))
            try gardens.expect(
                three,
                #"SELECT "person1".* FROM "person" "person1" LEFT JOIN "person" "person2" ON "person2"."id" = "person1"."parentId" "#
                    + #"LEFT JOIN "person" "person3" ON "person3"."id" = "person2"."parentId""#)
            let alias = TableAlias<Person>(name: "p")
            try gardens.expect(
                Person.joining(optional: Person.parent.aliased(alias).joining(optional: Person.parent)),
                #"SELECT "person1".* FROM "person" "person1" LEFT JOIN "person" "p" ON "p"."id" = "person1"."parentId" "#
                    + #"LEFT JOIN "person" "person2" ON "person2"."id" = "p"."parentId""#)
        }
    }

    @Test("17, 18: names with digits and in other cases", arguments: GardenStore.allCases)
    func names(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.execute(
                "CREATE TABLE t1(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t1(id)); CREATE TABLE t2(id INTEGER REFERENCES t1(id))"
            )
            let table = Table<Row>("t1")
            let up = table.belongsTo(table, key: "up")
            try gardens.expect(
                table.joining(optional: up),
                #"SELECT "t1".* FROM "t1" LEFT JOIN "t1" "t2" ON "t2"."id" = "t1"."up""#)
            try gardens.expect(
                table.joining(optional: up).joining(optional: table.hasOne(Table<Row>("t2"))),
                #"SELECT "t1".* FROM "t1" LEFT JOIN "t1" "t3" ON "t3"."id" = "t1"."up" LEFT JOIN "t2" ON "t2"."id" = "t1"."id""#
            )
            let upper = table.belongsTo(Table<Row>("T1"), key: "up")
            try gardens.expect(
                table.joining(optional: upper),
                #"SELECT "t1".* FROM "t1" LEFT JOIN "T1" "T2" ON "T2"."id" = "t1"."up""#)
        }
    }

    @Test(
        "19, 20, 21: aliases used before their association, outer aliases, and plain SQL",
        arguments: GardenStore.allCases)
    func aliases(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let alias = TableAlias<Garden>()
            try gardens.expect(
                Bed.filter { bed in bed.id > alias[Column("id")] }.joining(
                    required: Bed.garden.aliased(alias)),
                #"SELECT "bed".* FROM "bed" JOIN "garden" ON "garden"."id" = "bed"."gardenId" WHERE "bed"."id" > "garden"."id""#
            )
            let person = TableAlias<Person>()
            let parcels = Parcel.filter(Column("senderId") == person[Column("id")])
            try gardens.expect(
                Person.aliased(person).joining(optional: Person.parent).filter(parcels.exists()),
                #"SELECT "person1".* FROM "person" "person1" LEFT JOIN "person" "person2" ON "person2"."id" = "person1"."parentId" "#
                    + #"WHERE EXISTS (SELECT * FROM "parcel" WHERE "senderId" = "person1"."id")"#)
            try gardens.expect(
                Bed.joining(required: Bed.garden.filter(sql: "garden.id > ?", arguments: [1])),
                #"SELECT "bed".* FROM "bed" JOIN "garden" ON ("garden"."id" = "bed"."gardenId") AND (garden.id > 1)"#
            )
        }
    }

    @Test("36, 37, 38: annotations, and changes of optional joins", arguments: GardenStore.allCases)
    func annotations(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let counted = Garden.annotated(with: Garden.beds.count)
            #expect(
                try gardens.sql(counted.filter(Column("id") > 1))[0].contains(
                    #" WHERE "garden"."id" > 1 GROUP BY "#))
            #expect(gardens.message(counted.order(Column("bedCount").desc)) != nil)
            #expect(
                try gardens.sql(counted.order(Column("bedCount").detached.desc))[0].hasSuffix(
                    #" ORDER BY "bedCount" DESC"#))
            #expect(
                try gardens.rows(counted.order(sql: "bedCount DESC")).map { $0["bedCount"] as Int } == [
                    2, 1, 0,
                ])
            let rows = try gardens.rows(Bed.annotated(withRequired: Bed.garden).order(Column("id")))
            #expect(rows.map { $0["name"] as String } == ["A", "B", "A"])
            #expect(rows[0].columnNames.filter { $0 == "name" }.count == 2)
            let sql = try gardens.statements {
                try gardens.db.inSavepoint {
                    try Bed.joining(optional: Bed.garden).filter(Column("id") < 0).deleteAll(gardens.db)
                    return .rollback
                }
            }
            #expect(
                sql.contains {
                    $0.contains(#"LEFT JOIN "garden""#)
                        && $0.hasPrefix(#"DELETE FROM "bed" WHERE "id" IN (SELECT"#)
                })
        }
    }
}

@Suite("Cases of associations: rows", .serialized)
struct AssociationRowCaseTests {
    private func ids(_ rows: [Row]?) -> [Int64]? { rows?.map { $0["id"] } }

    @Test("6, 33: a hasOne association with several rows", arguments: GardenStore.allCases)
    func one(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let bed = Garden.hasOne(Bed.self)
            #expect(
                try gardens.rows(Garden.including(required: bed).order(Column("id"))).map {
                    $0["id"] as Int64
                } == [1, 1, 2])
            let garden = Garden(id: 1, name: nil)
            let sql = try gardens.statements { _ = try garden.request(for: bed).fetchOne(gardens.db) }
            #expect(sql == [#"SELECT * FROM "bed" WHERE "gardenId" = 1 LIMIT 1"#])
        }
    }

    @Test("22, 23, 24, 25: associations through other tables", arguments: GardenStore.allCases)
    func through(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let labels = Plant.hasMany(Label.self, through: Plant.bed, using: Bed.labels)
            let rows = try gardens.rows(Plant.including(all: labels).order(Column("id")))
            #expect(
                rows.map { ids($0.prefetchedRows["labels"])?.sorted() } == [[1, 2], [1, 2], [], [3], []])
            #expect(rows[0].prefetchedRows.keys == ["labels"])
            // Three steps.
            let plantsOfGarden = Label.hasMany(
                Plant.self,
                through: Label.hasOne(Garden.self, through: Label.belongsTo(Bed.self), using: Bed.garden),
                using: Garden.plants)
            let forward = try gardens.sql(Label.including(required: plantsOfGarden))[0]
            #expect(
                forward.contains(#"FROM "label" JOIN "bed" "bed1" ON"#)
                    && forward.hasSuffix(#"JOIN "plant" ON "plant"."bedId" = "bed2"."id""#))
            let prefetched = try gardens.rows(Label.including(all: plantsOfGarden).order(Column("id")))
            #expect(
                prefetched.map { ids($0.prefetchedRows["plants"])?.sorted() } == [
                    [1, 2, 3], [1, 2, 3], [4],
                ])
            #expect(
                try Label(id: 1, bedId: 1, text: nil).request(for: plantsOfGarden).fetchAll(gardens.db).map(
                    \.id
                ).sorted() == [1, 2, 3])
            // Siblings, including the origin itself.
            let siblings = Bed.hasMany(Bed.self, through: Bed.garden, using: Garden.beds, key: "siblings")
            let beds = try gardens.rows(Bed.including(all: siblings).order(Column("id")))
            #expect(beds.map { ids($0.prefetchedRows["siblings"])?.sorted() } == [[1, 2], [1, 2], [3], []])
            try gardens.expect(
                Bed.joining(required: siblings),
                #"SELECT "bed1".* FROM "bed" "bed1" JOIN "garden" ON "garden"."id" = "bed1"."gardenId" "#
                    + #"JOIN "bed" "bed2" ON "bed2"."gardenId" = "garden"."id""#)
            // Many-to-many, with a duplicate pair.
            try gardens.execute(
                """
                CREATE TABLE care(gardenId INTEGER REFERENCES garden(id), personId INTEGER REFERENCES \
                person(id));
                INSERT INTO care VALUES (1, 1), (1, 1), (1, 2);
                """)
            let care = Table<Row>("care")
            let people = Garden.hasMany(
                Person.self, through: Garden.hasMany(care), using: care.belongsTo(Person.self))
            #expect(
                ids(try gardens.rows(Garden.including(all: people))[0].prefetchedRows["people"])?.sorted()
                    == [1, 1, 2])
            #expect(
                ids(try gardens.rows(Garden.including(all: people.distinct()))[0].prefetchedRows["people"])?
                    .sorted() == [1, 2])
        }
    }

    @Test("26, 27, 34: prefetched associations that are merged", arguments: GardenStore.allCases)
    func merged(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Garden.including(all: Garden.beds).including(all: Garden.beds.filter(Column("name") == "A")),
                #"SELECT * FROM "garden""#,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE ("name" = 'A') AND ("gardenId" IN (1, 2, 3))"#
            )
            let request = Garden.including(all: Garden.beds.including(all: Bed.plants)).including(
                all: Garden.beds.including(all: Bed.labels))
            #expect(try gardens.sql(request).count == 4)
            let row = try #require(
                try gardens.rows(request.filter(key: 1)).first?.prefetchedRows["beds"]?.first)
            #expect(row.prefetchedRows.keys == ["plants", "labels"])
        }
    }

    @Test("28, 29: alternating levels of joined and prefetched rows", arguments: GardenStore.allCases)
    func levels(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let plants = Bed.plants.including(required: Plant.bed.including(all: Bed.labels))
            let request = Label.including(optional: Label.belongsTo(Bed.self).including(all: plants)).order(
                Column("id"))
            let rows = try gardens.rows(request)
            let nested = try #require(rows.first?.scopes["bed"]?.prefetchedRows["plants"])
            #expect(ids(nested)?.sorted() == [1, 2])
            #expect(ids(nested[0].scopes["bed"]?.prefetchedRows["labels"])?.sorted() == [1, 2])
            try gardens.execute("INSERT INTO label VALUES (9, NULL, 'lost')")
            let lost = try #require(try gardens.rows(request).last)
            #expect(lost.prefetchedRows["plants"] == [])
            #expect(lost["bed"] as Bed? == nil)
        }
    }

    @Test("30, 31: key columns that prefetching needs", arguments: GardenStore.allCases)
    func keyColumns(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let names = Garden.beds.select(Column("name"))
            #expect(
                try gardens.rows(Garden.including(all: names)).map { $0.prefetchedRows["beds"]?.count } == [
                    2, 1, 0,
                ])
            #expect(
                gardens.message(Garden.select(Column("name")).including(all: names))?.contains(
                    "Missing column: id") == true)
            let throughBed = Plant.hasMany(Label.self, through: Plant.bed, using: Bed.labels)
            let sql = try gardens.sql(Plant.filter(keys: [1, 2]).including(all: throughBed))
            #expect(sql[1].hasSuffix(#"AND ("bed"."id" = 1)"#))
        }
    }

    @Test("32: more rows than SQLite's expression depth", arguments: GardenStore.allCases)
    func manyRows(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO \
                garden SELECT i, 'g' FROM n;
                INSERT INTO bed SELECT id, id, 'b' FROM garden WHERE id >= 100;
                WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO \
                room SELECT 'X', i FROM n;
                INSERT INTO desk SELECT number, building, number FROM room WHERE building = 'X';
                """)
            let rows = try gardens.rows(Garden.filter(Column("id") >= 100).including(all: Garden.beds))
            #expect(rows.count == 2401 && rows.allSatisfy { ids($0.prefetchedRows["beds"]) == [$0["id"]] })
            let rooms = try gardens.rows(Room.filter(Column("building") == "X").including(all: Room.desks))
            #expect(
                rooms.count == 2401 && rooms.allSatisfy { ids($0.prefetchedRows["desks"]) == [$0["number"]] })
        }
    }

    @Test("35: two counts of one association do not disturb each other", arguments: GardenStore.allCases)
    func counts(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let tall = Garden.plants.filter(Column("height") > 100).forKey("tallPlants")
            let request = Garden.annotated(with: tall.count, Garden.plants.count).order(Column("id"))
            let rows = try gardens.rows(request)
            #expect(rows.map { $0["plantCount"] as Int } == [3, 1, 0])
            #expect(rows.map { $0["tallPlantCount"] as Int } == [1, 1, 0])
        }
    }

    @Test("40: associations are values that are made at run time and sent elsewhere")
    func values() async throws {
        let key = ["b", "eds"].joined()
        let association = Garden.hasMany(Table<Row>("bed"), key: key)
        let sent = await Task.detached { association.filter(Column("id") > 0) }.value
        try withGardens(.plainMemory) { gardens throws in
            #expect(try gardens.rows(Garden.including(all: sent))[0].prefetchedRows[key]?.count == 2)
        }
    }
}
