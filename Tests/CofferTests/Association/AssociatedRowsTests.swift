import Coffer
import CofferTestSupport
import Testing

@Suite("Rows that are associated with a record", .serialized)
struct AssociatedRowsTests {
    private struct Failure: Error {}

    private struct Unencodable: TableRecord, EncodableRecord {
        static let databaseTableName = "bed"
        static let garden = belongsTo(Garden.self)
        func encode(to container: inout PersistenceContainer) throws { throw Failure() }
    }

    @Test("are requested by the values of the record", arguments: GardenStore.allCases)
    func requests(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let (garden, bed) = (Garden(id: 1, name: nil), Bed(id: 1, gardenId: 1, name: nil))
            try gardens.expect(bed.request(for: Bed.garden), #"SELECT * FROM "garden" WHERE "id" = 1"#)
            try gardens.expect(
                garden.request(for: Garden.beds.order(Column("name"))),
                #"SELECT * FROM "bed" WHERE "gardenId" = 1 ORDER BY "name""#)
            try gardens.expect(
                garden.request(for: Garden.plants),
                #"SELECT "plant".* FROM "plant" JOIN "bed" ON ("bed"."id" = "plant"."bedId") AND ("bed"."gardenId" = 1)"#
            )
            try gardens.expect(
                Desk(id: 1, building: "B", number: 7).request(for: Desk.room),
                #"SELECT * FROM "room" WHERE ("building" = 'B') AND ("number" = 7)"#)
            try gardens.expect(
                Bed(id: 1, gardenId: nil, name: nil).request(for: Bed.garden),
                #"SELECT * FROM "garden" WHERE 0"#)
            try gardens.expect(
                garden.request(for: Garden.beds.filter(Column("name") == "x")),
                #"SELECT * FROM "bed" WHERE ("name" = 'x') AND ("gardenId" = 1)"#)
            try gardens.expect(
                garden.request(for: Garden.plants.joining(required: Plant.bed)),
                #"SELECT "plant".* FROM "plant" JOIN "bed" "bed1" ON "bed1"."id" = "plant"."bedId" "#
                    + #"JOIN "bed" "bed2" ON ("bed2"."id" = "plant"."bedId") AND ("bed2"."gardenId" = 1)"#)
            try gardens.expect(
                garden.request(for: Garden.plants).joining(required: Plant.bed),
                #"SELECT "plant".* FROM "plant" JOIN "bed" "bed1" ON ("bed1"."id" = "plant"."bedId") AND ("bed1"."gardenId" = 1) "#
                    + #"JOIN "bed" "bed2" ON "bed2"."id" = "plant"."bedId""#)
            #expect(try garden.request(for: Garden.beds).fetchCount(gardens.db) == 2)
            #expect(
                try garden.request(for: Garden.plants).fetchAll(gardens.db).map(\.id).sorted() == [1, 2, 3])
            let request = Unencodable().request(for: Unencodable.garden)
            #expect(throws: Failure.self) { try request.fetchAll(gardens.db) }
            let cte = CommonTableExpression(named: "cte", sql: "SELECT 1")
            #expect(
                gardens.message(bed.request(for: Bed.association(to: cte)).with(cte))?.contains("foreign key")
                    == true)
        }
    }

    @Test("are deleted and updated", arguments: GardenStore.allCases)
    func changes(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let garden = Garden(id: 1, name: nil)
            #expect(try garden.request(for: Garden.plants).updateAll(gardens.db, Column("height") += 1) == 3)
            #expect(try garden.request(for: Garden.plants).deleteAll(gardens.db) == 3)
            #expect(try Plant.fetchCount(gardens.db) == 2)
        }
    }
}
