import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// Authentic files whose content violates its schema.
@Suite("Content that breaks its schema")
struct ContentFindingsTests {
    private let directory: TestDirectory
    private let key = DatabaseKey.rawKey(ShellFile.key)

    init() throws { directory = try TestDirectory() }

    private struct Case: CustomTestStringConvertible {
        let testDescription: String
        let script: String
        /// The beginning of the finding, or nil if there is none.
        let beginning: String?
        /// True if the engine's own check reports it.
        var isSeenByEngine = true
        /// True if the rows cannot be inserted unchanged.
        var isRefused = false
    }

    private static let cases = [
        Case(
            testDescription: "an FTS4 table without content",
            script: """
                CREATE VIRTUAL TABLE f USING fts4(a, content='');
                INSERT INTO f (docid, a) VALUES (1, 'one'), (2, 'two');
                """,
            beginning: nil),
        Case(
            testDescription: "an FTS4 table whose content is gone",
            script: """
                CREATE TABLE c (a); CREATE VIRTUAL TABLE f USING fts4(a, content='c');
                INSERT INTO c VALUES ('one'); INSERT INTO f (f) VALUES ('rebuild'); DROP TABLE c;
                """,
            beginning: nil),
        Case(
            testDescription: "an FTS4 table that is behind its content",
            script: """
                CREATE TABLE c (a); CREATE VIRTUAL TABLE f USING fts4(a, content='c');
                INSERT INTO c VALUES ('one'); INSERT INTO f (f) VALUES ('rebuild');
                INSERT INTO c VALUES ('three');
                """,
            beginning: "malformed inverted index for FTS4"),
        Case(
            testDescription: "an FTS5 table that is behind its content",
            script: """
                CREATE TABLE c (a); CREATE VIRTUAL TABLE f USING fts5(a, content='c');
                INSERT INTO c VALUES ('one'); INSERT INTO f (f) VALUES ('rebuild');
                INSERT INTO c VALUES ('three'); DELETE FROM c WHERE a = 'one';
                """,
            beginning: "malformed inverted index for FTS5", isSeenByEngine: false),
        Case(
            testDescription: "an FTS5 table that is up to date with a view",
            script: """
                CREATE TABLE c (id INTEGER PRIMARY KEY, a); CREATE VIEW v AS SELECT id, a || ' more' AS a FROM c;
                CREATE VIRTUAL TABLE f USING fts5(a, content='v', content_rowid='id');
                INSERT INTO c VALUES (5, 'one'); INSERT INTO f (f) VALUES ('rebuild');
                """,
            beginning: nil),
        Case(
            testDescription: "an FTS5 table whose content is gone",
            script: """
                CREATE TABLE c (a); CREATE VIRTUAL TABLE f USING fts5(a, content='c');
                INSERT INTO c VALUES ('one'); INSERT INTO f (f) VALUES ('rebuild'); DROP TABLE c;
                """,
            beginning: nil),
        Case(
            testDescription: "an FTS5 table without content",
            script: """
                CREATE VIRTUAL TABLE f USING fts5(a, content='');
                INSERT INTO f (rowid, a) VALUES (1, 'one'), (2, 'two');
                """,
            beginning: nil),
        Case(
            testDescription: "a row that breaks a CHECK",
            script: """
                CREATE TABLE t (a CHECK (a > 5)); PRAGMA ignore_check_constraints = ON;
                INSERT INTO t VALUES (1);
                """,
            // A check may call an untrusted function, or one of the application. None is evaluated.
            beginning: nil),
        Case(
            testDescription: "a NULL in a column that has none by now",
            script: """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, NULL), (2, 'two');
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL)' WHERE name = 't';
                """,
            beginning: "NULL value in t.a", isRefused: true),
        Case(
            testDescription: "a text in an integer column of a table that is strict by now",
            script: """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 'one');
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a INT) STRICT' WHERE name = 't';
                """,
            beginning: "non-INT value in t.a", isRefused: true),
    ]

