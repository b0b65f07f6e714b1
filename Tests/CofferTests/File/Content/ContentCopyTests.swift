import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Copies of the content of a file")
struct ContentCopyTests {
    private let directory: TestDirectory
    private let key = DatabaseKey.rawKey(ShellFile.key)

    init() throws { directory = try TestDirectory() }

    @Test(
        "the engine's own copy and the copy through the connections are equal, row IDs included",
        arguments: [ShellFile.Format.plaintext, .sqlcipher1, .sqlcipher3, .sqlcipher4], ["UTF-8", "UTF-16be"])
    func bothWays(format: ShellFile.Format, encoding: String) throws {
        let script = "PRAGMA encoding = '\(encoding)';\n" + SampleSchema.everything
        let file = try ShellFile(directory.path("a.db"), format: format, script: script)
        let before: FileProtection =
            if let number = format.number {
                try .encrypted(key, cipher: .sqlcipher(format: number))
            } else {
                .plaintext
            }
        let source = try before.open(file.path)
        var digests: [String] = []
        for (name, origin) in [
            ("engine.db", RowCopy.Source(path: file.path, protection: before)), ("values.db", nil),
        ] {
            let copy = ContentFile(
                protection: try .encrypted(Keys.new, cipher: CipherSettings()), way: .rows(origin),
                prepare: { _ in }, progress: ProgressReport(nil))
            let made = try copy.make(from: source.handle, at: directory.path(name))
            digests.append(try made.content.digest)
        }
        #expect(digests[0] == digests[1])
        let dumps = try [file.shell, shell("engine.db"), shell("values.db")].map(SampleSchema.dump)
        #expect(dumps[1] == dumps[0] && dumps[2] == dumps[0])
    }

    private func shell(_ name: String) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: Keys.newBytes)
    }

    @Test(
        "commits during the copy of a file are not in the copy, with or without a log",
        arguments: [true, false])
    func othersWrite(hasLog: Bool) throws {
        let file = try directory.makeFile("a.db", wal: true, rows: 8000)
        var configuration = Configuration()
        configuration.key = Keys.old
        configuration.journalMode = .wal
        let writer = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        if hasLog { try writer.write { try $0.execute(sql: "UPDATE t SET a = 'before' WHERE id < 4000") } }
        let before = try directory.content(key: Keys.old)
        var isWritten = false
        try file.vacuum(into: directory.path("b.db"), key: Keys.old, newKey: Keys.new) { progress in
            guard progress.phase == .copying, progress.totalPageCount > 0, !isWritten else { return }
            isWritten = true
            try writer.write { try $0.execute(sql: "UPDATE t SET a = 'after', b = randomblob(400)") }
            try writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }
        #expect(isWritten)
        #expect(try directory.content("b.db", key: Keys.new) == before)
        #expect(try directory.content(key: Keys.old) != before)
    }

    @Test("a damaged page of a constraint's index is either named or rebuilt, and never copied")
    func damagedIndexes() throws {
        let script = """
            CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT UNIQUE);
            CREATE TABLE b (k TEXT PRIMARY KEY, v);
            CREATE TABLE c (k INTEGER PRIMARY KEY, v TEXT UNIQUE) WITHOUT ROWID;
            INSERT INTO a SELECT value, hex(randomblob(25)) FROM generate_series(1, 800);
            INSERT INTO b SELECT hex(randomblob(25)), value FROM generate_series(1, 800);
            INSERT INTO c SELECT value, hex(randomblob(25)) FROM generate_series(1, 800);

            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let selection = "SELECT * FROM a; SELECT * FROM b; SELECT * FROM c;"
        let before = try file.shell.run(selection)
        let intact = try directory.bytes(of: "a.db")
        var kinds: Set<String> = []
        for page in 2...intact.count / 4096 {
            var bytes = intact
            bytes[(page - 1) * 4096 + 3000] ^= 1
            try directory.write(bytes, to: "a.db")
            let copy = directory.path("copy \(page).db")
            do {
                try DatabaseFile(path: file.path).vacuum(into: copy, key: key, newKey: Keys.new)
            } catch let error as DatabaseFileError {
                #expect(error.reason == .damaged(pages: [page]))
                kinds.insert("named")
                continue
            }
            #expect(try shell("copy \(page).db").run("PRAGMA integrity_check;") == ["ok"], "page \(page)")
            #expect(try shell("copy \(page).db").run(selection) == before, "page \(page)")
            kinds.insert("made anew")
        }
        #expect(kinds == ["named", "made anew"])
    }

    @Test("an index that contradicts the rows is rebuilt from the rows")
    func inconsistentIndex() throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE); INSERT INTO t VALUES (1, 'old');"
        )
        let hidden = "'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)'"
        let shown = "'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)'"
        for change in [
            "UPDATE sqlite_master SET sql = \(hidden) WHERE name = 't'; "
                + "DELETE FROM sqlite_master WHERE type = 'index'",
            "UPDATE t SET v = 'new'",
            "UPDATE sqlite_master SET sql = \(shown) WHERE name = 't'; "
                + "INSERT INTO sqlite_master VALUES ('index', 'sqlite_autoindex_t_1', 't', 3, NULL)",
        ] {
            _ = try file.shell.run(".dbconfig defensive off\nPRAGMA writable_schema = ON; \(change);")
        }
        #expect(try file.shell.run("PRAGMA integrity_check;") != ["ok"])
        try DatabaseFile(path: file.path).encrypt(to: directory.path("b.db"), key: Keys.new)
        #expect(
            try shell("b.db").run("PRAGMA integrity_check; SELECT id FROM t WHERE v = 'new';") == ["ok", "1"])
    }

    /// Changes the definition of a table without changing its rows.
    private func redefine(_ table: String, as sql: String, in file: ShellFile) throws {
        _ = try file.shell.run(
            ".dbconfig defensive off\nPRAGMA writable_schema = ON; "
                + "UPDATE sqlite_master SET sql = '\(sql)' WHERE name = '\(table)';")
    }

    @Test("a generated column that is stored with another value is recomputed")
    func staleGeneratedColumn() throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: "CREATE TABLE t (id INTEGER PRIMARY KEY, b AS (id * 2) STORED); INSERT INTO t VALUES (1);"
        )
        try redefine("t", as: "CREATE TABLE t (id INTEGER PRIMARY KEY, b AS (id * 3) STORED)", in: file)
        #expect(try file.shell.run("SELECT b FROM t;") == ["2"])
        try DatabaseFile(path: file.path).encrypt(to: directory.path("b.db"), key: Keys.new)
        #expect(try shell("b.db").run("SELECT b FROM t;") == ["3"])
    }

    @Test("rows that violate the primary key of a WITHOUT ROWID table are not copied", arguments: ["2", "1"])
    func brokenPrimaryKey(second: String) throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: """
                CREATE TABLE w (k, b, c, PRIMARY KEY (k, b, c)) WITHOUT ROWID;
                INSERT INTO w VALUES (3, 1, 1), (3, \(second), 2);
                """)
        try redefine("w", as: "CREATE TABLE w (k, b, c, PRIMARY KEY (k)) WITHOUT ROWID", in: file)
        let error = #expect(throws: DatabaseFileError.self) {
            try DatabaseFile(path: file.path).encrypt(to: directory.path("b.db"), key: Keys.new)
        }
        guard case .inconsistent = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(directory.fileNames() == ["a.db"])
    }
}
