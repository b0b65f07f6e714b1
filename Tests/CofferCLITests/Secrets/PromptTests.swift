import CofferTestSupport
import Foundation
import Testing

@Suite("Keys that are typed")
struct PromptTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
    }

    private func terminal(_ arguments: String...) throws -> PseudoTerminal {
        try PseudoTerminal(Tool.program, arguments, folder: tool.directory.path)
    }

    @Test("a key is asked for without echo; a new one twice")
    func typing() throws {
        let creation = try terminal("create", "a.db")
        try creation.expect("New key for a.db: ")
        #expect(!creation.hasEcho)
        creation.type("open sesame\n")
        try creation.expect("Repeat it: ")
        creation.type("open sesame\n")
        try creation.expect("created")
        #expect(try creation.end() == 0)
        #expect(creation.hasEcho)
        #expect(!creation.screen.contains("sesame"))

        let query = try terminal("query", "a.db", "SELECT 40 + 2")
        try query.expect("Key of a.db: ")
        query.type("open sesame\n")
        try query.expect("42")
        #expect(try query.end() == 0)
        #expect(!query.screen.contains("sesame"))

        try tool.write("another\n", to: "b.key")
        let second = try terminal(
            "query", "a.db", "SELECT 40 + 2", "--key", "file:b.key", "--previous-key", "ask")
        try second.expect("Previous key of a.db: ")
        second.type("open sesame\n")
        try second.expect("42")
        #expect(try second.end() == 0)
    }

    @Test("a second entry that differs ends with 65, and changes nothing")
    func mismatch() throws {
        let terminal = try terminal("create", "a.db")
        try terminal.expect("New key for a.db: ")
        terminal.type("open sesame\n")
        try terminal.expect("Repeat it: ")
        terminal.type("open sesamo\n")
        #expect(try terminal.end() == 65)
        #expect(!tool.exists("a.db"))
        #expect(terminal.hasEcho)
    }

    @Test(
        "the echo comes back after each signal that ends the tool",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT])
    func signals(number: Int32) throws {
        let terminal = try terminal("create", "a.db")
        try terminal.expect("New key for a.db: ")
        try terminal.wait("without echo") { !terminal.hasEcho }
        terminal.send(number)
        let status = try terminal.end()
        switch number {
        case SIGINT: #expect(status == 130)
        case SIGTERM: #expect(status == 143)
        case SIGHUP: #expect(status == 4)
        case SIGQUIT: #expect(status == 131)
        default: #expect(status == -number)
        }
        #expect(terminal.hasEcho)
        #expect(!tool.exists("a.db"))
    }

    @Test("Ctrl-C at the prompt exits with 130")
    func controlC() throws {
        let terminal = try terminal("create", "a.db")
        try terminal.expect("New key for a.db: ")
        try terminal.wait("without echo") { !terminal.hasEcho }
        terminal.type("half a ke\u{3}")
        #expect(try terminal.end() == 130)
        #expect(terminal.hasEcho)
    }

    @Test("stopping the tool restores the echo, and continuing it turns the echo off again")
    func stopping() throws {
        let terminal = try terminal("create", "a.db")
        try terminal.expect("New key for a.db: ")
        try terminal.wait("without echo") { !terminal.hasEcho }
        terminal.send(SIGTSTP)
        try terminal.wait("with echo") { terminal.hasEcho }
        terminal.send(SIGCONT)
        try terminal.wait("without echo again") { !terminal.hasEcho }
        terminal.type("open sesame\n")
        try terminal.expect("Repeat it: ")
        terminal.type("open sesame\n")
        #expect(try terminal.end() == 0)
        #expect(!terminal.screen.contains("sesame"))
    }

    @Test(
        "without a terminal, the message names the option or variable that prompts, and another source",
        arguments: [
            ("rotate a.db --key file:a.key --new-key ask", "--new-key"), ("verify a.db --key ask", "--key"),
            ("verify a.db --unlock", "--unlock"), ("verify a.db --unlock ask", "--unlock"),
            ("verify a.db --key file:b.key --previous-key ask", "--previous-key"),
            ("verify a.db --key file:a.key --audit log --audit-key ask", "--audit-key"),
            ("info a.db --key file:a.key --key-id --site-secret ask", "--site-secret"),
        ])
    func noTerminal(_ words: String, _ option: String) throws {
        try tool.makeDatabase()
        try tool.writeKey("b.key", 0x43)
        let result = try runWithoutTerminal(words)
        #expect(
            result.status == 64
                && result.errors.contains(
                    "\(option) prompts at a terminal, and this run has none. Give another source, such as "
                        + "\(option) file:PATH"),
            "\(result)")
        #expect(!tool.exists("log"))
    }

    @Test("without a terminal, a missing key differs from a default that prompts")
    func noTerminalForDefault() throws {
        try tool.makeDatabase()
        let missing = try runWithoutTerminal("verify a.db")
        #expect(missing.status == 64 && missing.errors.contains("No key was given"), "\(missing)")
        let asked = try runWithoutTerminal("verify a.db", environment: ["COFFER_KEY": "ask"])
        #expect(
            asked.status == 64 && asked.errors.contains("COFFER_KEY prompts at a terminal")
                && asked.errors.contains("--key file:PATH"), "\(asked)")
    }

    private func runWithoutTerminal(_ words: String, environment: [String: String] = [:]) throws
        -> Tool.Result
    {
        let setsid = try #require(ChildProcess.find("setsid"))
        return try tool.run(
            ["--wait", Tool.program] + words.split(separator: " ").map(String.init), program: setsid,
            environment: environment)
    }

    @Test("end of input at the prompt is not accepted as a key")
    func endOfInput() throws {
        let terminal = try terminal("create", "a.db")
        try terminal.expect("New key for a.db: ")
        terminal.type("\u{4}")
        #expect(try terminal.end() == 64)
        #expect(!tool.exists("a.db"))
    }
}