    @Test("it is not damage: it is reported, and copied unchanged", arguments: cases)
    private func isCopied(_ sample: Case) throws {
        let source = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: sample.script)
        let file = DatabaseFile(path: source.path)
        func check(_ name: String, key: DatabaseKey?) throws {
            let found = try DatabaseFile(path: directory.path(name)).verify(key: key)
            guard key != nil || sample.beginning == nil || !sample.isSeenByEngine else {
                // Without MACs, this may be damage.
                #expect(!found.isIntact && found.contentFindings.isEmpty, "\(name)")
                return
            }
            #expect(found.isIntact, "\(name)")
            if let beginning = sample.beginning {
                #expect(found.contentFindings.first?.hasPrefix(beginning) == true, "\(name): \(found)")
            } else {
                #expect(found.contentFindings == [], "\(name)")
            }
        }
        try check("a.db", key: key)
        try file.backup(to: directory.path("backup.db"), key: key)
        try check("backup.db", key: key)
        try DatabaseFile(path: directory.path("restored.db"))
            .restore(from: directory.path("backup.db"), key: key)
        try check("restored.db", key: key)
        try file.rotate(from: key, to: Keys.new)
        try check("a.db", key: Keys.new)
        var inPlace = DatabaseFile.RotationOptions()
        inPlace.method = .inPlace
        try file.rotate(from: Keys.new, to: key, options: inPlace)
        try check("a.db", key: key)
        try file.decrypt(
            to: directory.path("plain.db"), key: key, confirming: .contentBecomesReadableByAnyone)
        try check("plain.db", key: nil)
        try DatabaseFile(path: directory.path("plain.db")).encrypt(key: Keys.new)
        try check("plain.db", key: Keys.new)

