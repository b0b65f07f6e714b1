import CofferTestSupport
import Foundation

@testable import Coffer

/// A file of about 300 pages with a page of every kind, made by the stock shell. Each row contains a unique
/// word, so its content is recognizable wherever it is salvaged to.
struct TokenVault {
    let file: ShellFile
    /// The stored pages, encrypted.
    let stored: [UInt8]
    /// The decrypted pages, which are a plaintext database.
    let plaintext: [UInt8]
    let pageCount: Int

    static let pageSize = 4096

    /// - Parameter addition: SQL that is appended to the script.
    init(in directory: TestDirectory, addition: String = "") throws {
        file = try ShellFile(
            directory.path("vault.db"), format: .sqlcipher4, script: TokenVault.script + addition)
        stored = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        let protection = try FileProtection.encrypted(.rawKey(ShellFile.key), cipher: CipherSettings())
        let pages = try PageFile(StoredView(file.path, pageSize: TokenVault.pageSize, timeout: 0), protection)
        pageCount = pages.pageCount
        var plaintext: [UInt8] = []
        for number in 1...pageCount { plaintext += try pages.content(number) }
        plaintext.replaceSubrange(0..<16, with: DatabaseHeader.magic)
        self.plaintext = plaintext
    }

    /// Tables with interior pages, with and without row IDs, overflow pages, indexes, a full-text index, an
    /// R-Tree, a schema of several pages, and free pages.
    private static let script = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT NOT NULL, content BLOB, ending TEXT);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
        INSERT INTO item SELECT 3 * i, printf('tok-item-%06d-a', i), randomblob(i % 300 + iif(i % 60 = 0, \
        12000, 0)), printf('tok-item-%06d-z', i) FROM n;
        CREATE INDEX item_title ON item (title);
        CREATE TABLE share (owner TEXT, item INTEGER, since REAL, PRIMARY KEY (owner, item)) WITHOUT ROWID;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO share SELECT printf('tok-share-%06d-a with a name', i), i, i + 0.5 FROM n;
        CREATE TABLE owner (name TEXT, note TEXT);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
        INSERT INTO owner SELECT printf('tok-owner-%06d-a', i), hex(randomblob(60)) FROM n;
        CREATE UNIQUE INDEX owner_name ON owner (name);
        CREATE VIRTUAL TABLE words USING fts5(title);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO words SELECT printf('tok-words-%06d-a', i) || ' ' || hex(randomblob(100)) FROM n;
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +name);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO boxes SELECT i, i % 37, i % 37 + 2, i % 41, i % 41 + 3.5, printf('tok-boxes-%06d-a', i) \
        FROM n;
        CREATE TABLE filler (a); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO filler SELECT printf('tok-gone-%06d-a', i) || hex(randomblob(200)) FROM n; DROP TABLE \
        filler;

        """

    func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the words in SQL text, such as the output of `.dump`.
    static func tokens(_ text: String) -> [String] {
        // Works on bytes, because it runs for every page of a file.
        let bytes = Array(text.utf8)
        let start = Array("tok-".utf8)
        var tokens: [String] = []
        var index = 0
        while index + 16 < bytes.count {
            guard bytes[index] == start[0], bytes[index..<index + 4].elementsEqual(start) else {
                index += 1
                continue
            }
            // For example, tok-item-000123-a.
            let end = (bytes[(index + 4)...].firstIndex { !(97...122).contains($0) } ?? bytes.count) + 9
            guard end <= bytes.count else { break }
            tokens.append(String(decoding: bytes[index..<end], as: UTF8.self))
            index = end
        }
        return tokens
    }

    /// Returns the words of a database in a dump by the stock shell, without the computed ones of full-text
    /// indexes.
    static func tokens(of shell: SQLCipherShell) throws -> [String] {
        try tokens(
            shell.run(".dump").filter { !$0.contains("words_data") && !$0.contains("words_idx") }.joined(
                separator: "\n"))
    }

    /// Returns the use of each page, as text.
    func kinds() throws -> [Int: String] {
        let plain = file.path + ".plain"
        try write(plaintext, to: plain)
        defer { try? FileManager.default.removeItem(atPath: plain) }
        let lines = try SQLCipherShell(plaintextPath: plain).run(
            "SELECT pageno, name || ' ' || pagetype FROM dbstat")
        return Dictionary(
            lines.compactMap { line in
                let parts = line.split(separator: "|", maxSplits: 1)
                return Int(parts[0]).map { ($0, String(parts[1])) }
            }, uniquingKeysWith: { first, _ in first })
    }
}
