import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("One option for each secret")
struct SourceOptionTests {
    private let tool: Tool
    private static let digits = String(repeating: "42", count: 32)

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func query(_ source: String, input: String = "", environment: [String: String] = [:]) throws
        -> Tool.Result
    {
        try tool.run(
            ["query", "a.db", "SELECT text FROM t", "--format", "csv", "--no-header", "--key", source],
            input: input, environment: environment)
    }

    @Test("the text of a source is parsed into the source and its type")
    func parsing() throws {
        typealias Case = (text: String, source: SecretSource, type: SecretType?)
        let cases: [Case] = [
            ("file:a b:c", .file("a b:c"), nil), ("raw:file:app.key", .file("app.key"), .raw),
            ("raw+salt:fd:0", .descriptor(0), .rawWithSalt), ("stdin", .standardInput, nil),
            ("passphrase:ask", .prompt, .passphrase), ("recovery:ask", .prompt, .recovery),
            ("env:COFFER_NO_SUCH", .environment("COFFER_NO_SUCH"), nil),
            ("identity:credential:me", .credential("me"), .identity),
            ("command:pass 'show it'", .command(["pass", "show it"]), nil),
            ("raw:command:pass raw:x", .command(["pass", "raw:x"]), .raw),
            ("program:kms --slot 1", .command(["kms", "--slot", "1"]), .program),
        ]
        for one in cases {
            #expect(try TypedSource(one.text) == TypedSource(one.source, one.type), "\(one.text)")
        }
        // Messages show a command without its arguments.
        #expect(try TypedSource("raw:file:app.key").text == "raw:file:app.key")
        #expect(try TypedSource("raw:command:pass show").text == "raw:command:pass")
        #expect(try TypedSource("program:kms --slot 1").text == "program:kms")
    }

    @Test(
        "a text that begins like a source may be shown, and any other may be a secret",
        arguments: [
            "", "hunter2", "stdin:", "ask:x", "flie:app.key", "File:a", "raw", "raw:", "raw:hunter2",
            "raw:raw:file:a", "raw+salt", "file", "fd", " file:a", "identity:", "program",
        ])
    func otherTexts(text: String) {
        #expect(throws: TypedSource.Problem.notASource) { try TypedSource(text) }
        #expect(!TypedSource.isSource(text))
        for unusable in ["file:", "fd:x", "fd:-1", "env:", "env:A=b", "credential:", "command:", "program:"] {
            #expect(TypedSource.isSource(unusable))
            #expect(throws: TypedSource.Problem.self) { try TypedSource(unusable) }
        }
    }

    @Test("--unlock stands for a prompt before options, files and statements, but not before other words")
    func bareUnlock() {
        let file = tool.directory.path("a.db")
        let prompt = "--unlock=passphrase:ask"
        for (arguments, expected) in [
            (["--unlock"], [prompt]), (["--unlock", file], [prompt, file]),
            (["query", "--unlock", "select(1)"], ["query", prompt, "select(1)"]),
            (["query", "--unlock", "my words"], ["query", "--unlock", "my words"]),
            (["--unlock", "SELECT 1"], ["--unlock", "SELECT 1"]), (["--unlock", ""], ["--unlock", ""]),
            (["--unlock", "--json"], [prompt, "--json"]), (["--unlock", "--"], [prompt, "--"]),
            (["--unlock", "file:a"], ["--unlock", "file:a"]),
            (["--unlock", "fd:x"], ["--unlock", "fd:x"]), (["--unlock=file:a"], ["--unlock=file:a"]),
            (["--", "--unlock"], ["--", "--unlock"]), ([], []),
        ] as [([String], [String])] {
            #expect(SourceArgument.addingPrompts(arguments) == expected)
        }
    }

