import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Help, man pages and completions")
struct ManualTests {
    @Test("each command has a man page with its options, which the system's formatter takes without a word")
    func pages() throws {
        let tool = try Tool()
        #expect(try tool.run("generate-manual", ".").status == 0)
        let pages = tool.directory.fileNames()
        #expect(pages.contains("coffer.1"))
        #expect(pages.contains("coffer-batch-rotate.1"))
        #expect(!pages.contains("coffer-generate-manual.1"))
        let rotate = try tool.text(of: "coffer-rotate.1")
        for word in ["\\-\\-new\\-key <source>", ".SH EXAMPLES", "Default: auto"] {
            #expect(rotate.contains(word))
        }
        #expect(!rotate.contains("key\\-file <"))
        for section in [
            ".SH EXIT STATUS", ".SH ENVIRONMENT", ".B CREDENTIALS_DIRECTORY", ".SH SOURCES OF SECRETS",
            ".B raw+salt:", ".B COFFER_CONFIG",
        ] {
            #expect(try tool.text(of: "coffer.1").contains(section))
        }
        guard let groff = ChildProcess.find("groff") else { return }
        for page in pages {
            let result = try tool.run(["-man", "-Tutf8", "-ww", page], program: groff)
            #expect(result.status == 0 && result.errors.isEmpty, "\(page): \(result.errors)")
        }
    }

    @Test("each shell gets completions that it can read", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let tool = try Tool()
        let script = try tool.run("--generate-completion-script", shell)
        #expect(script.status == 0)
        #expect(script.output.contains("new-key") && !script.output.contains("new-key-file"))
        guard let program = ChildProcess.find(shell) else { return }
        try tool.write(script.output, to: "script")
        #expect(try tool.run(["-n", "script"], program: program).status == 0)
    }

    @Test("the help of each command has an example and an exit code of 0")
    func help() throws {
        let tool = try Tool()
        for command in try CommandDescription.root().all {
            let words = command.fullName.split(separator: " ").dropFirst().map(String.init)
            let result = try tool.run(words + ["--help"])
            #expect(result.status == 0)
            let isGroup = !(command.subcommands ?? []).isEmpty
            #expect(
                isGroup || result.output.contains("EXAMPLES\n  coffer ")
                    || result.output.contains("coffer batch verify"), "\(words)")
            #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(words)")
        }
    }

    @Test("the title of each command, in audit logs and in JSON, is the words that invoke it")
    func titles() {
        let titles: [(any CofferCLI.Operation.Type, String)] = [
            (CofferCommand.self, "coffer"), (QueryCommand.self, "query"), (InfoCommand.self, "info"),
            (EncryptCommand.self, "encrypt"), (DecryptCommand.self, "decrypt"),
            (BackupCommand.self, "backup"), (BatchQueryCommand.self, "batch query"),
            (BatchConversion<BatchUpgrade>.self, "batch upgrade"), (BatchStatusCommand.self, "batch status"),
            (KeyListCommand.self, "key list"), (KeyExportCommand.self, "key export-header"),
            (AuditFindKeyCommand.self, "audit find-key"), (ManualCommand.self, "generate-manual"),
        ]
        for (command, title) in titles { #expect(command.title == title) }
    }

    @Test("the version names the engine")
    func version() throws {
        let output = try Tool().run("--version").output
        for word in ["coffer ", "SQLCipher ", "SQLite 3.", "crypto openssl"] {
            #expect(output.contains(word))
        }
    }

    @Test("info --engine tells who works on pages, and the environment can only leave them to the engine")
    func workOnPages() throws {
        let tool = try Tool()
        let result = try tool.run("info", "--engine", "--json")
        #expect(result.status == 0 && result.output.contains("\"sqlcipher\":"))
        let isLeft = ProcessInfo.processInfo.environment["COFFER_PAGE_PROVIDER"] != nil
        if !isLeft, result.output.contains("\"sqlcipher\":\"4.6.1 community\"") {
            #expect(result.output.contains("\"pages\":\"coffer\""))
        }
        let wanted = try tool.run(
            "info", "--engine", "--json", environment: ["COFFER_PAGE_PROVIDER": "engine"])
        #expect(wanted.status == 0 && wanted.output.contains("\"pages\":\"engine-"))
        #expect(try tool.run("info").status == 64)
    }
}
