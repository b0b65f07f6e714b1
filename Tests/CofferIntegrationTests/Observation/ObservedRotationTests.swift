import CofferTestSupport
import Dispatch
import Testing

@testable import Coffer

/// A key rotation changes no content: observers are not notified, and continue to work.
@Suite("Observation across rotations of the key", .timeLimit(.minutes(Patience.minutes)))
struct ObservedRotationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private let count = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
    }

    private func makePlayers(_ access: Access) throws -> any DatabaseWriter {
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
        return writer
    }

    private func insert(_ writer: any DatabaseWriter) async throws {
        try await writer.write { try $0.execute(sql: "INSERT INTO player VALUES ('Arthur')") }
    }

    private func key(_ byte: UInt8) -> DatabaseKey { .rawKey([UInt8](repeating: byte, count: 32)) }

    private func options(_ method: DatabaseFile.RotationOptions.Method) -> DatabaseFile.RotationOptions {
        var options = DatabaseFile.RotationOptions()
        options.method = method
        return options
    }

    @Test(
        "every kind of observer continues, and is not notified of the rotation itself",
        arguments: Access.allCases,
        [DatabaseFile.RotationOptions.Method.copy, .inPlace])
    func everyKind(access: Access, method: DatabaseFile.RotationOptions.Method) async throws {
        let writer = try makePlayers(access)
        let changes = ValueLog<String>()
        let started = ValueLog<Int>(), looped = ValueLog<Int>()
        let startedCancellable = count.handleEvents(databaseDidChange: { changes.append("value") })
            .start(
                in: writer, scheduling: .async(onQueue: DispatchQueue(label: "values")),
                onError: started.fail, onChange: started.append)
        let loop = Task {
            for try await value in count.values(in: writer) { looped.append(value) }
        }
        let clients = [ValueLog<Int>(), ValueLog<Int>()]
        let shared = count.shared(in: writer, scheduling: .task)
        let clientCancellables = clients.map { shared.start(onError: $0.fail, onChange: $0.append) }
        let regions = ValueLog<Int>()
        let regionCancellable = DatabaseRegionObservation(
            tracking: SQLRequest<Row>(sql: "SELECT * FROM player")
        )
        .start(in: writer, onError: regions.fail) { _ in regions.append(1) }
        let transactions = TransactionLog()
        writer.add(transactionObserver: transactions)
        let logs = [started, looped] + clients
        for log in logs { await log.values(upTo: 0) }

        for number in 1...2 {
            try await writer.rotateKey(to: key(UInt8(number)), options: options(method))
            // Any notified observer would have fetched before these accesses end.
            try await writer.barrierWriteWithoutTransaction { _ in }
            try await writer.read { _ in }
            #expect(changes.values.count == number - 1 && regions.values.count == number - 1)
            #expect(transactions.log.values.count == 2 * (number - 1))
            try await insert(writer)
            for log in logs { await log.values(upTo: number) }
        }
        for log in logs { #expect(log.values == [0, 1, 2] && log.error == nil) }
        #expect(changes.values == ["value", "value"])
        #expect(regions.values == [1, 1] && regions.error == nil)
        #expect(transactions.log.values == ["change", "commit", "change", "commit"])
        startedCancellable.cancel()
        loop.cancel()
        _ = try await loop.value
        clientCancellables.forEach { $0.cancel() }
        regionCancellable.cancel()
    }

    @Test(
        "rotations during writes lose no change, and values arrive in order",
        arguments: Access.allCases)
    func amidWrites(access: Access) async throws {
        let writer = try makePlayers(access)
        let logs = (0..<4).map { _ in ValueLog<Int>() }
        let cancellables = logs.map {
            count.start(in: writer, scheduling: .task, onError: $0.fail, onChange: $0.append)
        }
        let writing = Task {
            for _ in 1...60 { try await insert(writer) }
        }
        for number in UInt8(1)...3 { try await writer.rotateKey(to: key(number)) }
        try await writing.value
        for log in logs {
            let values = await log.values(upTo: 60)
            #expect(values == values.sorted() && log.error == nil)
        }
        cancellables.forEach { $0.cancel() }
    }

    @Test("a failed rotation leaves the observations unchanged", arguments: Access.allCases)
    func failedRotation(access: Access) async throws {
        let writer = try makePlayers(access)
        let log = ValueLog<Int>()
        let cancellable = count.start(in: writer, scheduling: .task, onError: log.fail, onChange: log.append)
        await log.values(upTo: 0)
        await #expect(throws: DatabaseFileError.self) { try await writer.rotateKey(to: .passphrase("")) }
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await writer.rotateKey(to: key(1)) { _ in throw Stop() } }
        try await insert(writer)
        #expect(await log.values(upTo: 1) == [0, 1])
        #expect(log.error == nil)
        cancellable.cancel()
    }
}

private final class TransactionLog: TransactionObserver {
    let log = ValueLog<String>()

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) { log.append("change") }
    func databaseDidCommit(_ db: Database) { log.append("commit") }
    func databaseDidRollback(_ db: Database) { log.append("rollback") }
}
