import CofferTestSupport
import Foundation
import SQLCipherBridge
import SystemCalls
import Testing

@testable import CofferCLI

@Suite("The pager of the shell")
struct PagerTests {
    private let tool: Tool
    private let key = ["--key", "file:a.key"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 3)
    }

    /// Starts a shell at a terminal of 24 rows and 100 columns.
    private func start(
        _ pager: String, key: [String] = ["--key", "file:a.key"], environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            Tool.program, ["shell", "a.db", "--no-history"] + key, folder: tool.directory.path, columns: 100,
            environment: ["COFFER_PAGER": pager].merging(environment) { $1 })
        try terminal.prompt("(encrypted)> ")
        return terminal
    }

    private func end(_ terminal: PseudoTerminal) throws {
        terminal.type(".quit\r")
        #expect(try terminal.end() == 0)
    }

    /// A statement with this many rows.
    private func rows(_ count: Int, _ columns: String = "i") -> String {
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
            + "SELECT \(columns) FROM n;"
    }

    @Test("a result goes through the pager if it and the prompt do not fit the screen")
    func longResults() throws {
        let terminal = try start("sed 's/^/paged: /'")
        // The header has two lines, and the number of rows has one.
        terminal.type(rows(20) + "\r")
        try terminal.expect("20 rows")
        try terminal.prompt("(encrypted)> ")
        #expect(!terminal.screen.contains("paged: "))
        terminal.type(rows(21) + "\r")
        try terminal.expect("paged: 21 rows")
        try terminal.prompt("(encrypted)> ")
        // One row that wraps to 24 lines.
        terminal.type(".mode csv\r")
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT hex(zeroblob(1200)) AS long;\r")
        try terminal.expect("paged: long")
        try terminal.prompt("(encrypted)> ")
        terminal.type(".schema\r")
        try terminal.expect("\r\nCREATE TABLE t")
        try terminal.prompt("(encrypted)> ")
        try end(terminal)
    }

    @Test(
        "a person quits the pager without an error, and the statement ends",
        arguments: [
            // More rows than any memory holds.
            ("head -n 1", "SELECT i, hex(zeroblob(20000)) AS pad FROM n;", "i,pad\r\n"),
            // The pager ends before it has read anything.
            ("true", "SELECT i, hex(zeroblob(2000)) AS pad FROM n LIMIT 100;", nil),
        ])
    func quitting(pager: String, query: String, words: String?) throws {
        let terminal = try start(pager)
        terminal.type(".mode csv\r")
        try terminal.prompt("(encrypted)> ")
        terminal.type("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) \(query)\r")
        if let words { try terminal.expect(words) }
        try terminal.prompt("(encrypted)> ")
        terminal.type("SELECT 'still ' || 'here';\r")
        try terminal.expect("still here")
        try end(terminal)
        #expect(!terminal.screen.contains("error") && !terminal.screen.contains("warning"))
    }

    @Test("quitting the pager ends a dump")
    func dump() throws {
        _ = try tool.shell().run(
            "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
                + "INSERT INTO t (text) SELECT hex(zeroblob(1000)) FROM n;")
        let terminal = try start("head -n 1")
        terminal.type(".dump\r")
        try terminal.prompt("(encrypted)> ")
        #expect(!terminal.screen.contains("INSERT") && !terminal.screen.contains("error"))
        try end(terminal)
    }

    @Test("the pager inherits no open file and no key")
    func inheritance() throws {
        try tool.write(
            "#!/bin/sh\nls /proc/self/fd >files\nenv >variables\ncat >text\necho read\n", to: "pager",
            mode: 0o700)
        let digits = String(repeating: "42", count: 32)
        let terminal = try start(
            "./pager", key: ["--key", "raw:env:SECRET"], environment: ["SECRET": digits])
        terminal.type(rows(40) + "\r")
        try terminal.expect("read\r\n")
        try terminal.prompt("(encrypted)> ")
        try end(terminal)
        // The last one is that of the list.
        #expect(try tool.text(of: "files") == "0\n1\n2\n3\n")
        let variables = try tool.text(of: "variables")
        #expect(variables.contains("COFFER_PAGER=") && !variables.contains("SECRET"))
        #expect(!variables.contains(digits))
        #expect(try tool.text(of: "text").hasSuffix("\n40\n40 rows\n"))
    }

    @Test("no lock on the database is held while the pager waits")
    func locks() throws {
        try tool.write("#!/bin/sh\necho reading\nread line </dev/tty\ncat >text\n", to: "pager", mode: 0o700)
        let terminal = try start("./pager")
        terminal.type(".mode csv\r")
        try terminal.prompt("(encrypted)> ")
        // More than fits a pipe.
        terminal.type(rows(100, "i, hex(zeroblob(2000))") + "\r")
        try terminal.expect("reading\r\n")
        let insert = "INSERT INTO t (text) VALUES ('new')"
        let result = try tool.run(["query", "a.db", insert, "--write"] + key)
        #expect(result.status == 0, "\(result)")
        terminal.type("\r")
        try terminal.prompt("(encrypted)> ")
        #expect(try tool.text(of: "text").split(separator: "\n").count == 101)
        try end(terminal)
    }

    @Test("a command of the shell chooses the pager")
    func command() throws {
        let terminal = try start("sed s/^/first:/")
        for (line, words) in [
            (".pager", "\r\nsed s/^/first:/\r\n"), (rows(40), "first:40 rows"),
            (".pager off\r.pager", "\r\noff\r\n"), (rows(41), "\r\n41 rows"),
            (".pager sed 's/^/second: /'", ""), (rows(42), "second: 42 rows"),
            (".pager on", ""), (rows(43), "first:43 rows"),
        ] {
            for part in line.split(separator: "\r") {
                terminal.type(part + "\r")
                if !words.isEmpty, part == line.split(separator: "\r").last { try terminal.expect(words) }
                try terminal.prompt("(encrypted)> ")
            }
        }
        try end(terminal)
    }

    @Test("without a pager that can be run, the rows are shown, and a warning if its name was given")
    func missing() throws {
        let terminal = try start("no-such-pager")
        terminal.type(rows(40) + "\r")
        try terminal.expect("40 rows")
        try terminal.expect("The pager 'no-such-pager' cannot be run: No such file")
        try terminal.prompt("(encrypted)> ")
        terminal.type(".pager\r")
        try terminal.expect("\r\noff\r\n")
        try terminal.prompt("(encrypted)> ")
        try end(terminal)
        let unquoted = try start("less '")
        #expect(unquoted.screen.contains("COFFER_PAGER is not a command: A quote"))
        try end(unquoted)
        #expect(Pager.usual.warning(.notStarted(Errno(ENOENT))) == nil)
    }

    @Test("the environment names the pager, and an empty name means none")
    func environment() throws {
        #expect(try Pager.named(in: [:])?.words == ["less", "-FRX"])
        #expect(try Pager.named(in: ["PAGER": "most -s"])?.words == ["most", "-s"])
        #expect(try Pager.named(in: ["PAGER": "most", "COFFER_PAGER": "less"])?.words == ["less"])
        for empty in [["PAGER": ""], ["COFFER_PAGER": " ", "PAGER": "most"]] {
            #expect(try Pager.named(in: empty) == nil)
        }
    }

    @Test("without a terminal, nothing goes through a pager")
    func noTerminal() throws {
        try tool.write("#!/bin/sh\ncat >text\n", to: "pager", mode: 0o700)
        let result = try tool.run(
            ["shell", "a.db"] + key, input: ".pager ./pager\n" + rows(40) + "\n",
            environment: ["COFFER_PAGER": "./pager"])
        #expect(result.status == 0 && result.output.hasSuffix("\n40\n"), "\(result)")
        #expect(!tool.exists("text"))
    }
}
