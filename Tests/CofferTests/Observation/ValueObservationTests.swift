import CofferTestSupport
import Dispatch
import Synchronization
import Testing

@testable import Coffer

@Suite("ValueObservation", .timeLimit(.minutes(Patience.minutes)))
struct ValueObservationTests {
    let directory: TestDirectory
    let queue = DispatchQueue(label: "values")

    init() throws { directory = try TestDirectory() }

    private func makePlayers(_ access: Access, _ configuration: Configuration = .rawKeyed) throws
        -> any DatabaseWriter
    {
        let writer = try directory.make(access, "a.db", configuration)
        try writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER); CREATE TABLE team (name TEXT)"
            )
        }
        return writer
    }

    private let count = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? -1
    }

    private func insert(_ writer: any DatabaseWriter, _ name: String = "Arthur") throws {
        try writer.write {
            try $0.execute(sql: "INSERT INTO player (name, score) VALUES (?, 0)", arguments: [name])
        }
    }

    private func start<R: ValueReducer>(
        _ observation: ValueObservation<R>, _ reader: any DatabaseReader, _ log: ValueLog<R.Value>
    ) -> AnyDatabaseCancellable {
        observation.start(
            in: reader, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
    }

    @Test(
        "the first value comes without a change, and a fresh one after each change",
        arguments: Access.allCases)
    func values(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = start(count, writer, log)
        await log.values(upTo: 0)
        for number in 1...3 {
            try insert(writer)
            await log.values(upTo: number)
        }
        #expect(log.values == [0, 1, 2, 3])
        cancellable.cancel()
    }

    @Test("a queue that is used by one thread delivers the value of each transaction")
    func queueValues() async throws {
        let writer = try makePlayers(.queue)
        let log = ValueLog<Int>()
        let cancellable = start(count, writer, log)
        for _ in 1...20 { try insert(writer) }
        #expect(await log.values(upTo: 20) == Array(0...20))
        cancellable.cancel()
    }

    @Test(
        "a queue delivers the value of each transaction of one access",
        arguments: [false, true])
    func oneAccess(isAsynchronous: Bool) async throws {
        let queue = try makePlayers(.queue)
        let log = ValueLog<Int>()
        let cancellable = start(count, queue, log)
        await log.values(upTo: 0)
        let insertFive: @Sendable (Database) throws -> Void = { db in
            for _ in 0..<5 { try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Barbara', 0)") }
        }
        func writeNow() throws { try queue.writeWithoutTransaction(insertFive) }
        if isAsynchronous { try await queue.writeWithoutTransaction(insertFive) } else { try writeNow() }
        try insert(queue)
        #expect(await log.values(upTo: 6) == [0, 1, 2, 3, 4, 5, 6])
        cancellable.cancel()
    }

    @Test("a cancelled task does not end the observation of the queue that it writes to")
    func cancelledAccess() async throws {
        let queue = try makePlayers(.queue)
        let log = ValueLog<Int>()
        let task = Mutex<Task<Void, any Error>?>(nil)
        let observation = ValueObservation.tracking { db in
            // The second fetch runs in the task's access.
            task.withLock { $0 }?.cancel()
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? -1
        }
        let cancellable = start(observation, queue, log)
        await log.values(upTo: 0)
        let (isReady, mayWrite) = (ValueLog<Bool>(), DispatchSemaphore(value: 0))
        let writing = Task {
            try await queue.writeWithoutTransaction { db in
                isReady.append(true)
                mayWrite.wait()
                try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Barbara', 0)")
            }
        }
        await isReady.values(count: 1)
        task.withLock { $0 = writing }
        mayWrite.signal()
        #expect(await log.values(upTo: 1) == [0, 1])
        #expect(log.error == nil)
        _ = await writing.result
        cancellable.cancel()
    }

    @Test(
        "while a value is mapped, a queue buffers up to a hundred others, then only the last one"
    )
    func queueValuesDuringReduction() async throws {
        for (writeCount, isComplete) in [(20, true), (150, false)] {
            let writer = try directory.make(.queue, "\(writeCount).db")
            try await writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT, score INTEGER)") }
            let mapping = ValueLog<Int>(), log = ValueLog<Int>()
            let mayGoOn = DispatchSemaphore(value: 0)
            let observation = count.map { value in
                mapping.append(value)
                if value == 0 { mayGoOn.wait() }
                return value
            }
            let cancellable = start(observation, writer, log)
            await mapping.values(count: 1)
            for _ in 1...writeCount { try insert(writer) }
            mayGoOn.signal()
            let values = await log.values(upTo: writeCount)
            if isComplete {
                #expect(values == Array(0...writeCount))
            } else {
                #expect(values.count > 100 && values.count < writeCount && values == Set(values).sorted())
            }
            cancellable.cancel()
        }
    }

    @Test(
        "changes of other tables or other columns, and rolled back changes, cause no fetch",
        arguments: Access.allCases)
    func irrelevantChanges(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<[String]>()
        let names = ValueObservation.tracking {
            try String.fetchAll($0, sql: "SELECT name FROM player ORDER BY id")
        }
        let cancellable = start(names, writer, log)
        await log.values(upTo: [])
        try insert(writer)
        await log.values(upTo: ["Arthur"])
        try await writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Reds')") }
        try await writer.write { try $0.execute(sql: "UPDATE player SET score = 7") }
        try await writer.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "DELETE FROM player")
                return .rollback
            }
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM player")
                    return .rollback
                }
                return .commit
            }
        }
        try insert(writer, "Barbara")
        await log.values(upTo: ["Arthur", "Barbara"])
        #expect(log.values == [[], ["Arthur"], ["Arthur", "Barbara"]])
        cancellable.cancel()
    }

    @Test("the region follows the reads of the function", arguments: Access.allCases)
    func changingRegion(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = ValueObservation.tracking { db in
            let playerCount = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
            return playerCount == 0
                ? 0 : 10 * playerCount + (try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team") ?? 0)
        }
        let cancellable = start(observation, writer, log)
        await log.values(upTo: 0)
        try await writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Reds')") }
        try insert(writer)
        await log.values(upTo: 11)
        try await writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Blues')") }
        #expect(await log.values(upTo: 12) == [0, 11, 12])
        cancellable.cancel()
    }

    @Test("an observation of a request for one row is not notified of other rows", arguments: Access.allCases)
    func oneRow(access: Access) async throws {
        let writer = try makePlayers(access)
        try await writer.write {
            try $0.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20)")
        }
        let log = ValueLog<Int>()
        let observation = ValueObservation.tracking { db -> Int in
            try Table("player").filter(Column("id") == 2).fetchOne(db)?["score"] ?? -1
        }
        let cancellable = start(observation, writer, log)
        await log.values(upTo: 20)
        try await writer.write {
            try $0.execute(
                sql: "UPDATE player SET score = 11 WHERE id = 1; INSERT INTO player (score) VALUES (1)")
        }
        try await writer.write { try $0.execute(sql: "UPDATE player SET score = 21 WHERE id = 2") }
        await log.values(upTo: 21)
        try await writer.write { try $0.execute(sql: "DELETE FROM player WHERE id = 2") }
        #expect(await log.values(upTo: -1) == [20, 21, -1])
        cancellable.cancel()
    }

    @Test(
        "a constant region is the region of the first value, or the registered one",
        arguments: Access.allCases)
    func constantRegion(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = ValueObservation.trackingConstantRegion { db in
            try db.registerAccess(to: SQLRequest<Row>(sql: "SELECT * FROM player"))
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team") ?? 0
        }
        let cancellable = start(observation, writer, log)
        await log.values(upTo: 0)
        try insert(writer)
        #expect(await log.values(count: 2) == [0, 0])
        cancellable.cancel()
    }

    @Test("explicit regions are independent of the fetched tables", arguments: Access.allCases)
    func explicitRegions(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = ValueObservation.tracking(
            region: SQLRequest<Row>(sql: "SELECT score FROM player"),
            SQLRequest<Row>(sql: "SELECT * FROM team"),
            fetch: { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player WHERE name <> ''") ?? 0 })
        let cancellable = start(observation, writer, log)
        await log.values(upTo: 0)
        try insert(writer)
        await log.values(upTo: 1)
        try await writer.write { try $0.execute(sql: "UPDATE player SET name = ''") }
        try await writer.write { try $0.execute(sql: "INSERT INTO team VALUES ('Reds')") }
        #expect(await log.values(count: 3) == [0, 1, 0])
        cancellable.cancel()
    }

    @Test("a queue fetches right after the statement that changes an explicit region")
    func explicitRegionInOneAccess() async throws {
        let queue = try makePlayers(.queue)
        let log = ValueLog<[Int]>()
        let observation = ValueObservation.tracking(
            region: SQLRequest<Row>(sql: "SELECT * FROM player"),
            fetch: { db in
                try ["player", "team"].map { try Table($0).fetchCount(db) }
            })
        let cancellable = start(observation, queue, log)
        await log.values(upTo: [0, 0])
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Barbara', 0)")
            try db.execute(sql: "INSERT INTO team VALUES ('Reds')")
        }
        try insert(queue)
        #expect(await log.values(upTo: [2, 1]) == [[0, 0], [1, 0], [2, 1]])
        cancellable.cancel()
    }

    @Test("operators can be chained", arguments: Access.allCases)
    func operators(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<String>()
        let observation = count.map { $0 / 2 }.removeDuplicates().map { "\($0) pairs" }
        let cancellable = start(observation, writer, log)
        await log.values(upTo: "0 pairs")
        for number in 1...5 {
            try insert(writer)
            if number.isMultiple(of: 2) { await log.values(upTo: "\(number / 2) pairs") }
        }
        #expect(log.values == ["0 pairs", "1 pairs", "2 pairs"])
        cancellable.cancel()
        let other = ValueLog<Int>()
        let second = start(count.removeDuplicates(by: { $0 % 2 == $1 % 2 }), writer, other)
        #expect(await other.values(upTo: 5) == [5])
        second.cancel()
    }

    @Test("an error of the function or of an operator ends the observation", arguments: Access.allCases)
    func errors(access: Access) async throws {
        struct Failure: Error {}
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") ?? 0
        }.map { count in
            if count == 2 { throw Failure() }
            return count
        }
        let cancellable = start(observation, writer, log)
        await log.values(upTo: 0)
        try insert(writer)
        await log.values(upTo: 1)
        try insert(writer)
        #expect(await log.failure() is Failure)
        try insert(writer)
        #expect(log.values == [0, 1])
        cancellable.cancel()

        let noTable = ValueLog<Int>()
        let second = start(
            ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT * FROM missing") ?? 0 }, writer,
            noTable)
        #expect((await noTable.failure() as? DatabaseError)?.message == "no such table: missing")
        second.cancel()
    }

    @Test(
        "after the cancellation nothing is delivered, and nothing is kept alive", arguments: Access.allCases)
    func cancellation(access: Access) async throws {
        var writer: (any DatabaseWriter)? = try makePlayers(access)
        weak let weakWriter = writer
        let log = ValueLog<Int>()
        var cancellable: AnyDatabaseCancellable? = start(count, try #require(writer), log)
        await log.values(upTo: 0)
        queue.sync { cancellable?.cancel() }
        try insert(try #require(writer))
        let other = ValueLog<Int>()
        let second = start(count, try #require(writer), other)
        await other.values(upTo: 1)
        #expect(log.values == [0])

        // A started observation keeps the database open.
        writer = nil
        #expect(weakWriter != nil)
        second.cancel()
        cancellable = nil
        // The last access may not have ended yet.
        while weakWriter != nil { await Task.yield() }
    }

    @Test("releasing the cancellable cancels the observation", arguments: Access.allCases)
    func endOfLife(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<String>()
        let observation = count.handleEvents(didCancel: { log.append("cancel") })
        _ = observation.start(
            in: writer, scheduling: .async(onQueue: queue), onError: { _ in }, onChange: { _ in })
        #expect(await log.values(count: 1) == ["cancel"])
    }

    @Test("the immediate scheduler delivers the first value before start returns", arguments: Access.allCases)
    @MainActor func immediate(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        var cancellable = count.start(
            in: writer, scheduling: .immediate, onError: { log.fail($0) }, onChange: { log.append($0) })
        #expect(log.values == [0])
        try insert(writer)
        #expect(await log.values(upTo: 1) == [0, 1])
        let failing = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT * FROM missing") }
        let other = ValueLog<Int?>()
        cancellable = failing.start(
            in: writer, scheduling: .immediate, onError: { other.fail($0) }, onChange: { other.append($0) })
        #expect(other.error is DatabaseError)
        cancellable.cancel()
    }

    @Test("by default, values are delivered asynchronously on the main actor", arguments: Access.allCases)
    @MainActor func mainActor(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = count.start(
            in: writer, onError: { log.fail($0) },
            onChange: { value in
                MainActor.assertIsolated()
                log.append(value)
            })
        #expect(log.values.isEmpty)
        await log.values(upTo: 0)
        try insert(writer)
        #expect(await log.values(upTo: 1) == [0, 1])
        cancellable.cancel()
    }

    @Test("an observation with write access may write, and does not wake itself", arguments: Access.allCases)
    func writeAccess(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        var observation = ValueObservation.tracking { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
            try db.execute(sql: "INSERT INTO team VALUES (?)", arguments: ["\(count)"])
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team") ?? 0
        }
        let failing = start(observation, writer, log)
        #expect((await log.failure() as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        failing.cancel()
        observation.requiresWriteAccess = true
        let other = ValueLog<Int>()
        let cancellable = start(observation, writer, other)
        await other.values(upTo: 1)
        try insert(writer)
        #expect(await other.values(upTo: 2) == [1, 2])
        cancellable.cancel()
    }

    @Test("the events come in order, and are printed", arguments: Access.allCases)
    func tracing(access: Access) async throws {
        let writer = try makePlayers(access)
        let events = ValueLog<String>()
        let observation = count.handleEvents(
            willStart: { events.append("start") }, willFetch: { events.append("fetch") },
            willTrackRegion: { events.append("region \($0)") },
            databaseDidChange: { events.append("change") },
            didReceiveValue: { events.append("value \($0)") }, didFail: { events.append("failure \($0)") },
            didCancel: { events.append("cancel") })
        let log = ValueLog<Int>()
        let cancellable = start(observation.print("log", to: LogStream(log: events)), writer, log)
        await log.values(upTo: 0)
        try insert(writer)
        await log.values(upTo: 1)
        cancellable.cancel()
        let printed = events.values.filter { $0.hasPrefix("log: ") }
        #expect(
            printed == [
                "log: start", "log: fetch", "log: tracked region: player(*)", "log: value: 0",
                "log: database did change",
                "log: fetch", "log: value: 1", "log: cancel",
            ])
        #expect(
            events.values.filter { !$0.hasPrefix("log: ") } == [
                "start", "fetch", "region player(*)", "value 0", "change", "fetch", "value 1", "cancel",
            ])
    }

    @Test(
        "each of several observations that start at once prints its start first", arguments: Access.allCases)
    func tracingAtOnce(access: Access) async throws {
        let writer = try makePlayers(access)
        let (events, log) = (ValueLog<String>(), ValueLog<Int>())
        let cancellables = Mutex<[AnyDatabaseCancellable]>([])
        func startAll() {
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let cancellable = start(count.print("\(number)", to: LogStream(log: events)), writer, log)
                cancellables.withLock { $0.append(cancellable) }
            }
        }
        startAll()
        await log.values(count: 8)
        for number in 0..<8 {
            let printed = events.values.filter { $0.hasPrefix("\(number): ") }.map { $0.dropFirst(3) }
            #expect(printed == ["start", "fetch", "tracked region: player(*)", "value: 0"])
        }
    }

    @Test("read-only connections and snapshots track no region")
    func tracingWithoutChanges() async throws {
        let writer = try makePlayers(.pool)
        let pool = try #require(writer as? DatabasePool)
        let readers: [any DatabaseReader] = [
            try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true }),
            try directory.makePool("a.db", .rawKeyed.with { $0.readonly = true }),
            try pool.makeSnapshot(), try pool.makeSnapshotPool(),
        ]
        for reader in readers {
            let (events, log) = (ValueLog<String>(), ValueLog<Int>())
            let cancellable = start(count.print("log", to: LogStream(log: events)), reader, log)
            await log.values(upTo: 0)
            cancellable.cancel()
            #expect(
                events.values == ["log: start", "log: fetch", "log: value: 0", "log: cancel"], "\(reader)")
        }
    }

    private struct LogStream: TextOutputStream {
        let log: ValueLog<String>

        func write(_ string: String) { log.append(string) }
    }
}
