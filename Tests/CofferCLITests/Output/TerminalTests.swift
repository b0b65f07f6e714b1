import CofferTestSupport
import Foundation
import Testing

@Suite("Output on a terminal")
struct TerminalTests {
    private let tool: Tool
    private static let escape = "\u{1b}["

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.writeKey("b.key", 0x43)
    }

    /// Returns the terminal's screen after a command that prints an error and a warning.
    private func screen(_ arguments: [String], _ environment: [String: String] = [:], status: Int32) throws
        -> String
    {
        let terminal = try PseudoTerminal(
            Tool.program, arguments, folder: tool.directory.path, environment: environment)
        #expect(try terminal.end() == status)
        return terminal.screen
    }

    private let wrong = ["verify", "a.db", "--key-file", "b.key", "--key-type", "raw"]

    @Test("errors and warnings are coloured, results are not")
    func colors() throws {
        #expect(try screen(wrong, status: 77).contains("\(Self.escape)31merror:\(Self.escape)0m"))
        let digits = String(repeating: "42", count: 32)
        let warned = try screen(
            ["info", "a.db", "--key-env", "K", "--key-type", "raw"], ["K": digits], status: 0)
        #expect(warned.contains("\(Self.escape)33mwarning:\(Self.escape)0m"))
        #expect(!warned.contains(digits))
        #expect(try !screen(["info", "a.db"], status: 0).contains(Self.escape))
    }

    @Test("colours are off with NO_COLOR, with --json, on a dumb terminal and in a file")
    func withoutColors() throws {
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let screen = try screen(wrong, environment, status: 77)
            #expect(screen.contains("error:"))
            #expect(!screen.contains(Self.escape), "\(environment)")
        }
        #expect(try screen(wrong, ["NO_COLOR": ""], status: 77).contains(Self.escape))
        #expect(try !screen(wrong + ["--json"], status: 77).contains(Self.escape))
        // No color in a file, even if standard output is the terminal.
        let script = ["-c", "exec '\(Tool.program)' \(wrong.joined(separator: " ")) 2> errors"]
        let terminal = try PseudoTerminal("/bin/sh", script, folder: tool.directory.path)
        #expect(try terminal.end() == 77)
        let errors = try tool.text(of: "errors")
        #expect(errors.contains("error:") && !errors.contains(Self.escape))
        #expect(try !tool.run(wrong).errors.contains(Self.escape))
    }

    @Test("a dumb terminal gets lines of progress instead of a bar")
    func dumbTerminal() throws {
        let arguments = [
            "verify", "a.db", "--key-file", "a.key", "--key-type", "raw", "--progress", "always",
        ]
        let screen = try screen(arguments, ["TERM": "dumb"], status: 0)
        #expect(screen.contains("a.db: verifying") && !screen.contains("\u{1b}"))
    }

    @Test("a table of wide characters lines up and fits", arguments: [40, 200] as [UInt16])
    func tables(columns: UInt16) throws {
        let sql =
            "SELECT '漢字漢字' AS a, 'ä' AS b UNION ALL SELECT 'abc', 'x' UNION ALL SELECT 'long', replace(hex(zeroblob(60)), '0', '字')"
        let terminal = try PseudoTerminal(
            Tool.program, ["query", "a.db", sql, "--key-file", "a.key", "--key-type", "raw"],
            folder: tool.directory.path, columns: columns)
        #expect(try terminal.end() == 0)
        let lines = terminal.screen.components(separatedBy: "\r\n")
        #expect(lines.contains("漢字漢字  ä"))
        #expect(lines.contains("abc       x"))
        for line in lines { #expect(width(of: line) <= Int(columns), "\(line)") }
    }

    /// Returns the width in columns, independently of the tool: these ideographs take two columns, all other
    /// characters in these tests one.
    private func width(of text: String) -> Int { text.reduce(0) { $0 + ("漢字".contains($1) ? 2 : 1) } }

    @Test(
        "a bar fits the terminal, also with a name of wide characters and of control characters",
        arguments: [40, 80, 200] as [UInt16])
    func bars(columns: UInt16) throws {
        for name in [
            "漢字漢字漢字漢字漢字漢字漢字.db", "two\nlines\t\u{1b}[2J.db", String(repeating: "n", count: 150) + ".db",
        ] {
            try tool.directory.write(tool.directory.bytes(of: "a.db"), to: name)
            let arguments = [
                "rotate", name, "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key",
                "--new-key-type", "raw",
            ]
            let terminal = try PseudoTerminal(
                Tool.program, arguments + ["--progress", "always"], folder: tool.directory.path,
                columns: columns)
            #expect(try terminal.end() == 0)
            let bars = terminal.screen.split(separator: "\r").filter {
                $0.contains("copying") || $0.contains("verifying")
            }
            #expect(!bars.isEmpty, "\(terminal.screen)")
            for bar in bars {
                let text = String(bar.prefix { $0 != "\u{1b}" })
                #expect(width(of: text) < Int(columns), "\(bar)")
                #expect(!text.contains("\n"))
            }
            #expect(!terminal.screen.contains("[2J") || terminal.screen.contains("\\u{1b}[2J"))
        }
    }
}
