import Foundation

extension Comparison {
    private enum Level: Int, DatabaseValueConvertible { case low = 1, high = 2 }
    private enum Mood: String, DatabaseValueConvertible, Codable { case calm, wild }
    private struct Box: Codable, DatabaseValueConvertible { var width: Int; var label: String? }

    /// The stored forms of Swift values.
    static func values(_ area: Area) {
        func stored(_ name: String, _ value: (any DatabaseValueConvertible)?) {
            area.call(name) { db in
                try Row.fetchOne(db, sql: "SELECT typeof(?1), quote(?1)", arguments: [value])
            }
        }
        stored("bool", true)
        stored("int", -42)
        stored("int8", Int8.min)
        stored("uint32", UInt32.max)
        stored("uint64", UInt64(7))
        stored("int64", Int64.max)
        stored("double", 1.5)
        stored("double.whole", 3.0)
        stored("double.tiny", 5e-324)
        stored("double.infinity", Double.infinity)
        stored("double.nan", Double.nan)
        stored("float", Float(0.1))
        stored("cgfloat", CGFloat(2.25))
        stored("string", "Zoé's \"vault\"")
        stored("string.empty", "")
        stored("data", Data([0, 1, 255]))
        stored("data.empty", Data())
        stored("nil", nil as Int?)
        stored("null", DatabaseValue.null)
        stored("date", Date(timeIntervalSince1970: 1_600_000_000.1239))
        stored("date.julian", Date(timeIntervalSince1970: -15_000_000_000))
        stored("date.old", Date(timeIntervalSince1970: -62_135_596_800))
        stored(
            "components.day",
            DatabaseDateComponents(DateComponents(year: 2020, month: 2, day: 29), format: .YMD))
        stored(
            "components.time",
            DatabaseDateComponents(
                DateComponents(hour: 7, minute: 5, second: 3, nanosecond: 21_000_000), format: .HMSS))
        stored(
            "components.minute",
            DatabaseDateComponents(
                DateComponents(year: 1999, month: 12, day: 31, hour: 23, minute: 59), format: .YMD_HM))
        stored("uuid", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        stored("url", URL(string: "https://example.com/a?b=c#d"))
        stored("decimal", Decimal(string: "1234567890.0987654321"))
        stored("number.int", NSNumber(value: 12))
        stored("number.double", NSNumber(value: 12.5))
        stored("number.bool", NSNumber(value: true))
        stored("nsstring", NSString(string: "text"))
        stored("nsdata", NSData(data: Data([7])))
        stored("nsdate", NSDate(timeIntervalSince1970: 0))
        stored("nsnull", NSNull())
        stored("enum.int", Level.high)
        stored("enum.string", Mood.wild)
        stored("codable", Box(width: 3, label: "x/y"))
        stored("codable.nil", Box(width: 3, label: nil))

        area.value("value.equal") {
            [
                1.databaseValue == 1.0.databaseValue, 1.databaseValue == "1".databaseValue,
                DatabaseValue.null == .null,
            ]
        }
        area.value("value.hash") { Set([1.databaseValue, 1.0.databaseValue, "a".databaseValue]).count }
        area.value("value.description") {
            [1.databaseValue, 1.5.databaseValue, "a\"b'c".databaseValue, Data([1]).databaseValue, .null].map {
                "\($0)"
            }
        }
        area.value("value.storage") { "\("abc".databaseValue.storage)" }
        area.value("value.any") {
            [DatabaseValue(value: 1), DatabaseValue(value: "a"), DatabaseValue(value: Date.self)].map {
                "\($0 as Any)"
            }
        }
        area.value("value.isNull") { [DatabaseValue.null.isNull, 0.databaseValue.isNull] }
        area.call("value.literal") { db in
            try DatabaseValue.fetchAll(
                db, sql: "SELECT 1 UNION ALL SELECT 'a' UNION ALL SELECT x'00' UNION ALL SELECT NULL")
        }
        area.call("value.expression") { db in try Int.fetchOne(db, Table("item").select(5.databaseValue)) }
    }

    /// The Swift values of stored values.
    static func conversions(_ area: Area) {
        func read<Value: DatabaseValueConvertible>(
            _ name: String, _ type: Value.Type, _ values: [(any DatabaseValueConvertible)?]
        ) {
            area.value(name) {
                values.map { Text.text(of: Value.fromDatabaseValue($0?.databaseValue ?? .null) as Any) }
            }
        }
        read("bool", Bool.self, [0, 1, 2, 0.0, 0.5, "true", "1", nil])
        read("int", Int.self, [1, 1.0, 1.5, 1e30, "1", " 1", "abc", Data([49]), nil])
        read("int8", Int8.self, [127, 128, -129, 3.0])
        read("uint64", UInt64.self, [0, -1, Int64.max])
        read("double", Double.self, [1, 1.5, "1.5", "x", nil])
        read("float", Float.self, [0.1, 1e300, 2])
        read("string", String.self, ["a", 1, 1.5, Data("blob".utf8), Data([0xff]), nil])
        read("data", Data.self, ["abc", Data([1]), 5, nil])
        read(
            "date", Date.self,
            [
                "2020-01-02", "2020-01-02 03:04", "2020-01-02 03:04:05", "2020-01-02 03:04:05.678",
                "2020-01-02T03:04:05Z",
                "2020-01-02 03:04:05+02:00", 0, 1.5, "nonsense", "2020-1-2", nil,
            ])
        read(
            "date.more", Date.self,
            ["2020-01-02T03:04", "03:04:05", "2020-01-02 03:04:05.6", "2020-01-02 24:00", "12:61"])
        read(
            "components", DatabaseDateComponents.self,
            ["2020-01-02", "2020-01-02 03:04:05.678", "03:04", "x"].map { $0 })
        read("uuid", UUID.self, ["01020304-0506-0708-090A-0B0C0D0E0F10", Data(1...16), Data([1]), "x"])
        read("url", URL.self, ["https://example.com", "", 1])
        read("decimal", Decimal.self, [1, 1.5, "1.25", "1e3", nil])
        read("number", NSNumber.self, [1, 1.5, "2", nil])
        read("nsstring", NSString.self, ["a", 1])
        read("level", Level.self, [1, 2, 3, "1"])
        read("mood", Mood.self, ["calm", "other", 1])
        read("codable", Box.self, [#"{"width":3,"label":"x"}"#, #"{"width":"3"}"#, "x", nil])

        // SQLite's conversions for a type that requests them.
        area.call("fast.int") { db in try Int.fetchAll(db, sql: "SELECT 1 UNION ALL SELECT 2.0") }
        area.call("fast.text") { db in try Int.fetchOne(db, sql: "SELECT '12'") }
        area.call("fast.null") { db in try Int.fetchAll(db, sql: "SELECT NULL") }
        area.call("fast.optional") { db in
            try Optional<Int>.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 1")
        }
        area.call("fast.overflow") { db in try Int8.fetchOne(db, sql: "SELECT 300") }
        area.call("fast.string") { db in
            try String.fetchAll(db, sql: "SELECT 1 UNION ALL SELECT 1.5 UNION ALL SELECT x'41'")
        }
        area.call("fast.bool") { db in
            try Bool.fetchAll(db, sql: "SELECT 0 UNION ALL SELECT 2 UNION ALL SELECT '1'")
        }
        area.call("fast.data") { db in try Data.fetchOne(db, sql: "SELECT 'abc'") }
        area.call("fast.set") { db in
            try Int.fetchSet(db, sql: "SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 2")
        }
        area.call("fast.one.none") { db in try Int.fetchOne(db, sql: "SELECT 1 WHERE 0") }
        area.call("slow.date") { db in
            try Date.fetchAll(db, sql: "SELECT changedAt FROM item WHERE changedAt IS NOT NULL ORDER BY id")
        }
        area.call("slow.date.bad") { db in try Date.fetchAll(db, sql: "SELECT 'soon'") }
        area.call("slow.enum.bad") { db in try Mood.fetchAll(db, sql: "SELECT 'other' AS mood") }
        area.call("slow.url") { db in try URL.fetchOne(db, sql: "SELECT 'https://example.com/'") }
        area.call("slow.uuid") { db in
            try UUID.fetchOne(db, sql: "SELECT x'0102030405060708090a0b0c0d0e0f10'")
        }
        area.call("slow.optional") { db in
            try Optional<Date>.fetchAll(db, sql: "SELECT changedAt FROM item ORDER BY id")
        }
        area.call("cursor") { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT title FROM item ORDER BY id")
            var titles: [String] = []
            while let title = try cursor.next() { titles.append(title) }
            return titles
        }
        area.call("cursor.map") { db in
            try Array(String.fetchCursor(db, sql: "SELECT title FROM item ORDER BY id").map { $0.count })
        }
        area.call("cursor.ops") { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM item ORDER BY id")
            return try Array(
                cursor.filter { $0 > 1 }.enumerated().map { "\($0.0):\($0.1)" }.dropFirst().prefix(2))
        }
        area.call("cursor.minMax") { db in
            let ids = { try Int.fetchCursor(db, sql: "SELECT id FROM item") }
            return try [ids().min(), ids().max(), ids().reduce(0, +), ids().first { $0 > 2 }]
        }
    }
}
