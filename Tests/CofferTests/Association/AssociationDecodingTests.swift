import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Decoding of associations", .serialized)
struct AssociationDecodingTests {
    private struct BedInfo: Decodable, FetchableRecord {
        var bed: Bed
        var garden: Garden?
        var labels: [Label]
        var plantCount: Int
    }

    private struct GardenInfo: Decodable, FetchableRecord {
        struct BedInfo: Decodable {
            var bed: Bed
            var plants: [Plant]
        }
        var garden: Garden
        var beds: [BedInfo]
    }

    private struct Names: Decodable, FetchableRecord {
        var garden: Garden
        var beds: [String]
        var set: Set<String>?
    }

    private struct Chain: Decodable, FetchableRecord {
        struct Place: Decodable {
            var bed: Bed?
            var garden: Garden?
        }
        var plant: Plant
        var bed: Bed
        var garden: Garden
    }

    private struct TwoUnknown: Decodable, FetchableRecord {
        var first: Bed
        var second: Bed
    }

    private struct NeedsGarden: Decodable, FetchableRecord {
        var bed: Bed
        var garden: Garden
    }

    @Test("fills nested records, optional ones, and arrays", arguments: GardenStore.allCases)
    func nested(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let request = Bed.including(optional: Bed.garden).including(all: Bed.labels).annotated(
                with: Bed.plants.count
            ).order(
                Column("id"))
            let infos = try BedInfo.fetchAll(gardens.db, request)
            #expect(infos.map(\.bed.id) == [1, 2, 3, 4])
            #expect(infos.map(\.garden?.name) == ["Eden", "Eden", "Kew", nil])
            #expect(infos.map { $0.labels.count } == [2, 0, 1, 0])
            #expect(infos.map(\.plantCount) == [2, 1, 1, 0])
            #expect(try BedInfo.fetchOne(gardens.db, request)?.labels.map(\.text) == ["sunny", "dry"])
            let nested = Garden.including(all: Garden.beds.including(all: Bed.plants)).asRequest(
                of: GardenInfo.self)
            let gardenInfos = try nested.fetchAll(gardens.db)
            #expect(gardenInfos.map { $0.beds.map { $0.plants.map(\.id) } } == [[[1, 2], [3]], [[4]], []])
            #expect(gardenInfos.map { $0.beds.map(\.bed.id) } == [[1, 2], [3], []])
        }
    }

    @Test("reads single values of prefetched rows", arguments: GardenStore.allCases)
    func singleValues(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let beds = Garden.beds.select(Column("name")).order(Column("name").desc)
            let names = try Garden.including(all: beds).asRequest(of: Names.self).fetchAll(gardens.db)
            #expect(names.map(\.beds) == [["B", "A"], ["A"], []])
            #expect(names.allSatisfy { $0.set == nil })
            let both = try Garden.including(all: beds).including(
                all: Garden.beds.select(Column("name")).forKey("set")
            )
            .asRequest(of: Names.self).fetchAll(gardens.db)
            #expect(both.map(\.set) == [["A", "B"], ["A"], []])
        }
    }

    @Test("finds scopes at any depth, and cursors read them row by row", arguments: GardenStore.allCases)
    func depth(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let request = Plant.including(required: Plant.bed.including(required: Bed.garden)).order(
                Column("id"))
            let chains = try request.asRequest(of: Chain.self).fetchAll(gardens.db)
            #expect(chains.map(\.plant.id) == [1, 2, 3, 4])
            #expect(chains.map(\.bed.id) == [1, 1, 2, 3])
            #expect(chains.map(\.garden.id) == [1, 1, 1, 2])
            let cursor = try Chain.fetchCursor(gardens.db, request)
            var names: [String?] = []
            while let chain = try cursor.next() { names.append(chain.plant.name) }
            #expect(names == ["Rose", "Mint", "Fern", "Rose"])
            let rows = try gardens.rows(request)
            #expect(rows.map { ($0["garden"] as Garden).id } == [1, 1, 1, 2])
            #expect(rows[0].scopesTree.names == ["bed", "garden"])
            #expect(rows[0].scopes.names.sorted() == ["bed"])
        }
    }

    @Test("names the missing rows", arguments: GardenStore.allCases)
    func errors(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let db = gardens.db
            let twice = #expect(throws: DecodingError.self) { try TwoUnknown.fetchAll(db, Bed.all()) }
            guard case .keyNotFound(let key, let context) = twice else {
                Issue.record("\(String(describing: twice))")
                return
            }
            #expect(key.stringValue == "second")
            #expect(context.debugDescription.contains("first"))
            #expect(throws: DecodingError.self) {
                try NeedsGarden.fetchAll(db, Bed.including(optional: Bed.garden))
            }
            #expect(try NeedsGarden.fetchAll(db, Bed.including(required: Bed.garden)).count == 3)
            let missing = #expect(throws: DecodingError.self) {
                try GardenInfo.fetchAll(db, Garden.including(all: Garden.plants))
            }
            guard case .keyNotFound(_, let context) = missing else {
                Issue.record("\(String(describing: missing))")
                return
            }
            #expect(context.debugDescription.contains("plants"))
        }
    }

    private struct Event: Decodable, FetchableRecord, TableRecord {
        static let databaseTableName = "event"
        static let parts = hasMany(Part.self, using: ForeignKey(["event_id"]))
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSince1970
        }
        var id: Int64
        var parts: [Part]?
    }

    private struct Part: Decodable, FetchableRecord, TableRecord {
        static let databaseTableName = "part"
        static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
        var eventId: Int64
        var startDate: Date
    }

    @Test(
        "reads elements with their own type's column strategy and the record's date strategy",
        arguments: GardenStore.allCases)
    func strategies(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.execute(
                """
                CREATE TABLE event(id INTEGER PRIMARY KEY);
                CREATE TABLE part(id INTEGER PRIMARY KEY, event_id INTEGER REFERENCES event(id), start_date \
                REAL);
                INSERT INTO event VALUES (1);
                INSERT INTO part VALUES (1, 1, 1000.0);
                """)
            let events = try Event.including(all: Event.parts).fetchAll(gardens.db)
            #expect(events.first?.parts?.map(\.startDate) == [Date(timeIntervalSince1970: 1000)])
            #expect(events.first?.parts?.map(\.eventId) == [1])
            #expect(try Event.fetchAll(gardens.db).first?.parts == nil)
        }
    }
}
