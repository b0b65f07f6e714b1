import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The shell")
struct ShellTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 3)
    }

    private func start(_ options: String..., columns: UInt16 = 100) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            Tool.program, ["shell", "a.db"] + key + options, folder: tool.directory.path, columns: columns,
            environment: ["HOME": tool.directory.path, "LANG": "C.UTF-8"])
        try terminal.prompt("(encrypted)> ")
        return terminal
    }

    private func script(_ lines: String, _ options: String...) throws -> Tool.Result {
        try tool.run(["shell", "a.db"] + key + options, input: lines)
    }

    // MARK: At a terminal

    @Test("statements of several lines run, and rows, changes and errors are shown")
    func statements() throws {
        let terminal = try start("--write")
        terminal.type("SELECT count(*) AS rows_there\r")
        try terminal.prompt("...> ")
        terminal.type("FROM t;\r")
        try terminal.expect("rows_there")
        try terminal.expect("3")
        terminal.type("INSERT INTO t (text) VALUES ('a'), ('b'); SELEKT 1; \r")
        try terminal.expect("2 rows changed")
        try terminal.expect("syntax error")
        terminal.type("SELECT 'it is\r")
        try terminal.expect("''> ")
        terminal.type("open';\r")
        try terminal.expect("it is\\nopen")
        // Keys typed before the prompt appears would go to the terminal.
        try terminal.prompt("(encrypted)> ")
        terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["5"])
    }

    @Test("a line is edited with the keys of an editor, with letters of several bytes too")
    func editing() throws {
        let terminal = try start()
        // Go to the start of the line, forward two letters, delete one, go to the end of the line, delete
        // two.
        terminal.type("XSELECT 'ärger' AS löss9\u{1}\u{6}\u{8}\u{5}\u{7f}\u{7f};\r")
        try terminal.expect("lös")
        try terminal.expect("ärger")
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT 1234;\u{15}SELECT 56;\r")
        try terminal.expect("56\r\n--")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
    }

    @Test("a name that is not an identifier is completed in quotes")
    func quotedCompletion() throws {
        _ = try tool.shell().run(
            "CREATE TABLE \"odd name\" (\"zoo \"\"first\"); INSERT INTO \"odd name\" VALUES ('low' || 'er');")
        let terminal = try start()
        terminal.type("SELECT zoo\t FROM odd\t;\r")
        try terminal.expect("lower")
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT \"zo\t || 'ed' FROM \"od\t;\r")
        try terminal.expect("lowered")
        try terminal.prompt("(encrypted)> ")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
    }

    @Test("tab completes commands, keywords, tables and columns")
    func completion() throws {
        _ = try tool.shell().run(
            "CREATE TABLE zebra_crossings (first_street, second_street); INSERT INTO zebra_crossings VALUES ('high', 'low');"
        )
        let terminal = try start()
        terminal.type("SEL\tsecond_\t FROM zeb\t;\r")
        try terminal.expect("low")
        try terminal.prompt("(encrypted)> ")
        terminal.type("select zebra_crossings.fir\t from zebra_\t;\r")
        try terminal.expect("high")
        try terminal.prompt("(encrypted)> ")
        terminal.type(".tab\t\r")
        try terminal.expect("zebra_crossings\r\n")
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT C\t\t")
        try terminal.expect("CASE")
        try terminal.expect("CURRENT_TIMESTAMP")
        terminal.type("\u{3}.exit\r")
        #expect(try terminal.end() == 0)
    }

    @Test(
        "Ctrl-C ends an import and a script that wait for a pipe, and keeps nothing of the import",
        arguments: [".import", ".read"])
    func interruptedInput(command: String) throws {
        let name = command == ".import" ? "pipe.csv" : "pipe.sql"
        #expect(unsafe mkfifo(tool.directory.path(name), 0o600) == 0)
        let terminal = try start("--write")
        // Interrupt before there is input.
        terminal.type("\(command) \(name)\(command == ".import" ? " t" : "")\r")
        try terminal.wait("as it was") { terminal.hasEcho }
        terminal.type("\u{3}")
        try terminal.expect("interrupted")
        try terminal.prompt("(encrypted)> ")
        // Interrupt in the middle of the input.
        terminal.type("\(command) \(name)\(command == ".import" ? " t" : "")\r")
        var pipe: Int32 = -1
        try terminal.wait("open") {
            pipe = unsafe open(tool.directory.path(name), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return pipe >= 0
        }
        defer { close(pipe) }
        let text =
            command == ".import"
            ? "id,text\n" + (10..<3000).map { "\($0),x\n" }.joined()
            : "INSERT INTO t (text) VALUES ('never');\n"
        #expect(unsafe write(pipe, text, text.utf8.count) == text.utf8.count)
        terminal.type("\u{3}")
        try terminal.expect("interrupted")
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT 'rows: ' || count(*) FROM t;\r")
        try terminal.expect("rows: 3")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
    }

    @Test("an import into a missing table creates it")
    func importIntoNewTable() throws {
        try tool.write("z,a\n1,x\n2,y\n", to: "rows.csv")
        try tool.write(#"[{"z": 3}]"#, to: "rows.json")
        let result = try script(
            ".import rows.csv new\n.import rows.json new\n.mode quote\nSELECT * FROM new;\n", "--write")
        #expect(
            result.status == 0 && result.errors.contains("2 rows imported into new, which is new"),
            "\(result)")
        #expect(result.errors.contains("1 row imported into new\n"), "\(result)")
        #expect(result.output.hasSuffix("1,'x'\n2,'y'\n3,NULL\n"), "\(result)")
    }

    @Test("a number of a late row is shown whole where there is room for it")
    func wideRow() throws {
        let terminal = try start()
        terminal.type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) ")
        terminal.type("SELECT CASE WHEN i = 700 THEN 1234567 * 1000000 ELSE 1 END AS a, 'b' AS b FROM n;\r")
        try terminal.expect("1234567000000  b")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
    }

    @Test("Ctrl-C interrupts a statement or discards a line, but does not end the shell")
    func interruption() throws {
        let terminal = try start("--write")
        terminal.type("BEGIN; INSERT INTO t (text) VALUES ('kept'); \r")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type(".timer on\r")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;\r")
        try terminal.expect("FROM n;\r\n")
        // While the statement runs, the terminal has its original settings, and Ctrl-C raises a signal.
        try terminal.wait("as it was") { terminal.hasEcho }
        terminal.type("\u{3}")
        try terminal.expect("interrupted")
        try terminal.prompt("(encrypted, transaction)> ")
        // The whole line is discarded.
        terminal.type(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n; DELETE FROM t;\r"
        )
        try terminal.wait("as it was") { terminal.hasEcho }
        terminal.type("\u{3}")
        try terminal.expect("interrupted")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type("SELECT 'kept: ' || count(*) FROM t;\r")
        try terminal.expect("kept: 4")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type("SELECT 'never' WHERE\u{3}")
        try terminal.expect("^C")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type("SELECT 'never', (\r")
        try terminal.prompt("...> ")
        terminal.type("\u{3}")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type("COMMIT;\r")
        try terminal.prompt("(encrypted)> ")
        terminal.type("BEGIN; DELETE FROM t;\r")
        try terminal.prompt("(encrypted, transaction)> ")
        terminal.type("\u{4}")
        try terminal.expect("rolled back")
        #expect(try terminal.end() == 0)
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["4"])
        #expect(terminal.hasEcho)
    }

    @Test("the shell restores the terminal settings when a signal ends it", arguments: [SIGTERM, SIGHUP])
    func signals(number: Int32) throws {
        let terminal = try start()
        try terminal.wait("being typed at") { !terminal.hasEcho }
        terminal.send(number)
        #expect(try terminal.end() == (number == SIGTERM ? 143 : 4))
        #expect(terminal.hasEcho)
    }

    @Test("a failed statement is in the history of its session, but is not stored")
    func mistakes() throws {
        let terminal = try start()
        terminal.type("SELEKT 12 || 34;\r")
        try terminal.expect("syntax error")
        terminal.type("SELECT * FROM nope;\r")
        try terminal.expect("no such table")
        try terminal.prompt("(encrypted)> ")
        // Up twice, to the start of the line, forward five letters; then the last of them is replaced.
        terminal.type("\u{1b}[A\u{1b}[A\u{1}\u{6}\u{6}\u{6}\u{6}\u{6}\u{8}C\r")
        try terminal.expect("1234\r\n")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
        #expect(try tool.text(of: ".coffer_history") == "SELECT 12 || 34;\n.quit\n")
    }

    @Test(
        "a statement is one history entry if its lines can be joined, and otherwise one per line",
        arguments: [
            ("SELECT 1,\n  2;", ["SELECT 1,   2;"]), ("SELECT 'a\nb';", ["SELECT 'a", "b';"]),
            ("SELECT 1 -- one\n, 2;", ["SELECT 1 -- one", ", 2;"]),
            ("SELECT 1 /* a\n*/;", ["SELECT 1 /* a */;"]),
            ("SELECT 'a;\n\nb';", ["SELECT 'a;", "b';"]), ("\n.tables", [".tables"]),
            ("PRAGMA key\n= 'x';", []), ("SELECT '\n', 1 /* key 'x' */;", []),
        ])
    func historyEntries(_ text: String, _ lines: [String]) {
        #expect(ShellHistory.entries(text, isStored: true).map(\.text) == lines)
    }

    @Test("the history is restored, has mode 600, and contains no keys or bound values")
    func history() throws {
        var terminal = try start()
        let secrets = [
            "PRAGMA key = 'tr0ub4dor';", "PRAGMA rekey('tr0ub4dor');", "ATTACH 'x.db' AS x KEY 'tr0ub4dor';",
            ".bind secret=tr0ub4dor",
            "PRAGMA key\r= 'tr0ub4dor';", "SELEKT 'tr0ub4dor';", "SELECT 1 /* key 'tr0ub4dor' */;",
            "/* tr0ub4dor */ pragma hexkey='00';",
        ]
        for line in ["SELECT 'first'\r|| ' line';"] + secrets + ["SELECT 'last';", ".tables"] {
            terminal.type(line + "\r")
        }
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
        #expect(
            try tool.text(of: ".coffer_history")
                == "SELECT 'first' || ' line';\nSELECT 'last';\n.tables\n.quit\n")
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path(".coffer_history"))[
                .posixPermissions] as? Int
        #expect(mode == 0o600)
        terminal = try start()
        // Up three times: .quit, .tables, and the statement before them.
        terminal.type("\u{1b}[A\u{1b}[A\u{1b}[A\r")
        try terminal.expect("'last'\r\n")
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
        let before = try tool.text(of: ".coffer_history")
        terminal = try start("--no-history")
        terminal.type("SELECT 'forgotten';\r.quit\r")
        #expect(try terminal.end() == 0)
        #expect(try tool.text(of: ".coffer_history") == before)
    }

    @Test("the prompt leaves room for a statement, and tables fit", arguments: [40, 200] as [UInt16])
    func widths(columns: UInt16) throws {
        let name = String(repeating: "long", count: 20) + ".db"
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: name)
        let terminal = try PseudoTerminal(
            Tool.program, ["shell", name, "--no-history"] + key, folder: tool.directory.path, columns: columns
        )
        try terminal.expect((columns == 40 ? "…long.db" : name) + " (encrypted)> ")
        terminal.type("SELECT 1 AS a, replace(hex(zeroblob(90)), '0', 'x') AS b;\r")
        try terminal.expect(columns == 40 ? "…\r\n" : String(repeating: "x", count: 180) + "\r\n")
        try terminal.prompt("(encrypted)> ")
        terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
    }

    // MARK: As a script

    @Test("commands have their documented effects")
    func commands() throws {
        try tool.write("id,text\n10,ten\n", to: "more.csv")
        try tool.write(".mode csv\nSELECT text FROM t WHERE id = :id;\n", to: "script.sql")
        let result = try script(
            """
            .headers off
            .mode quote
            SELECT 1, NULL, x'00', 'a';
            .mode
            .import more.csv t
            .bind id:int=10
            .bind
            .read script.sql
            .nullvalue NA
            SELECT NULL, '';
            .tables t%
            .schema T
            .quit
            SELECT 'never';
            """, "--write")
        #expect(result.status == 0, "\(result)")
        #expect(
            result.output == """
                1,NULL,X'00','a'
                quote
                id = 10
                ten
                NA,""
                t
                CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);

                """)
        let help = try script(".help\n").output
        for name in ShellCommand.names { #expect(help.contains("\(name) "), "\(name)") }
        let dump = try script(".dump\n").output
        #expect(try tool.run(["load", "b.db"] + key, input: dump).output.contains("equal to the dump"))
    }

    @Test("the first failure of a script ends it, with its code and its line")
    func scriptFailure() throws {
        for (lines, status, words) in [
            ("SELECT 1;\nSELEKT;\nSELECT 'never';\n", Int32(64), "Line 2"),
            (".nothing\nSELECT 'never';", 64, "no command"),
            ("INSERT INTO t VALUES (1, 'x');\nSELECT 'never';", 64, "--write"),
            (".read none.sql\nSELECT 'never';", 66, "none.sql"),
            ("PRAGMA key = 'tr0ub4dor';\nSELECT 'never';", 64, "contains a key"),
            (".import x t\nSELECT 'never';", 64, "--write"),
            (".mode nothing\nSELECT 'never';", 64, "modes are"),
            (".read a.sql\nSELECT 'never';", 64, "16 deep"),
        ] {
            try tool.write(".read a.sql\n", to: "a.sql")
            let result = try script(lines)
            #expect(
                result.status == status && result.errors.contains(words) && !result.output.contains("never"),
                "\(lines): \(result)")
            #expect(!result.errors.contains("tr0ub4dor"))
        }
        #expect(try script("SELECT 7").output.contains("7"))
        #expect(try script("BEGIN; DELETE FROM t;", "--write").errors.contains("rolled back"))
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["3"])
    }

    @Test("wrong keys, missing files and conflicting options have their own exit codes")
    func refusals() throws {
        try tool.writeKey("b.key", 0x43)
        #expect(try tool.run("shell", "a.db", "--key-file", "b.key", "--key-type", "raw").status == 77)
        #expect(try tool.run(["shell", "none.db"] + key).status == 66)
        for options in [["--json"], ["--key-stdin"], ["--history", "x", "--no-history"], ["--plaintext"]] {
            #expect(try tool.run(["shell", "a.db"] + options + key).status == 64, "\(options)")
        }
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("plain.db")).run("CREATE TABLE p (a);")
        #expect(try tool.run(["shell", "plain.db", "--plaintext"], input: ".tables\n").output == "p\n")
        let full = try tool.run(
            [
                "-c",
                "echo 'SELECT 1;' | '\(Tool.program)' shell a.db --key-file a.key --key-type raw > /dev/full",
            ], program: "/bin/sh")
        #expect(full.status == 74)
        let head = try tool.run(
            [
                "-c",
                "echo '.dump' | '\(Tool.program)' shell a.db --key-file a.key --key-type raw | head -n 1",
            ], program: "/bin/sh")
        #expect(head.status == 0 && head.errors.isEmpty, "\(head)")
    }
}
