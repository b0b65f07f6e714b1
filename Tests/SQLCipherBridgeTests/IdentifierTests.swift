import CofferTestSupport
import SQLCipherBridge
import Testing

/// Names of a schema as strings, with escapes for bytes that are not valid UTF-8.
@Suite("Identifiers")
struct IdentifierTests {
    @Test(
        "valid UTF-8 names are unchanged",
        arguments: ["", "a", "name", "\u{e9}", "e\u{301}", "\u{1f600}", "\u{fffd}"])
    func valid(name: String) {
        let identifier = String(identifier: name.utf8)
        #expect(Array(identifier.utf8) == Array(name.utf8))
        #expect(Array(name.utf8) == identifier.identifierBytes)
        #expect(!identifier.hasEscapedBytes)
    }

    @Test("a name that is not valid UTF-8 becomes a string that preserves its bytes")
    func escapes() {
        let cases: [[UInt8]] = [
            [0xf6], [0x74, 0xf6, 0xdf], [0xc3], [0xc3, 0xa4, 0xc3], [0xe2, 0x82], [0xf4, 0x8f, 0xbe],
            [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe], [0x80, 0xf4, 0x8f, 0xbf, 0xbf],
        ]
        for bytes in cases {
            let identifier = String(identifier: bytes)
            #expect(identifier.identifierBytes == bytes)
            #expect(identifier.hasEscapedBytes)
            #expect(identifier.readableIdentifier == String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("a valid name with scalars that look like escapes keeps its bytes")
    func scalarsOfEscapes() {
        let name = "a\u{10ff80}\u{10fff6}\u{10ff7f}\u{10ffff}"
        let identifier = String(identifier: name.utf8)
        #expect(identifier.identifierBytes == Array(name.utf8))
        #expect(identifier.readableIdentifier == name)
        #expect(!identifier.hasEscapedBytes)
        #expect(identifier != String(identifier: [0x61, 0x80, 0xf6]))
    }

    @Test("random bytes are kept, and different bytes have different strings")
    func random() {
        var generator = SeededRandom("identifiers")
        var strings: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<20_000 {
            let alphabet: [UInt8] = [0x61, 0x80, 0xbf, 0xbe, 0x8f, 0xf4, 0xc3, 0xa4, 0xe2, 0xf0, 0xff]
            let bytes = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            let identifier = String(identifier: bytes)
            #expect(identifier.identifierBytes == bytes)
            let previous = strings.updateValue(bytes, forKey: Array(identifier.utf8))
            #expect(previous == nil || previous == bytes)
        }
    }

    @Test("trusted SQL passes a name's bytes to SQLite, and names are read back as the same strings")
    func statements() throws {
        let connection = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        let handle = connection.handle
        let name = String(identifier: [0x74, 0x20, 0xf6])
        try handle.execute(trusted: "CREATE TABLE \"\(name)\" (a); INSERT INTO \"\(name)\" VALUES (1)")
        #expect(try handle.identifiers(trusted: "SELECT name FROM sqlite_master") == [name])
        #expect(try handle.column(trusted: "SELECT name FROM sqlite_master") == ["t \u{fffd}"])
        #expect(try handle.column(trusted: "SELECT hex(name) FROM sqlite_master") == ["7420F6"])
        #expect(try handle.firstText(trusted: "SELECT a FROM \"\(name)\"") == "1")
    }
}
