import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@testable import CofferCLI

@Suite("Audit logs with a secret")
struct AuditSecretTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    private let secret = ["--audit-key-file", "audit.key"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.write(String(repeating: "5a", count: 32) + "\n", to: "audit.key")
        try tool.write(String(repeating: "5b", count: 32) + "\n", to: "other.key")
    }

    private func verifyFile(_ options: [String]) throws -> Tool.Result {
        try tool.run(["verify", "a.db", "--audit", "log", "--audit-required"] + key + options)
    }

    @Test("the chain is HMAC-SHA-256 with the secret", .enabled(if: ChildProcess.find("openssl") != nil))
    func independentCode() throws {
        #expect(try verifyFile(secret).status == 0)
        let line = try #require(try tool.text(of: "log").split(separator: "\n").last)
        let body = try #require(line.range(of: ",\"hash\"")).lowerBound
        let hex = Data(String(repeating: "5a", count: 32).utf8).map { String(format: "%02x", $0) }.joined()
        let code = try ChildProcess.run(
            "openssl", ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(hex)"],
            input: Data(line[..<body].utf8)
        ).outputText.split(separator: " ").last?.prefix(64)
        #expect(line.hasSuffix("\"hash\":\"\(code ?? "")\"}"))
        #expect(try tool.run(["audit", "verify", "log"] + secret).output.contains("intact (2 records)"))
    }

    @Test("each source of secrets gives the same chain")
    func sources() throws {
        let digits = String(repeating: "5a", count: 32)
        let runs: [([String], [String: String])] = [
            (["--audit-key-file", "audit.key"], [:]), (["--audit-key-command", "cat audit.key"], [:]),
            (["--audit-key-env", "COFFER_TEST_AUDIT"], ["COFFER_TEST_AUDIT": digits]),
            (["--audit-key-credential", "audit.key"], ["CREDENTIALS_DIRECTORY": tool.directory.path]),
        ]
        for (options, environment) in runs {
            let result = try tool.run(
                ["verify", "a.db", "--audit", "log", "--audit-required"] + key + options,
                environment: environment)
            #expect(result.status == 0, "\(options) \(result)")
        }
        let descriptor = try tool.run(
            ["-c", "exec '\(Tool.program)' audit verify log --audit-key-fd 5 5<audit.key"], program: "/bin/sh"
        )
        #expect(descriptor.output.contains("intact (8 records)"), "\(descriptor)")
        #expect(!descriptor.output.contains("without a secret"))
    }

    @Test(
        "a forged chain is detected only with the secret; without it, verify warns that this is possible"
    )
    func forgery() throws {
        func forge(_ seal: AuditSeal, _ numbers: [Int] = [1, 2, 3]) throws {
            var (text, previous) = ("", AuditRecord.firstPrevious)
            for number in numbers {
                let line = try AuditRecord.line(
                    ["event": "forged"], sequence: number, previous: previous, followsTornLine: false,
                    seal: seal)
                previous = try #require(AuditRecord(Array(line.utf8))).hash
                text += line + "\n"
            }
            try tool.write(text, to: "log")
        }
        // A gap in the sequence numbers means that a record is missing.
        try forge(.plain, [1, 2, 4])
        #expect(try tool.run("audit", "verify", "log").status == 65)
        try forge(.plain)
        let plain = try tool.run("audit", "verify", "log")
        #expect(plain.status == 0 && plain.output.contains("without a secret: anyone who can write"))
        let sealed = try tool.run(["audit", "verify", "log"] + secret)
        #expect(sealed.status == 65 && sealed.errors.contains("Line 1 "), "\(sealed)")
        #expect(try verifyFile(secret).status == 65)
        // The identifier of the secret is public, so a forger copies it.
        try forge(AuditSeal(SecretBytes(copyingText: String(repeating: "5b", count: 32)), sourceName: "test"))
        let id =
            try AuditSeal(SecretBytes(copyingText: String(repeating: "5a", count: 32)), sourceName: "test")
            .keyID ?? ""
        let other =
            try AuditSeal(SecretBytes(copyingText: String(repeating: "5b", count: 32)), sourceName: "test")
            .keyID ?? ""
        #expect(id != other)
        #expect(try tool.run(["audit", "verify", "log"] + secret).status == 77)
        try tool.write(tool.text(of: "log").replacing(other, with: id), to: "log")
        #expect(try tool.run(["audit", "verify", "log"] + secret).status == 65)
    }

    @Test("a log is continued only with its own secret, and a plain log only without one")
    func continuing() throws {
        #expect(try verifyFile(secret).status == 0)
        let before = try tool.text(of: "log")
        for (options, status) in [(["--audit-key-file", "other.key"], 77), ([], 77)] as [([String], Int32)] {
            let result = try verifyFile(options)
            #expect(result.status == status, "\(result)")
            #expect(try tool.run(["audit", "verify", "log"] + options).status == status)
        }
        // If the log is optional, the work is done and nothing is added.
        let lenient = try tool.run(["verify", "a.db", "--audit", "log"] + key)
        #expect(
            lenient.status == 0
                && lenient.errors.contains("warning: The audit log 'log' is chained with a secret."))
        #expect(lenient.errors.split(separator: "\n").count == 1)
        #expect(try tool.text(of: "log") == before)
        try FileManager.default.removeItem(atPath: tool.directory.path("log"))
        #expect(try verifyFile([]).status == 0)
        #expect(try verifyFile(secret).status == 65)
    }

    @Test("a secret that can be guessed is refused, and so is one without a log")
    func badSecrets() throws {
        for text in ["", "short", "fifteen bytes..", "fifteen bytes..\n"] {
            try tool.write(text, to: "bad.key")
            #expect(try verifyFile(["--audit-key-file", "bad.key"]).status == 77)
        }
        #expect(try tool.run(["verify", "a.db"] + key + secret).status == 64)
        #expect(try verifyFile(secret + ["--audit-key-env", "X"]).status == 64)
        try tool.write("readable by everybody", to: "open.key", mode: 0o644)
        #expect(try verifyFile(["--audit-key-file", "open.key"]).status == 78)
        #expect(try verifyFile(["--audit-key-file", "none.key"]).status == 66)
    }
}

extension SecretBytes {
    fileprivate init(copyingText text: String) {
        let bytes = Array(text.utf8)
        self.init(count: bytes.count)
        withUnsafeMutableBytes { unsafe $0.copyBytes(from: bytes) }
    }
}
