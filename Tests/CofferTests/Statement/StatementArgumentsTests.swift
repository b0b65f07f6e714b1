import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Arguments of statements")
struct StatementArgumentsTests {
    private func values(_ arguments: StatementArguments, _ sql: String = "SELECT ?, ?, ?") throws
        -> [DatabaseValue]
    {
        try DatabaseQueue().read {
            try Array(#require(try Row.fetchOne($0, sql: sql, arguments: arguments)).databaseValues)
        }
    }

    @Test("store their values in a property that code generated for GRDB finds by reflection")
    func reflection() {
        let arguments: StatementArguments = [1, "a"]
        let stored = Mirror(reflecting: arguments).children.first { $0.label == "values" }?.value
        #expect(stored as? [DatabaseValue] == [1.databaseValue, "a".databaseValue])
    }

    @Test("are created from arrays, sequences and dictionaries")
    func creation() throws {
        let expected = [1.databaseValue, "a".databaseValue, .null]
        #expect(try values([1, "a", nil]) == expected)
        #expect(
            try values(StatementArguments([1, "a", nil] as [(any DatabaseValueConvertible)?])) == expected)
        #expect(try values(StatementArguments([1, 2, 3])) == [1, 2, 3].map(\.databaseValue))
        #expect(try values(#require(StatementArguments([1, "a", NSNull()] as [Any]))) == expected)
        #expect(StatementArguments([Thread.current] as [Any]) == nil)
        let sql = "SELECT :a, :b, :c"
        #expect(try values(["a": 1, "b": "a", "c": nil], sql) == expected)
        #expect(
            try values(
                StatementArguments(
                    ["a": 1, "b": "a", "c": nil] as [String: (any DatabaseValueConvertible)?]), sql)
                == expected)
        #expect(
            try values(
                StatementArguments(
                    [("a", 1), ("b", "a"), ("c", nil)] as [(String, (any DatabaseValueConvertible)?)]), sql)
                == expected)
        #expect(
            try values(
                #require(StatementArguments(["a": 1, "b": "a", "c": NSNull()] as [AnyHashable: Any])), sql)
                == expected)
        #expect(StatementArguments([1: 1] as [AnyHashable: Any]) == nil)
        #expect(StatementArguments(["a": Thread.current] as [AnyHashable: Any]) == nil)
        #expect(StatementArguments().isEmpty && !([nil] as StatementArguments).isEmpty)
    }

    @Test(
        "are joined in order; with &+ and append(contentsOf:), the last value of a repeated name wins")
    func joining() throws {
        var arguments: StatementArguments = [1]
        arguments += [2]
        #expect(arguments + [3] == [1, 2, 3])
        #expect(try values(["a": 1] + ["b": 2] + [3], "SELECT :a, :b, ?") == [1, 2, 3].map(\.databaseValue))
        #expect(["a": 1] &+ ["a": 2] == ["a": 2])
        var named: StatementArguments = ["a": 1, "b": 1]
        #expect(named.append(contentsOf: ["a": 2, "c": 3]) == ["a": 1.databaseValue])
        #expect(named == ["a": 2, "b": 1, "c": 3])
        #expect(([1, "x"] as StatementArguments).description == "[1, \"x\"]")
    }

    @Test("trap if a name is repeated with + or +=")
    func overriding() async {
        await #expect(processExitsWith: .failure) { _ = (["a": 1] as StatementArguments) + ["a": 2] }
        await #expect(processExitsWith: .failure) {
            var arguments: StatementArguments = ["a": 1]
            arguments += ["a": 2]
        }
    }

    @Test("are validated, unless they are set unchecked")
    func validation() throws {
        try DatabaseQueue().read { (db) throws in
            let statement = try db.makeStatement(sql: "SELECT ? AS a, :b AS b")
            #expect(statement.columnCount == 2 && statement.columnNames == ["a", "b"])
            #expect(statement.index(ofColumn: "B") == 1 && statement.index(ofColumn: "c") == nil)
            #expect(statement.description == "SELECT ? AS a, :b AS b")
            #expect(throws: DatabaseError.self) { try statement.validateArguments([1]) }
            #expect(throws: DatabaseError.self) { try statement.validateArguments([1, 2, 3]) }
            #expect(throws: DatabaseError.self) { try statement.setArguments(["b": 1]) }
            try statement.validateArguments([1] + ["b": 2])
            try statement.setArguments([1] + ["b": 2])
            #expect(try Row.fetchOne(statement) == ["a": 1, "b": 2])
            // Missing values are NULL.
            statement.setUncheckedArguments(["b": 3])
            #expect(try Row.fetchOne(statement) == ["a": nil, "b": 3])
            let cursor = try Row.fetchCursor(statement, arguments: [4] + ["b": 5])
            #expect(
                cursor.columnCount == 2 && cursor.arguments == [4] + ["b": 5] && cursor.sql == statement.sql)
            #expect(cursor.databaseRegion.isEmpty)
        }
    }
}
