import Foundation

private struct Longest: DatabaseAggregate {
    var longest: String?
    mutating func step(_ values: [DatabaseValue]) throws {
        guard let text = String.fromDatabaseValue(values[0]) else { return }
        if text == "fail" { throw DatabaseError(message: "step") }
        if text.count > longest?.count ?? -1 { longest = text }
    }
    func finalize() throws -> (any DatabaseValueConvertible)? { longest }
}

extension Comparison {
    private struct Broken: Error, CustomStringConvertible { var description: String { "broken" } }

    static func functions(_ area: Area) {
        func function(_ name: String, _ function: DatabaseFunction, _ sql: String...) {
            area.call(name) { db in
                db.add(function: function)
                defer { db.remove(function: function) }
                return sql.flatMap { sql -> [String] in
                    do { return [Text.text(of: try DatabaseValue.fetchAll(db, sql: sql))] } catch {
                        return Text.lines(of: error)
                    }
                }
            }
        }
        function(
            "none", DatabaseFunction("answer", argumentCount: 0) { _ in 42 }, "SELECT answer()",
            "SELECT answer(1)")
        function(
            "one",
            DatabaseFunction("double", argumentCount: 1, pure: true) {
                Int.fromDatabaseValue($0[0]).map { $0 * 2 }
            },
            "SELECT double(21)", "SELECT double(NULL)", "SELECT DOUBLE(id) FROM owner")
        function("any", DatabaseFunction("number") { $0.count }, "SELECT number()", "SELECT number(1, 2, 3)")
        function(
            "types", DatabaseFunction("kind", argumentCount: 1) { "\($0[0].storage)" }, "SELECT kind(1)",
            "SELECT kind(1.5)",
            "SELECT kind('a')", "SELECT kind(x'01')", "SELECT kind(NULL)")
        function(
            "data", DatabaseFunction("bytes", argumentCount: 0) { _ in Data([1, 2]) }, "SELECT bytes()",
            "SELECT typeof(bytes())")
        function(
            "nil", DatabaseFunction("nothing", argumentCount: 0) { _ in nil }, "SELECT nothing() IS NULL")
        function(
            "date", DatabaseFunction("day", argumentCount: 0) { _ in Date(timeIntervalSince1970: 0) },
            "SELECT day()")
        function(
            "error",
            DatabaseFunction("fail", argumentCount: 0) { _ in throw DatabaseError(message: "custom") },
            "SELECT fail()")
        function(
            "error.code",
            DatabaseFunction("fail", argumentCount: 0) { _ in
                throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "custom", sql: "SQL")
            }, "SELECT fail()")
        function(
            "error.other", DatabaseFunction("fail", argumentCount: 0) { _ in throw Broken() }, "SELECT fail()"
        )
        function(
            "aggregate", DatabaseFunction("longest", argumentCount: 1, aggregate: Longest.self),
            "SELECT longest(name) FROM owner",
            "SELECT longest(name) FROM owner WHERE 0", "SELECT kind, longest(title) FROM item GROUP BY kind",
            "SELECT longest('fail')")
        area.call("removed") { db in
            let function = DatabaseFunction("answer", argumentCount: 0) { _ in 42 }
            db.add(function: function)
            db.remove(function: function)
            return try Int.fetchOne(db, sql: "SELECT answer()")
        }
        area.call("expression") { db in
            let function = DatabaseFunction("twice", argumentCount: 2) { "\($0[0])/\($0[1])" }
            db.add(function: function)
            return try String.fetchAll(db, Owner.select(function(Column("name"), 1)).order(Column("id")))
        }
        area.call("builtin") { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT swiftCapitalizedString('zoé x'), swiftUppercaseString('é'), "
                    + "swiftLocalizedLowercaseString('É')"
            )
        }
        func collation(_ name: String, _ sql: String, _ collation: DatabaseCollation) {
            area.call("collation." + name) { db in
                db.add(collation: collation)
                defer { db.remove(collation: collation) }
                return try String.fetchAll(db, sql: sql)
            }
        }
        collation(
            "length", "SELECT title FROM item ORDER BY title COLLATE by_length, title",
            DatabaseCollation("by_length") { a, b in
                a.count < b.count ? .orderedAscending : a.count > b.count ? .orderedDescending : .orderedSame
            })
        collation(
            "reversed", "SELECT title FROM item ORDER BY title COLLATE back",
            DatabaseCollation("back") { $1.compare($0) })
        collation(
            "missing", "SELECT title FROM item ORDER BY title COLLATE nope",
            DatabaseCollation("other") { $0.compare($1) })
        for collation in [
            DatabaseCollation.unicodeCompare, .caseInsensitiveCompare, .localizedCaseInsensitiveCompare,
            .localizedCompare,
            .localizedStandardCompare,
        ] {
            area.call("collation.builtin.\(collation.name)") { db in
                try String.fetchAll(
                    db, Item.select(Column("title")).order(Column("title").collating(collation), Column("id"))
                )
            }
        }
    }
}
