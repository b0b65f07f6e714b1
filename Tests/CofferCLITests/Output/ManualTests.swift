import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Help, man pages and completions")
struct ManualTests {
    @Test("each command has a man page with its options, which groff formats without warnings")
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

    /// Returns the descriptions of all commands that are no groups.
    private func commands() throws -> [CommandDescription] {
        try CommandDescription.root().all.filter { $0.subcommands?.isEmpty ?? true }
    }

    @Test("the help of a command begins with its purpose and its own options, and only names shared ones")
    func order() throws {
        let page = try Tool().run("verify", "--help")
        #expect(page.status == 0 && page.output.hasPrefix("OVERVIEW: Check every page"), "\(page)")
        #expect(try Tool().run("help", "verify").output == page.output)
        #expect(try Tool().run("-q", "verify", "a.db", "-h").output == page.output)
        let places = try ["USAGE: coffer verify", "  --structure <depth>", "EXAMPLES", "--lock-timeout"].map {
            try #require(page.output.range(of: $0), "\($0)").lowerBound
        }
        #expect(places == places.sorted())
        #expect(!page.output.contains("How long to wait for locks"))
        #expect(page.output.contains("  output     --json, --quiet,"), "\(page)")
        // After "--", it is an argument.
        #expect(try Tool().run("verify", "--key-stdin", "--", "--help").status == 66)
    }

    @Test("all pages of the help have fewer than 1,600 lines")
    func length() throws {
        let pages = try commands().map { command in
            let words = command.fullName.split(separator: " ").dropFirst().map(String.init)
            return try #require(try HelpRequest.page(words + ["--help"]), "\(words)")
        }
        #expect(pages.count > 40)
        #expect(pages.joined(separator: "\n").count { $0 == "\n" } < 1600)
    }

    @Test("the page of a group begins with its commands, and its examples are not wrapped")
    func groups() throws {
        for words in [[], ["key"], ["batch"], ["audit"]] {
            let page = try #require(try HelpRequest.page(words + ["--help"]))
            #expect(try HelpRequest.page(["help"] + words) == page)
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex(of: "COMMANDS:"), "\(page)")
            #expect(start < 6 && lines.allSatisfy { $0.count <= 80 }, "\(page)")
        }
        let root = try #require(try HelpRequest.page(["--help"]))
        let commands = try CommandDescription.root().subcommands ?? []
        #expect(commands.count > 20)
        for command in commands where command.shouldDisplay && command.commandName != "help" {
            #expect(root.contains("\n  \(command.commandName) "), "\(command.commandName)")
        }
        let places = try [
            "\n  create ", "\n  health ", "'man coffer'", "EXAMPLES", "EXIT CODES", "--version",
        ].map {
            try #require(root.range(of: $0), "\($0)").lowerBound
        }
        #expect(places.dropLast() == places.dropLast().sorted())
        #expect(!root.contains("generate-manual"))
        let key = try #require(try HelpRequest.page(["key", "--help"]))
        #expect(key.contains("\n  coffer key change app.db           change the passphrase\n"), "\(key)")
    }

    @Test(
        "the arguments of a command have the names of its usage",
        arguments: ["dump", "schema", "shell", "recover"])
    func namesOfArguments(command: String) throws {
        let page = try #require(try HelpRequest.page([command, "--help"]))
        let usage = try #require(page.split(separator: "\n").first { $0.hasPrefix("USAGE: ") })
        let names = page.matches(of: #/\n  (<[a-z]+>) /#).map(\.1)
        #expect(names.count > 1 && names.allSatisfy { usage.contains($0) }, "\(page)")
    }

    @Test(
        "the usage of a command includes its required options",
        arguments: [
            (["batch", "backup"], "--into <backups>"), (["batch", "decrypt"], "--yes-plaintext"),
            (["batch", "rotate"], "--name <pattern>"), (["decrypt"], "--yes-plaintext"),
            (["erase"], "--yes-erase <name>"), (["key", "destroy"], "--yes-destroy <name>"),
        ] as [([String], String)])
    func neededOptions(_ words: [String], _ option: String) throws {
        let page = try #require(try HelpRequest.page(["help"] + words))
        let usage = page.split(separator: "\n").drop { !$0.hasPrefix("USAGE: ") }.prefix(2)
        #expect(usage.joined(separator: " ").contains(option), "\(page)")
    }

    @Test("the options of the audit log are named once in the help of a command, and the topic has them all")
    func auditLog() throws {
        let page = try #require(try HelpRequest.page(["backup", "--help"]))
        let line = "  audit-log  --audit, --audit-required, --audit-key, --site-secret"
        #expect(
            page.split(separator: "\n").count { $0.contains("--audit") } == 1 && page.contains(line),
            "\(page)")
        let topic = try HelpTopic.auditLog.text
        #expect(
            topic.contains("--audit-key <source>") && topic.contains("--site-secret <source>"), "\(topic)")
    }

    @Test("each shared option of a command is explained by the topic that its help names")
    func sharedOptions() throws {
        var pages: [HelpTopic: String] = [:]
        for topic in HelpTopic.allCases where topic != .keys { pages[topic] = try topic.text }
        for command in try commands() {
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                guard let topic = HelpTopic(of: argument), let page = pages[topic],
                    let name = argument.names?.first(where: { $0.kind == "long" })?.text, name != "--help"
                else { continue }
                #expect(page.contains(" \(name)"), "\(command.fullName) \(name)")
            }
        }
    }

    @Test("each topic has a page", arguments: HelpTopic.allCases)
    func topics(_ topic: HelpTopic) throws {
        guard topic != .keys else { return }
        let result = try Tool().run("help", topic.rawValue)
        #expect(result.status == 0 && result.output.hasPrefix("OVERVIEW: "), "\(result)")
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(result)")
        let root = try Tool().run("--help").output
        #expect(root.contains(topic.rawValue))
    }

    @Test("options that the help does not show still work")
    func hiddenOptions() throws {
        let tool = try Tool()
        try tool.makeDatabase()
        try tool.write("a.db\n", to: "list")
        let key = ["--key-file", "a.key", "--key-type", "raw"]
        #expect(try !tool.run("verify", "--help").output.contains("--verbose"))
        #expect(try tool.run(["verify", "a.db", "--verbose"] + key).status == 0)
        #expect(try tool.run(["batch", "verify", "--manifest", "list", "--fail-fast"] + key).status == 0)
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

    @Test("info --engine shows the page provider, and the environment can only switch to the engine")
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