    @Test("each source opens the database")
    func allSources() throws {
        let credentials = ["CREDENTIALS_DIRECTORY": tool.directory.path]
        #expect(try query("file:a.key").output == "row 1\n")
        #expect(try query("raw:file:a.key").output == "row 1\n")
        #expect(try query("credential:a.key", environment: credentials).output == "row 1\n")
        #expect(try query("raw:stdin", input: Self.digits).output == "row 1\n")
        #expect(try query("raw:command:cat 'a.key'").output == "row 1\n")
        let variable = try query(
            "raw:env:COFFER_TEST_KEY", environment: ["COFFER_TEST_KEY": Self.digits])
        #expect(variable.output == "row 1\n" && variable.errors.contains("warning"), "\(variable)")
        let start = "exec '\(Tool.program)' query a.db 'SELECT text FROM t' --format csv --no-header --key"
        #expect(
            try tool.run(["-c", "\(start) raw:fd:7 7<a.key"], program: "/bin/sh").output == "row 1\n")
        #expect(
            try tool.run(["-c", "\(start) file:<(cat a.key)"], program: "/bin/bash").output == "row 1\n")
    }

    @Test("the option that opened a file is named as it was given")
    func naming() throws {
        for source in ["file:a.key", "raw:file:a.key"] {
            let result = try tool.run("info", "a.db", "--json", "--key-id", "--key", source)
            #expect(try Schema.problems(result) == [], "\(result)")
            #expect(try result.objects.contains { $0["opened_by"] as? String == "--key \(source)" })
        }
    }

    // MARK: The type of a secret

    @Test("the digits of a raw key in a file are used as a raw key, in each valid form")
    func digitsInFiles() throws {
        for form in [
            Self.digits, Self.digits + "\n", Self.digits + "\r\n", "x'\(Self.digits)'",
            "\u{feff}\(Self.digits)",
        ] {
            try tool.write(form, to: "form.key")
            #expect(try query("file:form.key").output == "row 1\n", "\(form)")
        }
        #expect(try query("stdin", input: "x'\(Self.digits)'").output == "row 1\n")
        try tool.write(Self.digits + String(repeating: "07", count: 16), to: "salted.key")
        #expect(try tool.run("create", "b.db", "--key", "file:salted.key").status == 0)
        #expect(try tool.directory.bytes(of: "b.db").prefix(16) == [UInt8](repeating: 7, count: 16)[...])
        #expect(
            try tool.run("keygen", "--out", "new.key").description.contains("use it with --key file:new.key"))
        #expect(try tool.run("create", "c.db", "--key", "file:new.key").status == 0)
        #expect(
            try tool.run("verify", "c.db", "--key-file", "new.key", "--key-type", "raw").status == 0)
    }

    @Test("a secret that may be a raw key or a passphrase is refused with the two ways to give it")
    func ambiguousForms() throws {
        let made = tool.directory.fileNames()
        for (source, kind) in [("stdin", "raw"), ("command:cat a.key", "raw")] {
            for command in [["verify", "a.db"], ["create", "b.db"]] {
                let result = try tool.run(command + ["--key", source], input: Self.digits)
                #expect(result.status == 77, "\(result)")
                let text = source == "stdin" ? "stdin" : "command:cat"
                #expect(result.errors.contains("'\(kind):\(text)' or 'passphrase:\(text)'"), "\(result)")
                #expect(!result.description.contains(Self.digits))
            }
        }
        #expect(tool.directory.fileNames() == made)
        #expect(try tool.run("keygen", "--binary", "--out", "bytes.key").status == 0)
        try tool.directory.write([UInt8](repeating: 0xb5, count: 32), to: "bytes.key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: tool.directory.path("bytes.key"))
        let bytes = try tool.run("create", "b.db", "--key", "file:bytes.key")
        #expect(bytes.status == 77 && bytes.errors.contains("'raw:file:bytes.key'"), "\(bytes)")
        #expect(try tool.run("create", "b.db", "--key", "raw:file:bytes.key").status == 0)
        // As many bytes of text are a passphrase.
        try tool.write(String(repeating: "pqrs tuv", count: 4), to: "words")
        #expect(try tool.run("create", "c.db", "--key", "file:words").status == 0)
        #expect(try tool.run("verify", "c.db", "--key-file", "words").status == 0)
    }

    @Test("the error for a passphrase that was read as a raw key says how to give it")
    func passphraseOfDigits() throws {
        #expect(try tool.run("create", "b.db", "--key", "passphrase:file:a.key").status == 0)
        let wrong = try tool.run("verify", "b.db", "--key", "file:a.key")
        #expect(wrong.status == 77 && wrong.errors.contains("give 'passphrase:' before"), "\(wrong)")
        #expect(try tool.run("verify", "b.db", "--key", "passphrase:file:a.key").status == 0)
    }

    // MARK: Refusals

    @Test(
        "a value that is not a source is refused like a secret, and not shown",
        arguments: [
            ["--key", "s3cret"], ["--key=s3cret"], ["--key", "flie:s3cret"], ["--key", "raw:s3cret"],
            ["--previous-key", "s3cret", "--key", "file:a.key"], ["--unlock=s3cret"],
            ["--audit", "log", "--audit-key", "s3cret"],
            ["--site-secret", "s3cret"],
        ])
    func secrets(options: [String]) throws {
        try expectRefused(["verify", "a.db"] + options)
    }

    @Test(
        "a word after --unlock that is neither a source nor a file may be a secret, and is written nowhere",
        arguments: [
            ["key", "list", "a.db", "--unlock", "s3cret"], ["verify", "a.db", "--unlock", "s3cret"],
            ["verify", "--unlock", "s3cret", "a.db", "--metrics", "m.prom"],
            ["query", "a.db", "--unlock", "my s3cret", "--audit", "log"],
            ["batch", "verify", "--unlock", "s3cret"], ["backup", "a.db", "--unlock", "s3cret"],
        ])
    func secretAfterUnlock(_ arguments: [String]) throws {
        try expectRefused(arguments)
        for name in ["m.prom", "log", "s3cret"] { #expect(!tool.exists(name)) }
    }

    @Test(
        "an argument that a command about keys does not expect may be a secret, and is not shown",
        arguments: [
            ["key", "recover", "a.db", "s3cret"], ["key", "add", "a.db", "--recovery", "s3cret"],
            ["key", "init", "b.db", "--recovery", "s3cret", "another s3cret's"],
        ])
    func unexpectedSecret(_ arguments: [String]) throws {
        let result = try tool.run(arguments + ["--json"])
        #expect(result.status == 64 && result.errors.contains("may be a secret"), "\(result)")
        #expect(!result.description.contains("s3cret"), "\(result)")
        #expect(try Schema.problems(result) == [], "\(result)")
    }

    private func expectRefused(_ arguments: [String]) throws {
        let result = try tool.run(arguments + ["--json"])
        #expect(result.status == 64, "\(result)")
        #expect(result.errors.contains("keys are never arguments"), "\(result)")
        #expect(result.errors.contains("file:PATH"), "\(result)")
        #expect(!result.description.contains("s3cret"), "\(result)")
        #expect(try Schema.problems(result) == [], "\(result)")
    }

    @Test(
        "a source that cannot be used is refused with the reason",
        arguments: [
            (["--key", "file:"], 64, "needs a path"), (["--key", "fd:x"], 64, "needs the number"),
            (["--key", "env:"], 64, "needs the name"), (["--key", ""], 64, "keys are never arguments"),
            (["--key", "command:cat 'a.key"], 64, "not closed"), (["--key", "command:"], 64, "empty"),
            (["--key", "file:a.key", "--key", "file:"], 64, "needs a path"),
            (["--unlock", "file:a.key", "--unlock"], 64, "Give --unlock once"),
            (["--key", "file:a.key", "--unlock", "file:a.key"], 64, "not both"),
            (["--key", "recovery:file:a.key"], 64, "give --unlock"),
            (["--unlock", "raw+salt:file:a.key"], 64, "no slot of that type"),
            (["--audit", "log", "--audit-key", "raw:file:a.key"], 64, "has no type"),
            (["--key", "file:folder"], 66, "is not a file"), (["--key", "file:none.key"], 66, "none.key"),
            (["--key", "fd:77"], 66, "77"), (["--key", "env:COFFER_NOT_SET"], 66, "COFFER_NOT_SET"),
            (["--key", "credential:a.key"], 66, "CREDENTIALS_DIRECTORY"),
            (["--key", "file:open.key"], 78, "chmod 600"), (["--key", "file:large.key"], 77, "65,536"),
            (["--key", "command:yes"], 77, "65,536"),
            (["--key", "command:sleep 1000", "--key-timeout", "0.3"], 69, "0.3 s"),
            (["--key", "command:false"], 69, "exit code 1"),
        ] as [([String], Int32, String)])
    func unusableSources(options: [String], status: Int32, words: String) throws {
        _ = try tool.directory.makeFolder("folder")
        try tool.write(Self.digits, to: "open.key", mode: 0o644)
        try tool.write(String(repeating: "x", count: 65_537), to: "large.key")
        let result = try tool.run(["verify", "a.db"] + options)
        #expect(result.status == status && result.errors.contains(words), "\(result)")
    }

    @Test("a pipe that never ends is refused at the limit of a key")
    func endlessPipe() throws {
        let script = "exec '\(Tool.program)' verify a.db --key file:<(yes)"
        let result = try tool.run(["-c", script], program: "/bin/bash")
        #expect(result.status == 77 && result.errors.contains("65,536"), "\(result)")
    }

    @Test(
        "the option and an older one for the same secret are refused together",
        arguments: [
            (["--key", "file:a.key", "--key-file", "a.key"], "--key and --key-file"),
            (["--key", "file:a.key", "--key-type", "raw"], "--key and --key-type"),
            (["--unlock", "file:a.key", "--unlock-fd", "3"], "--unlock and --unlock-fd"),
            (["--unlock", "file:a.key", "--unlock-type", "raw"], "--unlock and --unlock-type"),
            (["--unlock", "--unlock-file", "a.key"], "--unlock and --unlock-file"),
            (
                ["--key", "file:a.key", "--previous-key", "file:a.key", "--previous-key-file", "a.key"],
                "--previous-key"
            ),
            (
                ["--audit", "log", "--audit-key", "file:a.key", "--audit-key-file", "a.key"],
                "--audit-key and --audit-key-file"
            ),
            (
                ["--site-secret", "file:a.key", "--site-secret-env", "X"],
                "--site-secret and --site-secret-env"
            ),
        ] as [([String], String)])
    func mixtures(options: [String], words: String) throws {
        let result = try tool.run(["verify", "a.db"] + options)
        #expect(result.status == 64 && result.errors.contains(words), "\(result)")
        // Secrets that are only bytes take no type.
        let isTyped = !["--audit", "--site-secret"].contains(options[0])
        #expect(result.errors.contains("raw:file:PATH") == isTyped, "\(result)")
        // Older options for another secret are no mixture.
        let other = ["--key", "file:a.key", "--previous-key-file", "a.key"]
        #expect(try tool.run(["verify", "a.db"] + other).status == 0)
    }

    @Test("two secrets cannot both come from the standard input")
    func oneInput() throws {
        for options in [
            ["rotate", "a.db", "--key", "raw:stdin", "--new-key", "raw:stdin"],
            ["verify", "a.db", "--key", "raw:stdin", "--audit", "log", "--audit-key", "stdin"],
        ] {
            let result = try tool.run(options, input: Self.digits)
            #expect(result.status == 64 && result.errors.contains("standard input"), "\(result)")
        }
    }

    @Test(
        "a secret and another input cannot both come from the standard input, and no input is lost",
        arguments: [
            (["import", "a.db", "t"], "id,text\n5,new row\n"), (["query", "a.db", "--write"], nil),
            (["shell", "a.db", "--write"], nil), (["load", "new.db"], nil),
            (["batch", "verify", "--manifest", "-"], "a.db\n"),
        ] as [([String], String?)])
    func secretAndInput(command: [String], input: String?) throws {
        let sources =
            [["--key", "passphrase:stdin"]]
            + (command[0] == "load"
                ? []
                : [
                    ["--key", "file:a.key", "--previous-key", "passphrase:stdin"],
                    ["--key", "file:a.key", "--audit", "log", "--audit-key", "stdin"],
                ])
        for options in sources {
            let result = try tool.run(
                command + options, input: input ?? "INSERT INTO t (text) VALUES ('new row');")
            #expect(result.status == 64 && result.errors.contains("standard input"), "\(result)")
        }
        let defaults = ["COFFER_KEY": "file:a.key", "COFFER_UNLOCK": "passphrase:stdin"]
        if command[0] == "import" {
            #expect(try tool.run(command, input: input ?? "", environment: defaults).status == 64)
        }
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
        #expect(!tool.exists("new.db"))
    }

    @Test("--unlock alone and the source ask prompt at the terminal")
    func prompts() throws {
        func terminal(_ arguments: String...) throws -> PseudoTerminal {
            try PseudoTerminal(Tool.program, arguments, folder: tool.directory.path)
        }
        try tool.write("correct horse battery\n", to: "anna.txt")
        #expect(try tool.run("key", "init", "k.db", "--new-key", "file:anna.txt").status == 0)
        for unlock in [["--unlock"], ["--unlock", "ask"], ["--unlock", "--unlock-type", "passphrase"]] {
            let query = try PseudoTerminal(
                Tool.program, ["query", "k.db"] + unlock + ["SELECT 40 + 2"], folder: tool.directory.path)
            try query.expect("Key of k.db: ")
            query.type("correct horse battery\n")
            try query.expect("42")
            #expect(try query.end() == 0, "\(unlock)")
        }
        let digits = try terminal("verify", "a.db", "--key", "ask")
        try digits.expect("Key of a.db: ")
        digits.type(Self.digits + "\n")
        try digits.expect("raw:ask")
        #expect(try digits.end() == 77)
        let raw = try terminal("verify", "a.db", "--key", "raw:ask")
        try raw.expect("Key of a.db (64 hexadecimal digits): ")
        raw.type(Self.digits + "\n")
        #expect(try raw.end() == 0)
    }

    // MARK: Other secrets, manifests and the help

    @Test("a rotation, previous keys, a log and a site take their sources in the same way")
    func otherSecrets() throws {
        try tool.writeKey("b.key", 0x43)
        try tool.write(String(repeating: "s", count: 32), to: "audit.key")
        let log = ["--audit", "log", "--audit-key", "file:audit.key", "--site-secret", "file:audit.key"]
        let rotation = try tool.run(
            ["rotate", "a.db", "--key", "file:a.key", "--new-key", "file:b.key"] + log)
        #expect(rotation.status == 0, "\(rotation)")
        #expect(try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t;") == ["1"])
        let verified = try tool.run("audit", "verify", "log", "--audit-key", "file:audit.key")
        #expect(verified.status == 0, "\(verified)")
        #expect(try tool.run("audit", "verify", "log").errors.contains("--audit-key file:PATH"))
        let found = try tool.run(
            "audit", "find-key", "log", "--key", "file:b.key", "--site-secret", "file:audit.key",
            "--audit-key", "file:audit.key")
        #expect(found.status == 1 && found.output.contains("a.db"), "\(found)")
        let previous = try tool.run(
            "verify", "a.db", "--json", "--key", "file:a.key", "--previous-key", "file:b.key",
            "--previous-key", "passphrase:file:b.key")
        #expect(previous.status == 0, "\(previous)")
        #expect(
            try previous.objects.contains { $0["opened_by"] as? String == "--previous-key file:b.key" })
    }

    @Test("a keyring takes its secrets in the same way, and knows an identity")
    func keyrings() throws {
        let unlock = ["--unlock", "file:anna.key"]
        try tool.writeKey("anna.key", 1)
        #expect(try tool.run("key", "init", "k.db", "--new-key", "file:anna.key").status == 0)
        #expect(try tool.run(["query", "k.db", "SELECT 1"] + unlock).status == 0)
        #expect(
            try tool.run("query", "k.db", "SELECT 1", "--unlock-file", "anna.key", "--unlock-type", "raw")
                .status == 0)
        let identity = try tool.run("keygen", "--recipient", "--out", "me.identity")
        #expect(identity.errors.contains("use it with --unlock file:me.identity"), "\(identity)")
        try tool.write(identity.output, to: "me.pub")
        #expect(try tool.run(["key", "add", "k.db", "--recipient", "me.pub"] + unlock).status == 0)
        #expect(try tool.run("query", "k.db", "SELECT 1", "--unlock", "file:me.identity").status == 0)
        let wrong = try tool.run(["key", "add", "k.db", "--new-key", "file:me.identity"] + unlock)
        #expect(wrong.status == 64 && wrong.errors.contains("--recipient"), "\(wrong)")
        let sheet = try tool.run(["key", "add", "k.db", "--recovery", "--quiet"] + unlock)
        try tool.write(sheet.output, to: "sheet")
        #expect(try tool.run("verify", "k.db", "--unlock", "recovery:file:sheet").status == 0)
        try tool.write("correct horse battery\n", to: "new.txt")
        let recovered = try tool.run(
            "key", "recover", "k.db", "--unlock", "file:sheet", "--new-key", "file:new.txt")
        #expect(recovered.status == 0, "\(recovered)")
        #expect(try tool.run("verify", "k.db", "--unlock", "file:new.txt").status == 0)
    }

    @Test("a line of a manifest takes sources, for files with keys and files with keyrings")
    func manifests() throws {
        try tool.writeKey("anna.key", 1)
        try tool.makeDatabase("b.db", key: "b.key", 0x43)
        #expect(try tool.run("key", "init", "k.db", "--new-key", "file:anna.key").status == 0)
        try tool.write(
            """
            {"path": "a.db", "key": "raw:file:a.key"}
            {"path": "b.db", "key": "file:a.key", "previous-key": ["passphrase:file:b.key", "file:b.key"]}
            {"path": "k.db", "unlock": "file:anna.key"}

            """, to: "list")
        let result = try tool.run("batch", "verify", "--manifest", "list", "--json")
        #expect(result.status == 0, "\(result)")
        #expect(
            try result.objects.compactMap { $0["opened_by"] as? String } == [
                "--key raw:file:a.key", "--previous-key file:b.key", "--unlock file:anna.key",
            ])
        try tool.writeKey("c.key", 0x44)
        let line = #"{"path": "a.db", "key": "file:a.key", "new-key": "file:c.key"}"#
        #expect(try tool.run(["batch", "rotate", "--manifest", "-"], input: line).status == 0)
        #expect(try tool.shell("a.db", 0x44).run("SELECT count(*) FROM t;") == ["1"])
    }

    @Test(
        "a bad source in a manifest is refused with its line, and a secret is not repeated",
        arguments: [
            (#""key": "s3cret""#, "must not contain a key"), (#""key": 7"#, "not a string"),
            (#""key": ["file:a.key"]"#, "not a string"), (#""key": "file:""#, "needs a path"),
            (#""key": "file:a.key", "key-file": "a.key""#, "both 'key' and 'key-file'"),
            (#""key": "file:a.key", "key-type": "raw""#, "both 'key' and 'key-type'"),
            (#""key": "file:a.key", "unlock": "file:a.key""#, "both a key and a secret"),
            (#""key": "stdin""#, "in a manifest"), (#""unlock": "ask""#, "in a manifest"),
            (#""key": "fd:3""#, "in a manifest"), (#""key": "identity:file:a""#, "give --unlock"),
            (#""previous-key": ["file:a.key", "s3cret"]"#, "must not contain a key"),
            (#""previous-key": []"#, "list"),
        ])
    func badLines(members: String, words: String) throws {
        let result = try tool.run(
            "batch", "verify", "--manifest", "-", "--key", "file:a.key",
            input: "# first\n{\"path\": \"a.db\", \(members)}\n")
        #expect(result.status == 78, "\(result)")
        #expect(result.errors.contains("Line 2 ") && result.errors.contains(words), "\(result)")
        #expect(!result.description.contains("s3cret"))
    }

    @Test("the help shows one option for each secret, and has a topic about their sources")
    func help() throws {
        // The help wraps its lines.
        let help = try tool.run("verify", "--help").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        for option in ["--key, ", "--previous-key", "--unlock, ", "coffer help keys"] {
            #expect(help.contains(option), "\(option)")
        }
        for option in ["--key-file", "--key-type", "--unlock-file", "--previous-key-env", "--audit-key-fd"] {
            #expect(!help.contains(option), "\(option)")
            #expect(try tool.run("verify", "--help-hidden").output.contains(option))
        }
        let topic = try tool.run("help", "keys")
        #expect(topic.status == 0)
        for (name, _) in KeyTopic.sources + KeyTopic.types + KeyTopic.environment {
            #expect(topic.output.contains("\n  \(name) "), "\(name)")
        }
        #expect(topic.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(topic.output.contains("--previous-key\n(another key to try after --key,"), "\(topic)")
        // Every type that can be given is explained.
        let types = SecretType.allCases.map(\.rawValue)
        #expect(types.allSatisfy { type in KeyTopic.types.contains { $0.0.hasPrefix("\(type):") } })
    }
}