        let (from, to) = try (
            DatabaseQueue(path: source.path, configuration: ShellFile.Format.sqlcipher4.configuration),
            directory.makeQueue("open.db")
        )
        try from.backup(to: to)
        // This copies the rows of an open database, not its pages.
        if sample.isRefused {
            let error = #expect(throws: DatabaseError.self) { try from.vacuum(into: directory.path("v.db")) }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT && !directory.fileNames().contains("v.db"))
        } else {
            try from.vacuum(into: directory.path("v.db"))
            try check("v.db", key: key)
        }
        _ = try from.rotateKey(to: Keys.other)
        try from.close()
        try to.close()
        try check("a.db", key: Keys.other)
    }

    @Test(
        "a full-text table that its module refuses to open is reported, and one that an application opens is not",
        arguments: [DatabaseFile.VerificationOptions.StructureCheck.quick, .full])
    func tableThatDoesNotOpen(structure: DatabaseFile.VerificationOptions.StructureCheck) throws {
        func verify(_ name: String, _ script: String) throws -> DatabaseFile.Verification {
            let source = try ShellFile(
                directory.path(name), format: .sqlcipher4,
                script: """
                    CREATE TABLE t (a); INSERT INTO t VALUES (1);
                    CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('one'), ('two');
                    .dbconfig defensive off
                    PRAGMA writable_schema = ON;
                    \(script)
                    """)
            var options = DatabaseFile.VerificationOptions()
            options.structure = structure
            return try DatabaseFile(path: source.path).verify(key: key, options: options)
        }
        let found = try verify("a.db", "DELETE FROM f_config;")
        #expect(found.isIntact && found.contentFindings.count == 1)
        #expect(found.contentFindings.first?.hasPrefix("f: invalid fts5 file format") == true, "\(found)")
        // The content is copied as stored, because the pages and trees are intact.
        try DatabaseFile(path: directory.path("a.db")).backup(to: directory.path("b.db"), key: key)
        #expect(try DatabaseFile(path: directory.path("b.db")).verify(key: key).contentFindings.count == 1)
        // Newer engines look for the tokenizer only after the tables of the index, so it needs them.
        let tokenized = try verify(
            "t.db",
            """
            CREATE VIRTUAL TABLE g USING fts5(a);
            UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE g USING fts5(a, tokenize=''mine'')'
                WHERE name = 'g';
            """)
        #expect(tokenized.isIntact && tokenized.contentFindings == [], "\(tokenized)")
        let definitions = ["fts4(a, tokenize=mine)", "mine(a)", "fts5(a, mine=1)", "fts4(a, mine=1)"]
        for (index, definition) in definitions.enumerated() {
            let found = try verify(
                "\(index).db",
                """
                INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
                    VALUES ('table', 'g', 'g', 0, 'CREATE VIRTUAL TABLE g USING \(definition)');
                """)
            #expect(found.isIntact && found.contentFindings == [], "\(definition): \(found)")
        }
    }

    @Test(
        "a full check finds a damaged index despite a table that only an application can open"
    )
    func fullCheckBesideUnknownTokenizer() throws {
        let source = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: """
                CREATE TABLE u (a); CREATE INDEX u_a ON u (a); INSERT INTO u VALUES ('in the index');
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
                    VALUES ('table', 'g', 'g', 0, 'CREATE VIRTUAL TABLE g USING fts5(a, tokenize=''mine'')');
                """)
        var bytes = try directory.bytes(of: "a.db")
        let entry = Array("in the index".utf8)
        let place = try #require(bytes.indices.last { bytes[$0...].starts(with: entry) })
        bytes[place] = UInt8(ascii: "I")
        try directory.write(bytes, to: "a.db")
        var options = DatabaseFile.VerificationOptions()
        options.structure = .full
        #expect(try !DatabaseFile(path: source.path).verify(key: nil, options: options).isIntact)
    }

    @Test(
        "damage is reported in addition to any number of content findings",
        arguments: ["chain", "record", "index"])
    func damageBeside(kind: String) throws {
        // The engine checks tables in its own order.
        let filled = (1...8).map { "CREATE TABLE t\($0) (a); INSERT INTO t\($0) SELECT NULL FROM n;" }
        let source = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: """
                CREATE TABLE n (a);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) INSERT INTO main.n SELECT i FROM n;
                \(filled.joined(separator: "\n"))
                CREATE TABLE u (a); CREATE INDEX u_a ON u (a); INSERT INTO u VALUES ('in the index');
                CREATE TABLE v (a); INSERT INTO v VALUES (300);
                CREATE TABLE w (a); INSERT INTO w VALUES (zeroblob(20000));
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TABLE ' || name || ' (a NOT NULL)' WHERE name LIKE 't_';
                """)
        func findings() throws -> StructureFindings {
            let connection = try FileProtection.plaintext.open(source.path)
            return try StructureCheck.full.findings(connection.handle, progress: ProgressReport(nil))
        }
        var found = try findings()
        #expect(found.damage.isEmpty && found.content.count == 100)
        var bytes = try directory.bytes(of: "a.db")
        switch kind {
        case "chain":
            // The last overflow page has a successor.
            bytes[bytes.count - 4096 + 3] = 2
        case "record":
            let roots = try source.shell.run("SELECT rootpage FROM sqlite_master WHERE name = 'v';")
            let page = try #require(roots.first.flatMap { Int($0) }.map { ($0 - 1) * 4096 })
            let cell = page + Int(bytes[page + 8]) << 8 + Int(bytes[page + 9])
            // This type does not exist.
            bytes[cell + 3] = 11
        default:
            let entry = Array("in the index".utf8)
            let places = bytes.indices.filter { bytes[$0...].starts(with: entry) }
            #expect(places.count == 2)
            for place in places.suffix(1) { bytes[place] = UInt8(ascii: "I") }
        }
        try directory.write(bytes, to: "a.db")
        found = try findings()
        #expect(!found.damage.isEmpty && found.content.count <= 100, "\(found)")
    }

    @Test("a check stopped in a full-text table ends without findings")
    func ended() throws {
        let source = try ShellFile(
            directory.path("a.db"), format: .sqlcipher4,
            script: """
                CREATE VIRTUAL TABLE f USING fts4(a);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
                INSERT INTO f SELECT 'word' || i FROM n;
                """)
        struct Ended: Error {}
        // End at each of its reports in turn.
        for end in 2... {
            var calls = 0
            do {
                let found = try DatabaseFile(path: source.path).verify(key: key) { step in
                    guard step.phase == .checkingStructure else { return }
                    calls += 1
                    if calls == end { throw Ended() }
                }
                #expect(calls < end, "\(found)")
                #expect(found.contentFindings.isEmpty && end > 5)
                return
            } catch is Ended {}
        }
    }
}
