import CofferTestSupport
import Testing

@testable import Coffer

@Suite("Salvage of values that do not have the type of their column")
struct SalvageAffinityTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func salvage(_ file: ShellFile) throws -> (DatabaseFile.Salvage, SQLCipherShell) {
        let key = DatabaseKey.rawKey(ShellFile.key)
        let salvage = try DatabaseFile(path: file.path).salvage(key: key, to: directory.path("b.db"))
        return (salvage, SQLCipherShell(path: directory.path("b.db"), rawKey: ShellFile.key))
    }

    @Test("keeps their rows as lost rows, with the stored values", arguments: ["UTF-8", "UTF-16le"])
    func converted(encoding: String) throws {
        // The columns get their types after the values.
        let file = try ShellFile(
            directory.path("a.db"), format: .sqlcipher4,
            script: """
                PRAGMA encoding = '\(encoding)';
                CREATE TABLE t (id INTEGER PRIMARY KEY, a, b);
                INSERT INTO t VALUES (1, '007', 'x'), (2, 1.0, 'x'), (3, 5, 5), (4, ' -1e3 ', 'x'), (5, 2, 2.5),
                    (6, '2024-01-01', 'x'), (7, 'e', '12'), (8, 1.5, 'x'), (9, '.', 'x'), (10, x'30', x'31'),
                    (11, NULL, NULL), (12, '1 2', 'x'), (13, '9e', 'x'), (14, 12, 'x');
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a DATETIME, b TEXT)';
                """)
        let (salvage, shell) = try salvage(file)
        #expect(salvage.tables.map(\.rowCount) == [9] && !salvage.isComplete, "\(salvage)")
        #expect(
            try shell.run("SELECT group_concat(id) FROM (SELECT id FROM t ORDER BY id)") == [
                "6,7,8,9,10,11,12,13,14"
            ])
        let lost = "SELECT row_id, quote(c1), quote(c2), reason FROM lost_and_found_3 ORDER BY row_id"
        let reason = "a value has another type than its column"
        #expect(
            try shell.run(lost)
                == [
                    "1|'007'|'x'|\(reason)", "2|1.0|'x'|\(reason)", "3|5|5|\(reason)",
                    "4|' -1e3 '|'x'|\(reason)", "5|2|2.5|\(reason)",
                ])
    }

    @Test(
        "keeps all values of columns of each type, also in STRICT tables",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func unchanged(encoding: String) throws {
        let script = """
            PRAGMA encoding = '\(encoding)';
            CREATE TABLE t (i INT, n NUMERIC, d DATE, r REAL, s TEXT, b BLOB, u);
            CREATE TABLE strict_t (i INT, r REAL, s TEXT, b BLOB, a ANY) STRICT;
            INSERT INTO t VALUES ('1', '1.5', '2024-01-01', '1', 1, 1, '1'), (1.0, 1e300, 'e', 2, 2.5, '1', 1.0),
                ('1' || char(0), char(0x3000), char(0x3100) || char(0x2000), char(0x31), char(0), x'', 'e'),
                ('9223372036854775808', '-', '+', '12345678901234567890', '', x'00', -0.0);
            INSERT INTO strict_t VALUES (1, 2, '3', x'34', '5'), (1.0, 2.0, 3, x'', 5.0), (NULL, 1e20, '', x'', '007');
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let (salvage, shell) = try salvage(file)
        #expect(salvage.isComplete, "\(salvage)")
        let values =
            "SELECT quote(i), quote(r), quote(s), quote(b) FROM t UNION ALL SELECT quote(a), quote(i), quote(r), quote(s) FROM strict_t"
        let before = try SQLCipherShell(path: file.path, rawKey: ShellFile.key).run(values)
        #expect(try shell.run(values) == before && before.count == 7)
    }

    @Test("keeps contentless full-text tables, whose index cannot be checked")
    func contentless() throws {
        let script =
            "CREATE VIRTUAL TABLE f USING fts4(content='', a); INSERT INTO f(docid, a) VALUES (7, 'some words');"
        let (salvage, shell) = try salvage(
            ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script))
        #expect(salvage.isComplete, "\(salvage)")
        #expect(try shell.run("SELECT docid FROM f WHERE f MATCH 'words'") == ["7"])
    }
}
