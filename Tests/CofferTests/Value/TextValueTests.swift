import Foundation
import Testing

@testable import Coffer

@Suite("Text, bytes, URLs and UUIDs as values")
struct TextValueTests {
    @Test(
        "text survives a round trip",
        arguments: ["", "a", "a\0b\0", "é e\u{301} 🧑‍🚀", "\u{feff}bom", String(repeating: "x", count: 5000)])
    func textRoundTrip(text: String) throws {
        let copy = try #require(try ColumnProbe.roundTrip(text))
        #expect(Array(copy.utf8) == Array(text.utf8))
        #expect(try ColumnProbe.stored(text).storage == .string(text))
        #expect(String.fromDatabaseValue(text.databaseValue) == text)
    }

    @Test(
        "bytes survive a round trip",
        arguments: [Data(), Data([0]), Data((0...255).map { UInt8($0) }), Data([1, 2, 3]).dropFirst()])
    func dataRoundTrip(data: Data) throws {
        #expect(try ColumnProbe.roundTrip(data) == data)
        #expect(try ColumnProbe.stored(data).storage == .blob(data))
        #expect(Data.fromDatabaseValue(data.databaseValue) == data)
    }

    @Test("text of a UTF-16 database is read as UTF-8", arguments: ["UTF-16le", "UTF-16be"])
    func utf16(encoding: String) throws {
        #expect(try ColumnProbe.read(String.self, "'é🧑‍🚀' || char(0) || 'z'", encoding: encoding) == "é🧑‍🚀\0z")
        #expect(try ColumnProbe.databaseValue("'é🧑‍🚀'", encoding: encoding) == "é🧑‍🚀".databaseValue)
        #expect(try ColumnProbe.read(Data.self, "'é'", encoding: encoding) == Data([0xc3, 0xa9]))
        #expect(
            try ColumnProbe.read(Date.self, "'2001-01-01'", encoding: encoding)
                == Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test("text that is not UTF-8 is repaired, and its bytes can be read")
    func invalidText() throws {
        #expect(try ColumnProbe.read(String.self, "CAST(x'61ff62' AS TEXT)") == "a\u{fffd}b")
        #expect(try ColumnProbe.databaseValue("CAST(x'61ff62' AS TEXT)").storage == .string("a\u{fffd}b"))
        #expect(try ColumnProbe.read(Data.self, "CAST(x'61ff62' AS TEXT)") == Data([0x61, 0xff, 0x62]))
    }

    @Test(
        "a blob is read as text with its BOM; invalid UTF-8 is repaired, or nil for a stored value"
    )
    func textFromBlob() throws {
        for (blob, text) in [("x''", ""), ("x'c3a9'", "é"), ("x'efbbbf61'", "\u{feff}a"), ("x'00'", "\0")] {
            #expect(try ColumnProbe.read(String.self, blob)?.utf8.elementsEqual(text.utf8) == true)
            #expect(
                String.fromDatabaseValue(try ColumnProbe.databaseValue(blob))?.utf8.elementsEqual(text.utf8)
                    == true)
        }
        for blob in ["x'ff'", "x'c3'", "x'eda080'"] {
            #expect(try ColumnProbe.read(String.self, blob)?.contains("\u{fffd}") == true)
            #expect(String.fromDatabaseValue(try ColumnProbe.databaseValue(blob)) == nil)
        }
    }

    @Test("text can be read as bytes")
    func dataFromText() throws {
        #expect(try ColumnProbe.read(Data.self, "'é'") == Data([0xc3, 0xa9]))
        #expect(Data.fromDatabaseValue("é".databaseValue) == Data([0xc3, 0xa9]))
        #expect(try ColumnProbe.read(Data.self, "''") == Data())
    }

