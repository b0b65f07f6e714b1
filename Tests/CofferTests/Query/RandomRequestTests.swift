import Coffer
import CofferTestSupport
import Testing

@Suite("Random requests")
struct RandomRequestTests {
    private static let requestCount = Nightly.pick(20_000, byDay: 400)

    /// Makes two tables with random rows.
    private func makeTables(_ random: inout SeededRandom) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            for table in ["t", "u"] {
                try db.execute(
                    sql: """
                        CREATE TABLE \(table) (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT COLLATE \
                        NOCASE, x);
                        CREATE UNIQUE INDEX \(table)_key ON \(table) (n, t);
                        """)
                for id in 1...20 {
                    let values = (0..<4).map { _ in RandomExpression.value(&random).sql }
                    try db.execute(
                        sql:
                            "INSERT OR IGNORE INTO \(table) VALUES (\(id), \(values.joined(separator: ", ")))"
                    )
                }
            }
        }
        return queue
    }

    private func values(_ rows: [Row]) -> [[DatabaseValue]] { rows.map { Array($0.databaseValues) } }

    private func sorted(_ rows: [[DatabaseValue]]) -> [String] {
        // The two zeros are equal, and SQLite does not always produce the same one: -(0.0) is -0.0 for a
        // literal, and 0.0 if 0.0 is an argument.
        func text(_ value: DatabaseValue) -> String {
            if case .double(0) = value.storage { "0.0" } else { value.description }
        }
        return rows.map { $0.map(text).description }.sorted()
    }

    @Test("return the same rows and counts as the equivalent SQL")
    func rows() throws {
        var random = SeededRandom("requests")
        let queue = try makeTables(&random)
        try queue.read { db throws in
            var filled = 0
            for _ in 0..<Self.requestCount {
                let request = RandomRequest(&random)
                let expected = try values(Row.fetchAll(db, sql: request.sql))
                let found = try values(request.request.fetchAll(db))
                if request.isOrdered {
                    try #require(found == expected, "\(request.sql)")
                } else {
                    try #require(sorted(found) == sorted(expected), "\(request.sql)")
                }
                try #require(try request.request.isEmpty(db) == expected.isEmpty, "\(request.sql)")
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM (\(request.sql))")
                try #require(try request.request.fetchCount(db) == count, "\(request.sql)")
                let first = try values(request.request.fetchOne(db).map { [$0] } ?? [])
                try #require(
                    request.isOrdered
                        ? first == Array(expected.prefix(1)) : first.isEmpty == expected.isEmpty,
                    "\(request.sql)")
                if !expected.isEmpty { filled += 1 }
            }
            // Requests without results would not test much.
            #expect(filled > Self.requestCount / 4)
        }
    }

    @Test("have regions that cover every change of their rows")
    func regions() throws {
        var random = SeededRandom("regions of requests")
        let queue = try makeTables(&random)
        try queue.writeWithoutTransaction { db throws in
            for _ in 0..<Self.requestCount {
                let request = RandomRequest(isByID: Bool.random(using: &random), &random).request
                let region = try request.databaseRegion(db)
                let before = try sorted(values(request.fetchAll(db)))
                for _ in 0..<8 {
                    try db.inSavepoint {
                        let table = Bool.random(using: &random) ? "t" : "u"
                        let id = Int64.random(in: 1...20, using: &random)
                        let column = RandomExpression.columns.dropFirst().randomElement(using: &random) ?? "x"
                        let watcher = ChangeWatcher(region)
                        db.add(transactionObserver: watcher)
                        defer { db.remove(transactionObserver: watcher) }
                        switch Int.random(in: 0..<3, using: &random) {
                        case 0: try db.execute(sql: "DELETE FROM \(table) WHERE id = \(id)")
                        case 1:
                            try db.execute(
                                sql:
                                    "INSERT OR REPLACE INTO \(table) (id, n, t) VALUES (\(id + 10), \(id), 'new')"
                            )
                        default:
                            let value = RandomExpression.value(&random).sql
                            try db.execute(
                                sql: "UPDATE OR IGNORE \(table) SET \(column) = \(value) WHERE id = \(id)")
                        }
                        let after = try sorted(values(request.fetchAll(db)))
                        let sql = try request.makePreparedRequest(db).statement
                        try #require(
                            before == after || watcher.hasSeenChange, "\(region): \(sql) \(sql.arguments)")
                        return .rollback
                    }
                }
            }
        }
    }

    @Test("delete and update the same rows as the equivalent SQL")
    func changes() throws {
        var random = SeededRandom("changes by requests")
        let queue = try makeTables(&random)
        try queue.writeWithoutTransaction { db throws in
            for _ in 0..<Self.requestCount / 4 {
                let change = RandomRequest(&random)
                guard !change.sql.contains("GROUP BY"), !change.sql.contains("LIMIT") else { continue }
                let table = change.request.databaseTableName
                let all = "SELECT * FROM \(table) ORDER BY id"
                let chosen = try Int64.fetchSet(db, sql: "SELECT id FROM \(table) AS o\(change.condition)")
                let before = try Row.fetchAll(db, sql: all)
                try db.inSavepoint {
                    try #require(try change.request.deleteAll(db) == chosen.count, "\(change.sql)")
                    try #require(
                        try Row.fetchAll(db, sql: all) == before.filter { !chosen.contains($0["id"]) },
                        "\(change.sql)")
                    return .rollback
                }
                try db.inSavepoint {
                    try #require(
                        try change.request.updateAll(db, Column("x").set(to: "mark")) == chosen.count,
                        "\(change.sql)")
                    let marked = try Int64.fetchSet(db, sql: "SELECT id FROM \(table) WHERE x = 'mark'")
                    try #require(marked == chosen, "\(change.sql)")
                    return .rollback
                }
            }
        }
    }
}

/// An observer that detects whether a change is in a region.
private final class ChangeWatcher: TransactionObserver {
    private let region: DatabaseRegion
    private(set) var hasSeenChange = false

    init(_ region: DatabaseRegion) { self.region = region }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        region.isModified(byEventsOfKind: eventKind)
    }
    func databaseDidChange(with event: DatabaseEvent) {
        hasSeenChange = hasSeenChange || region.isModified(by: event)
    }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
