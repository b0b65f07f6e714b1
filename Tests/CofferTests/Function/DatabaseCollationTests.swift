import Foundation
import Testing

@testable import Coffer

@Suite struct DatabaseCollationTests {
    private func sorted(_ strings: [String], by collation: DatabaseCollation) throws -> [String] {
        try DatabaseQueue().writeWithoutTransaction { db throws in
            db.add(collation: collation)
            try db.execute(sql: "CREATE TABLE t (a TEXT COLLATE \(collation.name))")
            for string in strings {
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [string])
            }
            return try Row.fetchAll(db, sql: "SELECT a FROM t ORDER BY a").map {
                String.fromDatabaseValue($0.valueArray[0]) ?? ""
            }
        }
    }

    @Test("a collation orders strings, empty ones and those with NUL included")
    func order() throws {
        let reversed = DatabaseCollation("reversed") { left, right in
            left == right ? .orderedSame : left > right ? .orderedAscending : .orderedDescending
        }
        #expect(try sorted(["b", "", "é", "a\0b", "a"], by: reversed) == ["é", "b", "a\0b", "a", ""])
    }

    @Test("the Swift string collations support non-ASCII letters")
    func unicode() throws {
        #expect(try sorted(["b", "C", "a"], by: .unicodeCompare) == ["C", "a", "b"])
        #expect(try sorted(["b", "C", "a"], by: .caseInsensitiveCompare) == ["a", "b", "C"])
        #expect(try sorted(["b", "C", "a"], by: .localizedCaseInsensitiveCompare) == ["a", "b", "C"])
        #expect(try sorted(["a10", "a9", "a1"], by: .localizedStandardCompare) == ["a1", "a9", "a10"])
        #expect(try sorted(["z", "é", "a"], by: .localizedCompare) == ["a", "é", "z"])
        try DatabaseQueue().read { db throws in
            let row = try Row.fetchOne(
                db,
                sql:
                    "SELECT 'É' = 'é' COLLATE swiftCaseInsensitiveCompare, 'é' = ? COLLATE swiftCompare, 'É' = 'é' COLLATE swiftCompare",
                arguments: ["e\u{301}"])
            #expect(row?.valueArray == [1.databaseValue, 1.databaseValue, 0.databaseValue])
        }
    }

    @Test("a collation replaces one of the same name, and can be removed")
    func replacement() throws {
        final class Token: Sendable {}
        weak var weakToken: Token?
        try DatabaseQueue().writeWithoutTransaction { db throws in
            do {
                let token = Token()
                weakToken = token
                db.add(
                    collation: DatabaseCollation("C") { _, _ in withExtendedLifetime(token) { .orderedSame } }
                )
            }
            #expect(try Row.fetchOne(db, sql: "SELECT 'a' = 'b' COLLATE c")?.valueArray == [1.databaseValue])
            #expect(weakToken != nil)
            let other = DatabaseCollation("c", function: { _, _ in .orderedAscending })
            #expect(other.id == DatabaseCollation("C", function: { _, _ in .orderedSame }).id)
            db.add(collation: other)
            #expect(weakToken == nil)
            #expect(try Row.fetchOne(db, sql: "SELECT 'a' = 'b' COLLATE c")?.valueArray == [0.databaseValue])
            db.remove(collation: other)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT 'a' = 'b' COLLATE c") }
        }
    }
}
