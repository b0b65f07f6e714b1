import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite struct DatabaseFunctionTests {
    private func evaluate(_ sql: String, _ functions: DatabaseFunction...) throws -> DatabaseValue {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            for function in functions { db.add(function: function) }
            return try #require(try Row.fetchOne(db, sql: "SELECT \(sql)")?.valueArray.first)
        }
    }

    @Test(
        "arguments and results of each type are passed unchanged",
        arguments: [
            ("NULL", DatabaseValue.Storage.null), ("9223372036854775807", .int64(.max)),
            ("-1.5", .double(-1.5)),
            ("'a' || char(0) || 'é'", .string("a\0é")), ("''", .string("")),
            ("x'00ff'", .blob(Data([0, 255]))), ("x''", .blob(Data())),
        ])
    func roundTrip(sql: String, storage: DatabaseValue.Storage) throws {
        let identity = DatabaseFunction("identity", argumentCount: 1) { $0[0] }
        let value = try evaluate("identity(\(sql))", identity)
        #expect(value.storage == storage)
        let type = DatabaseFunction("typeTold", argumentCount: 1) { "\($0[0].storage)" }
        #expect(try evaluate("typeTold(\(sql))", type) == "\(storage)".databaseValue)
    }

    @Test("a function takes its declared number of arguments, or any number")
    func argumentCounts() throws {
        let any = DatabaseFunction("f") { $0.count }
        #expect(try evaluate("f()", any) == 0.databaseValue)
        #expect(try evaluate("f(1, 2, 3)", any) == 3.databaseValue)
        let two = DatabaseFunction("f", argumentCount: 2) { _ in "two" }
        #expect(try evaluate("f(1, 2) || f(1)", any, two) == "two1".databaseValue)
        #expect(throws: DatabaseError.self) { try evaluate("f(1)", two) }
    }

    @Test("errors of a function are errors of the statement")
    func errors() throws {
        struct Failure: Error, CustomStringConvertible { var description: String { "it failed" } }
        let error = DatabaseFunction("f", argumentCount: 1) { values in
            switch Int.fromDatabaseValue(values[0]) {
            case 1: throw DatabaseError(message: "invalid negative number")
            case 2: throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "checked")
            default: throw Failure()
            }
        }
        let first = #expect(throws: DatabaseError.self) { try evaluate("f(1)", error) }
        #expect(first?.resultCode == .SQLITE_ERROR)
        #expect(first?.message == "invalid negative number")
        let second = #expect(throws: DatabaseError.self) { try evaluate("f(2)", error) }
        #expect(second?.extendedResultCode == .SQLITE_CONSTRAINT_CHECK)
        #expect(second?.message == "checked")
        let third = #expect(throws: DatabaseError.self) { try evaluate("f(3)", error) }
        #expect(third?.resultCode == .SQLITE_ERROR)
        #expect(third?.message == "it failed")
    }

    @Test("only a pure function can be used in an index")
    func purity() throws {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            db.add(function: DatabaseFunction("pureF", argumentCount: 1, pure: true) { $0[0] })
            db.add(function: DatabaseFunction("impureF", argumentCount: 1) { $0[0] })
            try db.execute(sql: "CREATE TABLE t (a); CREATE INDEX i ON t (pureF(a))")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "CREATE INDEX j ON t (impureF(a))") }
        }
    }

    @Test("a function replaces one of the same name, and can be removed")
    func replacement() throws {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            let one = DatabaseFunction("F", argumentCount: 0) { _ in 1 }
            let two = DatabaseFunction("f", argumentCount: 0) { _ in 2 }
            #expect(one.id == two.id)
            #expect(one.id != DatabaseFunction("f", argumentCount: 1) { _ in 2 }.id)
            db.add(function: one)
            db.add(function: two)
            #expect(try Row.fetchOne(db, sql: "SELECT f()")?.valueArray == [2.databaseValue])
            db.remove(function: one)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT f()") }
        }
    }

    @Test("a function lives until it is replaced or its connection is closed")
    func lifetime() throws {
        final class Token: Sendable {}
        weak var weakToken: Token?
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            do {
                let token = Token()
                weakToken = token
                db.add(
                    function: DatabaseFunction("f", argumentCount: 0) { _ in withExtendedLifetime(token) { 1 }
                    })
            }
            try db.execute(sql: "SELECT f()")
            #expect(weakToken != nil)
            db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 2 })
            #expect(weakToken == nil)
            do {
                let token = Token()
                weakToken = token
                db.add(
                    function: DatabaseFunction("g", argumentCount: 0) { _ in withExtendedLifetime(token) { 1 }
                    })
            }
        }
        #expect(weakToken != nil)
        try queue.close()
        #expect(weakToken == nil)
    }

    @Test("an impossible function traps with a message")
    func impossible() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().writeWithoutTransaction { db throws in
                db.add(function: DatabaseFunction("f", argumentCount: 40_000) { _ in 1 })
            }
        }
    }
}

