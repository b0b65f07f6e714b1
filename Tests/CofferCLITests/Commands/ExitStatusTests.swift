import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Exit codes")
struct ExitStatusTests {
    /// Creates a situation for the status and returns the tool's result.
    private func produce(_ status: ToolStatus, _ tool: Tool) throws -> Tool.Result {
        let key = ["--key-file", "a.key", "--key-type", "raw"]
        switch status {
        case .done: return try tool.run("info", "a.db")
        case .answerIsNo: return try tool.run("info", "a.db", "--expect", "plaintext")
        case .someFailed: return try tool.run("info", "a.db", "none.db")
        case .usage: return try tool.run("rotate")
        case .badData:
            var bytes = try tool.directory.bytes(of: "a.db")
            bytes[4096 + 100] ^= 1
            try tool.directory.write(bytes, to: "a.db")
            return try tool.run(["verify", "a.db"] + key)
        case .inputMissing: return try tool.run("info", "none.db")
        case .unavailable: return try tool.run("info", "a.db", "--key-command", "false")
        case .outputExists: return try tool.run(["create", "a.db"] + key)
        case .inputOutput:
            return try tool.run(["-c", "exec '\(Tool.program)' info a.db > /dev/full"], program: "/bin/sh")
        case .busy:
            let queue = try tool.directory.makeQueue()
            return try queue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                defer { try? db.execute(sql: "ROLLBACK") }
                return try tool.run(
                    ["query", "a.db", "DELETE FROM t", "--write", "--lock-timeout", "0"] + key)
            }
        case .keyRejected: return try tool.run("info", "a.db", "--key-stdin", input: "wrong")
        case .unsafeConfiguration:
            try tool.write("secret", to: "open.key", mode: 0o644)
            return try tool.run("info", "a.db", "--key-file", "open.key")
        case .runAgain, .interrupted, .terminated:
            let endless =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            let query = try tool.start(["query", "a.db", endless, "--verbose"] + key)
            while !query.text(of: "errors").contains("running") { usleep(2000) }
            query.send(status == .interrupted ? SIGINT : status == .terminated ? SIGTERM : SIGHUP)
            return query.wait()
        case .internalError:
            // No known input makes the tool itself fail, so debug builds contain a fail point.
            return try tool.run("info", "a.db", environment: ["COFFER_FAIL_POINT": "tool"])
        }
    }

    @Test(
        "an engine error is blamed on the content unless it comes from a statement of the user",
        arguments: [
            ResultCode.SQLITE_ERROR, .SQLITE_TOOBIG, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_RANGE,
        ])
    func faultsOfContent(code: ResultCode) {
        let error = DatabaseError(resultCode: code, message: "words of the engine")
        let failure = Failure(ofContent: error)
        #expect(failure.status == .badData && failure.message.contains("words of the engine"))
        #expect([.usage, .answerIsNo].contains(Failure(error).status))
        let ofFile = Failure(DatabaseFileError(.missingDefinition("no such function: f"), path: "a.db"))
        #expect(ofFile.status == .badData && ofFile.message.contains("no such function: f"))
        #expect(!ofFile.message.contains("ConversionOptions."))
        // The engine rejects a statement of a copy if the schema is unusual: a name may not be UTF-8.
        #expect(Failure(DatabaseFileError(.engine(code, "words"), path: "a.db")).status == .badData)
    }

    @Test(
        "the tool can exit with each code of the table, and failures have an error message",
        arguments: ToolStatus.allCases
    )
    func produced(status: ToolStatus) throws {
        let tool = try Tool()
        try tool.makeDatabase(rows: 300)
        let result = try produce(status, tool)
        #expect(result.status == status.rawValue, "\(result)")
        if status != .done && status != .answerIsNo { #expect(result.errors.lowercased().contains("error:")) }
    }

    @Test("the help lists each code")
    func help() throws {
        let tool = try Tool()
        let help = try tool.run("--help").output
        for status in ToolStatus.allCases { #expect(help.contains(status.meaning), "\(status)") }
    }
}
