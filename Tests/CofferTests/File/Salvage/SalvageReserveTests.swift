import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Files whose pages reserve more bytes than their cipher needs: SQLCipher 4 creates them if the format is
/// set after the key, as is usual.
@Suite("Salvage of files with a large reserve")
struct SalvageReserveTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let formats = [
        "cipher_compatibility = 3", "cipher_compatibility = 1", "cipher_use_hmac = off",
    ]

    private func settings(_ preparation: String) -> CipherSettings {
        switch preparation {
        case "cipher_compatibility = 3": return .sqlcipher(format: 3)
        case "cipher_compatibility = 1": return .sqlcipher(format: 1)
        default:
            var settings = CipherSettings()
            settings.usesHMAC = false
            return settings
        }
    }

    /// Makes a file with rows of up to 20,000 bytes, and returns its path.
    private func makeFile(_ preparation: String) throws -> String {
        let path = directory.path("a.db")
        let shell = SQLCipherShell(path: path, rawKey: ShellFile.key, preparation: "PRAGMA \(preparation);")
        _ = try shell.run(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, content, note);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
            INSERT INTO item SELECT i, randomblob(i * i * 5), 'kept ' || i FROM n;
            """)
        return path
    }

    private func salvage(_ path: String, _ settings: CipherSettings) throws -> (
        DatabaseFile.Salvage, SQLCipherShell
    ) {
        var options = DatabaseFile.SalvageOptions()
        options.cipher = settings
        let key = DatabaseKey.rawKey(ShellFile.key)
        let salvage = try DatabaseFile(path: path).salvage(
            key: key, to: directory.path("b.db"), newKey: key, options: options)
        return (salvage, SQLCipherShell(path: directory.path("b.db"), rawKey: ShellFile.key))
    }

    @Test("keeps the rows that have overflow pages", arguments: formats)
    func overflow(preparation: String) throws {
        let (salvage, shell) = try salvage(makeFile(preparation), settings(preparation))
        #expect(salvage.isComplete, "\(salvage)")
        let sums = try shell.run("SELECT count(*), sum(length(content)), sum(length(note)) FROM item")
        #expect(sums == ["60|369050|411"])
    }

    @Test("also finds the reserve if the first page is damaged", arguments: formats)
    func firstPage(preparation: String) throws {
        let path = try makeFile(preparation)
        let settings = settings(preparation)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        // The header without the salt, and the rest of the page.
        try file.seek(toOffset: 16)
        try file.write(contentsOf: Data(repeating: 0xa5, count: settings.pageSize - 16))
        try file.close()
        let (_, shell) = try salvage(path, settings)
        let table = try #require(
            try shell.run("SELECT name FROM sqlite_schema WHERE name LIKE 'lost_and_found%'").first)
        let sums = try shell.run("SELECT count(*), sum(length(c1)), sum(length(c2)) FROM \(table)")
        #expect(sums == ["60|369050|411"])
    }
}
