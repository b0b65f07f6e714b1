import Foundation
import Testing

@testable import Coffer

@Suite("Fetching values")
struct ValueFetchingTests {
    /// A type that does not read columns directly, and is decoded through `DatabaseValue`.
    private enum Level: Int, DatabaseValueConvertible { case low, middle, high }

    private static let numbers =
        "SELECT value FROM (SELECT 1 AS value UNION ALL SELECT 2 UNION ALL SELECT 2) ORDER BY value"
    private static let optionals = "SELECT 1 UNION ALL SELECT NULL UNION ALL SELECT 2"

    private func inMemory<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try DatabaseQueue().inDatabase(body)
    }

    @Test("values are fetched as cursor, array, set, and single value")
    func fast() throws {
        try inMemory { db throws in
            let cursor: FastDatabaseValueCursor<Int> = try Int.fetchCursor(db, sql: Self.numbers)
            #expect(cursor.sql == Self.numbers && cursor.columnNames == ["value"])
            #expect(try cursor.next() == 1)
            #expect(try cursor.next() == 2)
            #expect(try cursor.next() == 2)
            #expect(try cursor.next() == nil)
            #expect(try cursor.next() == nil)
            #expect(try Int.fetchAll(db, sql: Self.numbers) == [1, 2, 2])
            #expect(try Int.fetchSet(db, sql: Self.numbers) == [1, 2])
            #expect(try Int.fetchOne(db, sql: Self.numbers) == 1)
            #expect(
                try String.fetchAll(db, sql: "SELECT ? UNION ALL SELECT ?", arguments: ["a", "b"]) == [
                    "a", "b",
                ])
        }
    }

    @Test("values without direct reading are fetched in the same ways")
    func slow() throws {
        try inMemory { db throws in
            let cursor: DatabaseValueCursor<Level> = try Level.fetchCursor(db, sql: Self.numbers)
            #expect(try cursor.next() == .middle)
            #expect(try Level.fetchAll(db, sql: Self.numbers) == [.middle, .high, .high])
            #expect(try Level.fetchSet(db, sql: Self.numbers) == [.middle, .high])
            #expect(try Level.fetchOne(db, sql: Self.numbers) == .middle)
            #expect(try Level?.fetchAll(db, sql: Self.optionals) == [.middle, nil, .high])
        }
    }

    @Test("a statement can be fetched from repeatedly, with new arguments")
    func statements() throws {
        try inMemory { db throws in
            let statement = try db.makeStatement(sql: "SELECT ?1 UNION ALL SELECT ?1 + 1")
            #expect(try Int.fetchAll(statement, arguments: [1]) == [1, 2])
            #expect(try Int.fetchAll(statement) == [1, 2])
            #expect(try Int.fetchOne(statement, arguments: [5]) == 5)
            #expect(try Int.fetchSet(statement, arguments: [7]) == [7, 8])
            #expect(try Level.fetchAll(statement, arguments: [0]) == [.low, .middle])
            #expect(try Level.fetchOne(statement) == .low)
            #expect(try Level.fetchSet(statement) == [.low, .middle])
            #expect(throws: DatabaseError.self) { try Int.fetchAll(statement, arguments: [1, 2]) }
            #expect(try Int.fetchAll(statement, arguments: [3]) == [3, 4])
        }
    }

    @Test("no row and NULL are nil, and an optional distinguishes them")
    func nulls() throws {
        try inMemory { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT 1 WHERE 0") == nil)
            #expect(try Int.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try Level.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try Int?.fetchOne(db, sql: "SELECT 1 WHERE 0") == .none)
            #expect(try Int?.fetchOne(db, sql: "SELECT NULL") == .some(.none))
            #expect(try Int?.fetchOne(db, sql: "SELECT 1") == .some(.some(1)))
            #expect(try Level?.fetchOne(db, sql: "SELECT NULL") == .some(.none))
            #expect(try Int?.fetchAll(db, sql: Self.optionals) == [1, nil, 2])
            #expect(try Int?.fetchSet(db, sql: Self.optionals) == [1, nil, 2])
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT NULL") == .null)
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT 1 WHERE 0") == nil)
            #expect(
                try DatabaseValue.fetchAll(db, sql: Self.optionals) == [
                    1.databaseValue, .null, 2.databaseValue,
                ])
        }
    }

    @Test("NULL and values that cannot be converted are errors that name the column and the SQL")
    func decodingErrors() throws {
        try inMemory { db throws in
            for fetch in [
                { _ = try Int.fetchAll(db, sql: "SELECT NULL AS a") },
                { _ = try UInt8.fetchAll(db, sql: "SELECT ? AS a", arguments: [256]) },
                { _ = try UInt8?.fetchAll(db, sql: "SELECT ? AS a", arguments: [256]) },
                { _ = try UInt8.fetchOne(db, sql: "SELECT ? AS a", arguments: [256]) },
                { _ = try UInt8.fetchSet(db, sql: "SELECT ? AS a", arguments: [256]) },
                { _ = try Level.fetchAll(db, sql: "SELECT 9 AS a") },
                { _ = try Level.fetchOne(db, sql: "SELECT 9 AS a") },
                { _ = try Date.fetchOne(db, sql: "SELECT 'Mom’s birthday' AS a") },
            ] {
                let error = try #require(throws: RowDecodingError.self) { try fetch() }
                #expect(error.description.contains(#"column: "a""#))
                #expect(error.description.contains(" AS a"))
                // The value may be personal data.
                #expect(!error.description.contains("256") && !error.description.contains("Optional"))
            }
            // The statement is reset, and the connection is still usable.
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test("an adapter chooses the column")
    func adapters() throws {
        try inMemory { db throws in
            let adapter = SuffixRowAdapter(fromIndex: 1)
            #expect(try Int.fetchAll(db, sql: "SELECT 1, 2", adapter: adapter) == [2])
            #expect(try Int.fetchOne(db, sql: "SELECT 1, 2", adapter: adapter) == 2)
            #expect(try Level.fetchAll(db, sql: "SELECT 1, 2", adapter: adapter) == [.high])
            #expect(try Level.fetchOne(db, sql: "SELECT 1, 2", adapter: adapter) == .high)
            #expect(throws: DatabaseError.self) {
                try Int.fetchAll(db, sql: "SELECT 1", adapter: EmptyRowAdapter())
            }
            let error = try #require(throws: RowDecodingError.self) {
                try Int.fetchAll(db, sql: "SELECT 1 AS a, NULL AS b", adapter: adapter)
            }
            #expect(error.description.contains(#"column: "b""#))
        }
    }

    @Test("fetching one value from a writing statement runs it to completion")
    func returning() throws {
        try inMemory { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
            #expect(try Int.fetchOne(db, sql: "INSERT INTO t (n) VALUES (1), (2), (3) RETURNING id") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 3)
            #expect(try Int.fetchAll(db, sql: "UPDATE t SET n = n + 1 RETURNING n") == [2, 3, 4])
            #expect(throws: RowDecodingError.self) {
                try Date.fetchOne(db, sql: "INSERT INTO t (n) VALUES (9), (10) RETURNING 'x'")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 5)
            #expect(db.isInsideTransaction == false)
        }
    }

    @Test("a commit error after the first value is thrown")
    func returningFails() throws {
        try inMemory { db throws in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = ON;
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent DEFERRABLE \
                    INITIALLY DEFERRED);
                    """)
            let sql = "INSERT INTO child (parent) VALUES (7) RETURNING id"
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: sql) }
            #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: sql) }
            #expect(throws: DatabaseError.self) { try Int.fetchAll(db, sql: sql) }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
        }
    }

    @Test("values are fetched from requests")
    func requests() throws {
        try inMemory { db throws in
            let ints: SQLRequest<Int> = "SELECT \(1) UNION ALL SELECT \(2) UNION ALL SELECT \(2)"
            let cursor: FastDatabaseValueCursor<Int> = try ints.fetchCursor(db)
            #expect(try cursor.next() == 1)
            #expect(try ints.fetchAll(db) == [1, 2, 2])
            #expect(try ints.fetchSet(db) == [1, 2])
            #expect(try ints.fetchOne(db) == 1)
            #expect(try String.fetchAll(db, ints) == ["1", "2", "2"])
            #expect(try String.fetchOne(db, ints) == "1")
            #expect(try String.fetchSet(db, ints) == ["1", "2"])
            let levels = SQLRequest<Level>(
                sql: "SELECT 5, 1 UNION ALL SELECT 5, 2", adapter: SuffixRowAdapter(fromIndex: 1))
            let slowCursor: DatabaseValueCursor<Level> = try levels.fetchCursor(db)
            #expect(try slowCursor.next() == .middle)
            #expect(try levels.fetchAll(db) == [.middle, .high])
            #expect(try levels.fetchSet(db) == [.middle, .high])
            #expect(try levels.fetchOne(db) == .middle)
            #expect(try Level.fetchAll(db, levels) == [.middle, .high])
            let optionals = SQLRequest<Int?>(sql: Self.optionals)
            #expect(try optionals.fetchAll(db) == [1, nil, 2])
            #expect(try SQLRequest<Int?>(sql: "SELECT NULL").fetchOne(db) == .some(.none))
        }
    }

    @Test("a cursor that is given up leaves its statement usable")
    func abandoned() throws {
        try inMemory { db throws in
            let statement = try db.makeStatement(sql: Self.numbers)
            do {
                let cursor = try Int.fetchCursor(statement)
                #expect(try cursor.next() == 1)
            }
            #expect(try Int.fetchAll(statement) == [1, 2, 2])
        }
    }

    @Test("random values of all storage classes survive an encrypted file")
    func randomRoundTrip() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "coffer-values-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "values.sqlite").path
        var configuration = Configuration()
        configuration.key = .rawKey(Data(repeating: 7, count: 32))
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        let values: [DatabaseValue] = (0..<2000).map { _ in
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .null
            case 1: Int64.random(in: .min ... .max, using: &random).databaseValue
            case 2: Int64.random(in: -300...300, using: &random).databaseValue
            case 3: (Double(Int64.random(in: .min ... .max, using: &random)) / 1024 + 0.5).databaseValue
            case 4:
                String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                            Unicode.Scalar(UInt32.random(in: 0..<0xd800, using: &random)) ?? " "
                        })
                ).databaseValue
            default:
                Data(
                    (0..<Int.random(in: 0..<60, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                ).databaseValue
            }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            let insert = try db.makeStatement(sql: "INSERT INTO t (a) VALUES (?)")
            for value in values { try insert.execute(arguments: [value]) }
        }
        try queue.close()
        try DatabaseQueue(path: path, configuration: configuration).read { db in
            let fetched = try DatabaseValue.fetchAll(db, sql: "SELECT a FROM t ORDER BY id")
            #expect(fetched.map(\.storage) == values.map(\.storage), "seed \(seed)")
        }
    }
}