    @Test("a number is read as text or bytes only by SQLite's own conversion")
    func textFromNumber() throws {
        #expect(try ColumnProbe.read(String.self, "12") == "12")
        #expect(try ColumnProbe.read(String.self, "1.5") == "1.5")
        #expect(try ColumnProbe.read(Data.self, "12") == Data("12".utf8))
        #expect(String.fromDatabaseValue(12.databaseValue) == nil)
        #expect(Data.fromDatabaseValue(1.5.databaseValue) == nil)
    }

    @Test(
        "reading a column as another type does not change it",
        arguments: ["12", "1.5", "x'6162'", "'ab'", "'2001-01-01'"])
    func conversionKeepsColumn(expression: String) throws {
        try unsafe ColumnProbe.column(expression) { statement in
            let before = unsafe DatabaseValue(sqliteStatement: statement, index: 0)
            _ = unsafe String(sqliteStatement: statement, index: 0)
            _ = unsafe Data(sqliteStatement: statement, index: 0)
            _ = unsafe Int(sqliteStatement: statement, index: 0)
            _ = unsafe Double(sqliteStatement: statement, index: 0)
            _ = unsafe Date(sqliteStatement: statement, index: 0)
            _ = unsafe URL(sqliteStatement: statement, index: 0)
            _ = unsafe UUID(sqliteStatement: statement, index: 0)
            let after = unsafe DatabaseValue(sqliteStatement: statement, index: 0)
            #expect(after.storage == before.storage)
        }
    }

    @Test("NULL is neither text nor bytes")
    func null() throws {
        #expect(try ColumnProbe.read(String.self, "NULL") == nil)
        #expect(try ColumnProbe.read(Data.self, "NULL") == nil)
        #expect(try ColumnProbe.read(URL.self, "NULL") == nil)
        #expect(try ColumnProbe.read(UUID.self, "NULL") == nil)
        #expect(String.fromDatabaseValue(.null) == nil)
        #expect(Data.fromDatabaseValue(.null) == nil)
        try unsafe ColumnProbe.column("NULL") { statement in
            #expect(unsafe String(sqliteStatement: statement, index: 0) == nil)
            #expect(unsafe Data(sqliteStatement: statement, index: 0) == nil)
        }
    }

    @Test("a URL is stored as its absolute string")
    func urls() throws {
        let url = try #require(URL(string: "https://example.com/a%20b?c=d#e"))
        #expect(url.databaseValue.storage == .string("https://example.com/a%20b?c=d#e"))
        #expect(try ColumnProbe.roundTrip(url) == url)
        #expect(URL.fromDatabaseValue(url.databaseValue) == url)
        #expect(URL.fromDatabaseValue("".databaseValue) == nil)
        #expect(URL.fromDatabaseValue(1.databaseValue) == nil)
        let relative = try #require(URL(string: "b", relativeTo: URL(string: "https://example.com/a/")))
        #expect(relative.databaseValue.storage == .string("https://example.com/a/b"))
    }

    @Test("a UUID is stored as 16 bytes, and read from bytes or text")
    func uuids() throws {
        let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
        let uuid = try #require(UUID(uuidString: text))
        let blob = "x'E621E1F8C36C495A93FC0C247A3E6E5F'"
        #expect(try ColumnProbe.stored(uuid) == ColumnProbe.databaseValue(blob))
        #expect(uuid.databaseValue == (try ColumnProbe.databaseValue(blob)))
        #expect(try ColumnProbe.roundTrip(uuid) == uuid)
        for expression in [blob, "'\(text)'", "'\(text.lowercased())'"] {
            #expect(try ColumnProbe.read(UUID.self, expression) == uuid)
            #expect(UUID.fromDatabaseValue(try ColumnProbe.databaseValue(expression)) == uuid)
        }
        for expression in [
            "x''", "x'E621'", "'E621'", "''", "1", "1.5", "x'E621E1F8C36C495A93FC0C247A3E6E5F00'",
            "'{\(text)}'",
        ] {
            #expect(try ColumnProbe.read(UUID.self, expression) == nil)
            #expect(UUID.fromDatabaseValue(try ColumnProbe.databaseValue(expression)) == nil)
        }
    }
}
