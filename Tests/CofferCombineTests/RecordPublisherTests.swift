import Coffer
import CofferCombine
import CofferTestSupport
import Dispatch
import OpenCombine
import OpenCombineDispatch
import Testing

/// The examples in the documentation of publishers, with their record type.
@Suite("Publishers of records", .timeLimit(.minutes(Patience.minutes)))
struct RecordPublisherTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    struct Player: Codable, FetchableRecord, PersistableRecord, Equatable, Identifiable, Sendable {
        var id: Int64?
        var name: String
        var score: Int
    }

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { db in
            try db.create(table: "player") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("name", .text).notNull()
                table.column("score", .integer).notNull()
            }
        }
        return writer
    }

    /// Returns the value of a publisher that publishes a single value.
    private func result<Output: Sendable>(of publisher: some Publisher<Output, any Error>) async throws
        -> Output
    {
        let log = ValueLog<Output>()
        let ends = ValueLog<Int>()
        let cancellable = publisher.sink { completion in
            if case .failure(let error) = completion { ends.fail(error) } else { ends.append(1) }
        } receiveValue: {
            log.append($0)
        }
        await ends.values(count: 1)
        cancellable.cancel()
        if let error = ends.error { throw error }
        return try #require(log.values.first)
    }

    @Test("readPublisher(value:) and readPublisher(receiveOn:value:)", arguments: Access.allCases)
    func read(access: Access) async throws {
        let writer = try makePlayers(access)
        try await writer.write { try Player(name: "Arthur", score: 100).insert($0) }
        let players: DatabasePublishers.Read<[Player]> = writer.readPublisher { db in
            try Player.fetchAll(db)
        }
        #expect(try await result(of: players) == [Player(id: 1, name: "Arthur", score: 100)])
        let elsewhere: DatabasePublishers.Read<[Player]> = writer.readPublisher(
            receiveOn: DispatchQueue.global(),
            value: { db in try Player.fetchAll(db) })
        #expect(try await result(of: elsewhere).count == 1)
    }

    @Test("writePublisher(updates:) and writePublisher(receiveOn:updates:)", arguments: Access.allCases)
    func write(access: Access) async throws {
        let writer = try makePlayers(access)
        let newPlayerCount: DatabasePublishers.Write<Int> = writer.writePublisher { db -> Int in
            try Player(name: "Arthur", score: 100).insert(db)
            return try Player.fetchCount(db)
        }
        #expect(try await result(of: newPlayerCount) == 1)
        let elsewhere: DatabasePublishers.Write<Int> = writer.writePublisher(
            receiveOn: DispatchQueue.global(),
            updates: { db -> Int in
                try Player(name: "Barbara", score: 100).insert(db)
                return try Player.fetchCount(db)
            })
        #expect(try await result(of: elsewhere) == 2)
        #expect(try await writer.read(Player.fetchCount) == 2)
    }

    @Test(
        "writePublisher(updates:thenRead:) and writePublisher(receiveOn:updates:thenRead:)",
        arguments: Access.allCases)
    func writeThenRead(access: Access) async throws {
        let writer = try makePlayers(access)
        let newPlayerCount: DatabasePublishers.Write<Int> = writer.writePublisher(
            updates: { db in try Player(name: "Arthur", score: 100).insert(db) },
            thenRead: { db, _ in try Player.fetchCount(db) })
        #expect(try await result(of: newPlayerCount) == 1)
        let elsewhere: DatabasePublishers.Write<Int> = writer.writePublisher(
            receiveOn: DispatchQueue.global(),
            updates: { db in try Player(name: "Barbara", score: 100).insert(db) },
            thenRead: { db, _ in try Player.fetchCount(db) })
        #expect(try await result(of: elsewhere) == 2)
    }

    @Test("the publisher of an observation of records", arguments: Access.allCases)
    func observation(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<[Player]>()
        let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
        let cancellable = observation.publisher(in: writer).sink { completion in
            if case .failure(let error) = completion { log.fail(error) }
        } receiveValue: {
            log.append($0)
        }
        await log.values(upTo: [])
        try await writer.write { try Player(name: "Arthur", score: 100).insert($0) }
        let arthur = Player(id: 1, name: "Arthur", score: 100)
        #expect(await log.values(upTo: [arthur]) == [[], [arthur]])
        cancellable.cancel()
    }
}
