import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Progress of long work")
struct ProgressTests {
    private let tool: Tool
    private let arguments = [
        "verify", "big.db", "--key-file", "a.key", "--key-type", "raw", "--progress", "always",
    ]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase("big.db")
        let queue = try tool.directory.makeQueue("big.db")
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE blob (data BLOB)")
            for _ in 0..<20 { try db.execute(sql: "INSERT INTO blob VALUES (randomblob(1000000))") }
        }
        try queue.close()
    }

    @Test("a terminal gets a bar that fits, and goes away", arguments: [30, 80] as [UInt16])
    func bar(columns: UInt16) throws {
        let terminal = try PseudoTerminal(
            Tool.program, arguments, folder: tool.directory.path, columns: columns)
        #expect(try terminal.end() == 0)
        let bars = terminal.screen.split(separator: "\r").filter { $0.contains("verifying") }
        #expect(!bars.isEmpty, "\(terminal.screen)")
        for bar in bars { #expect(bar.split(separator: "\u{1b}")[0].count < columns) }
        #expect(terminal.screen.contains("\r\u{1b}[K"))
        #expect(terminal.screen.contains("big.db: intact"))
    }

    @Test("a program gets objects whose numbers grow")
    func objects() throws {
        let result = try tool.run(arguments + ["--json"])
        #expect(try Schema.problems(result) == [])
        let numbers = try result.objects.filter { $0["phase"] as? String == "verifying" }.compactMap {
            $0["completed"] as? Int
        }
        #expect(numbers == numbers.sorted())
        #expect(!numbers.isEmpty)
    }

    @Test("a log gets progress lines with --progress always, but none with never or for short work")
    func lines() throws {
        #expect(try tool.run(arguments).errors.contains("pages ("))
        #expect(try tool.run(arguments.dropLast(2) + []).errors == "")
        #expect(try tool.run(arguments.dropLast(2) + ["--quiet"]).output == "")
        #expect(try tool.run(arguments.dropLast() + ["never"]).errors == "")
    }
}
