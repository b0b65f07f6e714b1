import Coffer
import CofferTestSupport
import Testing

@Suite("Regions of associations", .serialized, .timeLimit(.minutes(Patience.minutes)))
struct AssociationObservationTests {
    @Test(
        "contain all joined and prefetched tables, and rows of the first table",
        arguments: GardenStore.allCases
    )
    func regions(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            func region(_ request: any FetchRequest) throws -> String {
                "\(try request.databaseRegion(gardens.db))"
            }
            #expect(
                try region(Bed.filter(key: 1).including(required: Bed.garden))
                    == "bed(gardenId,id,name)[1],garden(id,name)")
            #expect(try region(Garden.including(all: Garden.beds)) == "bed(gardenId,id,name),garden(id,name)")
            #expect(
                try region(Garden.filter(key: 1).including(all: Garden.beds))
                    == "bed(gardenId,id,name),garden(id,name)[1]")
            #expect(try region(Garden.including(all: Garden.beds.none())) == "garden(id,name)")
            #expect(try region(Garden.none().including(all: Garden.beds)) == "empty")
            #expect(
                try region(
                    Garden.including(all: Garden.beds.including(all: Bed.labels.select(Column("text")))))
                    == "bed(gardenId,id,name),garden(id,name),label(bedId,text)")
            #expect(
                try region(Garden.including(all: Garden.plants))
                    == "bed(gardenId,id),garden(id,name),plant(bedId,height,id,name)")
            #expect(
                try region(Person.filter(key: 1).including(optional: Person.parent))
                    == "person(id,name,parentId)")
            // Without prefetched rows, the same statement has only its own region.
            #expect(try region(Garden.all()) == "garden(id,name)")
            #expect(
                try
                    "\(Garden.including(all: Garden.beds).makePreparedRequest(gardens.db).statement.databaseRegion)"
                    == "bed(gardenId,id,name),garden(id,name)")
        }
    }

    @Test("let observations of rows see changes in associated rows", arguments: Access.allCases)
    func observation(_ access: Access) async throws {
        try await withTestDirectory { directory in
            let writer = try directory.make(access)
            try await writer.write { db throws in
                try db.execute(
                    sql: """
                        CREATE TABLE garden(id INTEGER PRIMARY KEY, name TEXT);
                        CREATE TABLE bed(id INTEGER PRIMARY KEY, gardenId INTEGER REFERENCES garden(id), \
                        name TEXT);
                        INSERT INTO garden VALUES (1, 'A');
                        """)
            }
            let observation = ValueObservation.tracking { db in
                try Row.fetchAll(db, Garden.including(all: Garden.beds)).map {
                    $0.prefetchedRows["beds"]?.count ?? -1
                }
            }
            var counts: [[Int]] = []
            for try await value in observation.removeDuplicates().values(in: writer) {
                counts.append(value)
                if value == [2] { break }
                let id = counts.count
                try await writer.write { db throws in
                    try db.execute(sql: "INSERT INTO bed VALUES (?, 1, 'x')", arguments: [id])
                }
            }
            #expect(counts == [[0], [1], [2]])
        }
    }
}