// MARK: - Aggregates

@Suite struct DatabaseAggregateTests {
    private struct MaxLength: DatabaseAggregate {
        static let alive = Atomic<Int>(0)
        private final class Life {
            init() { MaxLength.alive.add(1, ordering: .relaxed) }
            deinit { MaxLength.alive.subtract(1, ordering: .relaxed) }
        }

        private let life = Life()
        private var length = 0

        mutating func step(_ dbValues: [DatabaseValue]) throws {
            if dbValues[0] == "fail".databaseValue { throw DatabaseError(message: "failed in step") }
            length = max(length, String.fromDatabaseValue(dbValues[0])?.count ?? 0)
        }

        func finalize() throws -> (any DatabaseValueConvertible)? {
            if length == 5 {
                throw DatabaseError(resultCode: .SQLITE_MISMATCH, message: "failed in finalize")
            }
            return length == 0 ? nil : length
        }
    }

    private func withTable<T>(_ values: String, _ body: (Database) throws -> T) throws -> T {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            db.add(
                function: DatabaseFunction(
                    "maxLength", argumentCount: 1, pure: true, aggregate: MaxLength.self))
            try db.execute(sql: "CREATE TABLE t (a, g)")
            if !values.isEmpty { try db.execute(sql: "INSERT INTO t VALUES \(values)") }
            return try body(db)
        }
    }

    @Test("each group has a state of its own, and none survives the statement")
    func groups() throws {
        try withTable("('a', 1), ('bbb', 2), ('cc', 1), ('', 3)") { db throws in
            let rows = try Row.fetchAll(db, sql: "SELECT g, maxLength(a) FROM t GROUP BY g ORDER BY g")
            let expected: [[DatabaseValue]] = [
                [1.databaseValue, 2.databaseValue], [2.databaseValue, 3.databaseValue],
                [3.databaseValue, .null],
            ]
            #expect(rows.map(\.valueArray) == expected)
            let two = try Row.fetchOne(db, sql: "SELECT maxLength(a), maxLength(g) FROM t")
            #expect(two?.valueArray == [3.databaseValue, DatabaseValue.null])
        }
        try withTable("") { db throws in
            #expect(
                try Row.fetchOne(db, sql: "SELECT maxLength(a) FROM t")?.valueArray == [DatabaseValue.null])
        }
        try withTable("('a', 1), ('fail', 1), ('b', 1)") { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: "SELECT maxLength(a) FROM t")
            }
            #expect(error?.message == "failed in step")
        }
        try withTable("('12345', 1)") { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: "SELECT maxLength(a) FROM t")
            }
            #expect(error?.resultCode == .SQLITE_MISMATCH)
            #expect(error?.message == "failed in finalize")
        }
        #expect(MaxLength.alive.load(ordering: .relaxed) == 0)
    }
}

// MARK: - Unicode

@Suite struct UnicodeFunctionTests {
    @Test(
        "every connection has the Swift string functions",
        arguments: [
            ("swiftCapitalizedString", "jérÔME léo", "Jérôme Léo"),
            ("swiftLowercaseString", "JÉRÔME", "jérôme"),
            ("swiftUppercaseString", "Jérôme", "JÉRÔME"),
            ("swiftLocalizedCapitalizedString", "jérÔME", "Jérôme"),
            ("swiftLocalizedLowercaseString", "JÉRÔME", "jérôme"),
            ("swiftLocalizedUppercaseString", "Jérôme", "JÉRÔME"),
        ])
    func functions(name: String, argument: String, result: String) throws {
        try DatabaseQueue().read { db throws in
            let row = try Row.fetchOne(db, sql: "SELECT \(name)('\(argument)'), \(name)(NULL)")
            #expect(row?.valueArray == [result.databaseValue, DatabaseValue.null])
        }
    }

    @Test("the functions have the names of the static properties")
    func names() {
        #expect(
            DatabaseFunction.standardFunctions.map(\.name).sorted() == [
                "swiftCapitalizedString", "swiftLocalizedCapitalizedString", "swiftLocalizedLowercaseString",
                "swiftLocalizedUppercaseString",
                "swiftLowercaseString", "swiftUppercaseString",
            ])
    }
}
