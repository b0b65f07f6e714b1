import Coffer
import CofferTestSupport
import Testing

@Suite("Records in accesses to the database")
struct RecordAccessTests {
    private let france = Nation(code: "FR", name: "France", population: 67)
    private let norway = Nation(code: "NO", name: "Norway", population: nil)

    @Test("methods of record types can be passed as accesses", arguments: Access.allCases)
    func shorthand(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write(Nation.createTable)
            try database.write { try france.insert($0) }
            try database.write { try norway.insert($0) }
            #expect(try database.read(Nation.fetchCount) == 2)
            #expect(try database.read(Nation.fetchAll) == [france, norway])
            #expect(try database.read(Nation.fetchSet) == [france, norway])
            #expect(try database.read(Nation.fetchOne) == france)
            #expect(try database.read(Nation.order(\.name).reversed().fetchAll) == [norway, france])
            #expect(try database.read(Nation.filter(id: "NO").fetchOne) == norway)
            #expect(try database.read(Nation.filter(id: "XX").isEmpty))
            #expect(try database.write(Nation.deleteAll) == 2)
        }
    }

    @Test("asynchronous accesses take and return records", arguments: Access.allCases)
    func asynchronous(access: Access) async throws {
        try await withTestDirectory { directory in
            let database = try directory.make(access)
            try await database.write { db in try Nation.createTable(db) }
            let count = try await database.write { [france, norway] db in
                try france.insert(db)
                try norway.insert(db)
                return try Nation.fetchCount(db)
            }
            #expect(count == 2)
            #expect(try await database.read(Nation.fetchCount) == 2)
            #expect(try await database.read(Nation.order(\.code).fetchAll) == [france, norway])
            let found = try await database.read { db in try Nation.find(db, id: "FR") }
            #expect(found == france)
            let renamed = try await database.write { db in
                var nation = try Nation.find(db, id: "NO")
                try nation.updateChanges(db) { $0.name = "Norge" }
                return nation
            }
            #expect(renamed.name == "Norge")
            #expect(try await database.read { db in try Nation.exists(db, id: "NO") })
        }
    }

    @Test("a record inserted in a failed access is rolled back", arguments: Access.allCases)
    func failure(access: Access) async throws {
        try await withTestDirectory { directory in
            let database = try directory.make(access)
            try await database.write { db in try Nation.createTable(db) }
            await #expect(throws: CancellationError.self) {
                try await database.write { [france] db in
                    try france.insert(db)
                    throw CancellationError()
                }
            }
            #expect(try await database.read(Nation.fetchCount) == 0)
        }
    }
}
