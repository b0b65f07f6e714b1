import CofferTestSupport
import Dispatch
import Testing

@testable import Coffer

/// The documentation's examples of observation and Swift concurrency, with their record type.
@Suite("Observation of records", .timeLimit(.minutes(Patience.minutes)))
struct RecordObservationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    struct Player: Codable, Equatable, Identifiable, Sendable {
        var id: Int64?
        var name: String
        var score = 0
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

    @Test("players are read, written, and observed in an asynchronous loop", arguments: Access.allCases)
    func swiftConcurrency(access: Access) async throws {
        let writer = try makePlayers(access)
        // Read
        let playerCount = try await writer.read { db in
            try Player.fetchCount(db)
        }
        #expect(playerCount == 0)
        // Write
        let newPlayerCount = try await writer.write { db in
            try Player(name: "Arthur").insert(db)
            return try Player.fetchCount(db)
        }
        #expect(newPlayerCount == 1)
        // Observe database changes
        let observation = ValueObservation.tracking { db in
            try Player.fetchAll(db)
        }
        var counts: [Int] = []
        for try await players in observation.values(in: writer) {
            counts.append(players.count)
            if players.count == 3 { break }
            try await writer.write { try Player(name: "Barbara").insert($0) }
        }
        #expect(counts == [1, 2, 3])
    }

    @Test(
        "an observation of one player by its key ignores changes of other players", arguments: Access.allCases
    )
    func onePlayer(access: Access) async throws {
        let writer = try makePlayers(access)
        try await writer.write { db in
            for id in Int64(41)...43 { try Player(id: id, name: "Arthur").insert(db) }
        }
        let changes = ValueLog<String>(), log = ValueLog<Player?>()
        let observation = ValueObservation.tracking { db in try Player.fetchOne(db, id: 42) }
            .handleEvents(databaseDidChange: { changes.append("change") })
        let cancellable = observation.start(
            in: writer, scheduling: .async(onQueue: DispatchQueue(label: "values")), onError: log.fail,
            onChange: log.append)
        await log.values(count: 1)
        // Changes to other players do not cause a fetch.
        try await writer.write { db in
            _ = try Player.filter(id: 41).updateAll(db, Column("score").set(to: 1))
            try Player.deleteOne(db, id: 43)
        }
        #expect(changes.values.isEmpty)
        try await writer.write { _ = try Player.filter(id: 42).updateAll($0, Column("score").set(to: 7)) }
        await log.values(upTo: Player(id: 42, name: "Arthur", score: 7))
        try await writer.write { _ = try Player.deleteOne($0, id: 42) }
        #expect(await log.values(upTo: nil).count == 3)
        #expect(changes.values.count == 2 && log.error == nil)
        cancellable.cancel()
    }

    @Test(
        "an explicit region of one column and a constant region of a request are observed",
        arguments: Access.allCases)
    func regions(access: Access) async throws {
        let writer = try makePlayers(access)
        try await writer.write { try Player(id: 1, name: "Arthur").insert($0) }
        let scores = ValueLog<Int>(), counts = ValueLog<Int>()
        let explicit = ValueObservation.tracking(
            region: Player.select(Column("score")).filter(id: 1),
            fetch: { db in try Player.fetchOne(db, id: 1)?.score ?? -1 })
        let constant = ValueObservation.trackingConstantRegion { db in
            try Player.filter(Column("score") >= 10).fetchCount(db)
        }
        let cancellables = [
            explicit.start(in: writer, scheduling: .task, onError: scores.fail, onChange: scores.append),
            constant.removeDuplicates().start(
                in: writer, scheduling: .task, onError: counts.fail, onChange: counts.append),
        ]
        await scores.values(upTo: 0)
        await counts.values(upTo: 0)
        try await writer.write { _ = try Player.updateAll($0, Column("name").set(to: "Barbara")) }
        try await writer.write { _ = try Player.updateAll($0, Column("score").set(to: 10)) }
        #expect(await scores.values(upTo: 10) == [0, 10])
        #expect(await counts.values(upTo: 1) == [0, 1])
        cancellables.forEach { $0.cancel() }
    }

    @Test(
        "a region of a request is reported after each transaction that changes it", arguments: Access.allCases
    )
    func regionObservation(access: Access) throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = DatabaseRegionObservation(tracking: Player.all())
        let cancellable = observation.start(in: writer, onError: log.fail) { db in
            do { log.append(try Player.fetchCount(db)) } catch { log.fail(error) }
        }
        try writer.write { db in
            try Player(name: "Arthur").insert(db)
            try Player(name: "Barbara").insert(db)
        }
        try writer.write {
            try $0.execute(sql: "CREATE TABLE team (name TEXT); INSERT INTO team VALUES ('Reds')")
        }
        try writer.write { _ = try Player.deleteAll($0) }
        #expect(log.values == [2, 0] && log.error == nil)
        cancellable.cancel()
    }
}

extension RecordObservationTests.Player: FetchableRecord, PersistableRecord {
    static var databaseSelection: [any SQLSelectable] {
        [Columns.id, Columns.name, Columns.score]
    }

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
    }
}
