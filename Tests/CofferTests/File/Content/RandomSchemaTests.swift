import Coffer
import CofferTestSupport
import Testing

@Suite("Copies of random databases")
struct RandomSchemaTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "the shell reads the same from an encrypted and a decrypted copy of any tables and rows"
    )
    func roundTrip() throws {
        var random = SeededRandom("schemas")
        for number in 0..<Nightly.pick(100, byDay: 4) {
            let plain = try ShellFile(
                directory.path("\(number).db"), format: .plaintext, script: RandomSchema.script(&random))
            let before = try SampleSchema.dump(plain.shell)
            let key = DatabaseKey.rawKey(ShellFile.key)
            let path = directory.path("\(number) encrypted.db")
            let encrypted = try DatabaseFile(path: plain.path).encrypt(to: path, key: key)
            let after = try SampleSchema.dump(SQLCipherShell(path: path, rawKey: ShellFile.key))
            #expect(before == after)
            let back = directory.path("\(number) back.db")
            let decrypted = try DatabaseFile(path: path).decrypt(
                to: back, key: key, confirming: .contentBecomesReadableByAnyone)
            #expect(try SampleSchema.dump(SQLCipherShell(plaintextPath: back)) == before)
            #expect(decrypted.proof?.contentDigest == encrypted.proof?.contentDigest)
        }
    }
}

/// Scripts that create tables with random names, types, keys, values, indexes and triggers.
private enum RandomSchema {
    static func script(_ random: inout SeededRandom) -> String {
        var lines = [
            "PRAGMA encoding = '\(["UTF-8", "UTF-16le", "UTF-16be"].randomElement(using: &random) ?? "UTF-8")';",
            "PRAGMA page_size = \([512, 1024, 4096, 65536].randomElement(using: &random) ?? 4096);",
            "PRAGMA auto_vacuum = \(Int.random(in: 0...2, using: &random));",
            "PRAGMA user_version = \(Int32(truncatingIfNeeded: random.next()));",
        ]
        for number in 0..<Int.random(in: 1...8, using: &random) { lines += table(number, &random) }
        return lines.joined(separator: "\n")
    }

    private static func table(_ number: Int, _ random: inout SeededRandom) -> [String] {
        let name =
            "\(["t", "T \"x\"", "é", "select", "a'b", "_"].randomElement(using: &random) ?? "t")\(number)"
            .quotedDatabaseIdentifier
        let names = ["rowid", "oid", "_rowid_", "a", "B", "c d", "\"", "from", "ü", "e'"].shuffled(
            using: &random
        )
        .prefix(Int.random(in: 1...6, using: &random)).map(\.quotedDatabaseIdentifier)
        let kind = Int.random(in: 0...3, using: &random)
        let types = ["", "INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC", "INTEGER PRIMARYISH"]
        var definitions = names.enumerated().map { index, column in
            if index == 0 && kind == 0 {
                return "\(column) INTEGER PRIMARY KEY\(Bool.random(using: &random) ? " AUTOINCREMENT" : "")"
            }
            if index == 0 && kind == 2 { return "\(column) INT" }
            let collation = ["", "", " COLLATE NOCASE", " COLLATE RTRIM"].randomElement(using: &random) ?? ""
            return "\(column) \(types.randomElement(using: &random) ?? "")\(collation)"
        }
        if Bool.random(using: &random) {
            definitions.append(
                "generated AS (typeof(\(names[0]))) \(Bool.random(using: &random) ? "STORED" : "")")
        }
        if kind == 1 {
            definitions.append("PRIMARY KEY (\(names.shuffled(using: &random).joined(separator: ", ")))")
        }
        if kind == 2 { definitions.append("PRIMARY KEY (\(names[0]) DESC)") }
        var lines = [
            "CREATE TABLE \(name) (\(definitions.joined(separator: ", ")))\(kind == 1 ? " WITHOUT ROWID" : "");"
        ]
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let values = names.indices.map { index in
                index == 0 && kind == 0 ? "\(Int64(truncatingIfNeeded: random.next()))" : value(&random)
            }
            lines.append(
                "INSERT OR IGNORE INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")));"
            )
        }
        if let column = names.randomElement(using: &random), Bool.random(using: &random) {
            lines.append(
                "CREATE INDEX \"i \(number)\" ON \(name) (\(column) DESC) WHERE \(names[0]) IS NOT NULL;")
            lines.append(
                "CREATE TRIGGER \"g \(number)\" AFTER INSERT ON \(name) BEGIN DELETE FROM \(name); END;")
        }
        if Bool.random(using: &random) { lines.append("DELETE FROM \(name) WHERE \(names[0]) IS NULL;") }
        return lines
    }

    private static func value(_ random: inout SeededRandom) -> String {
        switch Int.random(in: 0...9, using: &random) {
        case 0: "NULL"
        case 1: "\(Int64(truncatingIfNeeded: random.next()) >> Int.random(in: 0..<64, using: &random))"
        case 2: "\(Double.random(in: -1e10...1e10, using: &random))"
        case 3: "x'\(hexadecimal(random.bytes(Int.random(in: 0...20, using: &random))))'"
        case 4: "CAST(x'\(hexadecimal(random.bytes(2 * Int.random(in: 0...6, using: &random))))' AS TEXT)"
        case 5: "zeroblob(\(Int.random(in: 0...20000, using: &random)))"
        case 6: "'\(Int.random(in: -9...9, using: &random))'"
        case 7: "char(65279) || 'mark'"
        case 8: "''"
        default: "'text ' || '\(String(repeating: "é", count: Int.random(in: 0...2000, using: &random)))'"
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
