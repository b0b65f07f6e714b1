import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

/// Mistakes of operators, and accidents of systems. Each of these has caused confusion in practice.
@Suite("Mistakes and accidents")
struct MistakeTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 3)
        try tool.writeKey("b.key", 0x43)
    }

    @Test("an unknown command is reported as such, with a suggestion if a name is near")
    func unknownCommands() throws {
        for arguments in [
            ["rotat", "a.db"], ["--progress", "never", "rotat"],
            ["-q", "--lock-timeout", "3", "rotat", "a.db"],
        ] {
            let result = try tool.run(arguments, input: "")
            #expect(result.status == 64)
            #expect(
                result.errors
                    == "coffer: error: There is no command 'rotat'. Did you mean 'rotate'? 'coffer --help' lists them.\n"
            )
        }
        let nested = try tool.run("batch", "verfy", "--manifest", "x")
        #expect(nested.status == 64 && nested.errors.contains("Did you mean 'batch verify'?"), "\(nested)")
        #expect(
            try tool.run("frobnicate").errors.contains(
                "There is no command 'frobnicate'; 'coffer --help' lists them."))
        // Names that other tools have, which are not the nearest ones.
        for (word, name) in [
            ("export", "query --format csv"), ("rekey", "rotate"), ("ls", "schema --tables"),
            ("revoke", "key remove"),
            ("snapshots", "backup --list"), ("version", "--version"),
        ] {
            let result = try tool.run(word, "a.db")
            #expect(
                result.errors == "coffer: error: There is no command '\(word)'. Use 'coffer \(name)'.\n")
            #expect(result.status == 64)
        }
        for group in ["batch", "audit"] {
            let result = try tool.run(group)
            #expect(result.status == 64 && result.output.isEmpty)
            #expect(
                result.errors.contains("coffer: error: Give a command")
                    && result.errors.contains("coffer \(group) verify"))
        }
        #expect(try tool.run("rotate").errors.hasPrefix("coffer: error: Missing expected argument"))
        #expect(try tool.run("help", "rotate").status == 0)
    }

    @Test(
        "a line break in a name of any kind does not begin a line of the messages",
        arguments: [
            ["query", "a.db", "SELECT * FROM \"NAME\""],
            ["query", "a.db", "SELECT 1", "--bind", "NAME:int=1.5"],
            ["query", "a.db", "SELECT 1", "--bind", "NAME="],
            ["query", "a.db", "--file", "NAME"], ["import", "a.db", "NAME"],
            ["dump", "a.db", "--table", "NAME"],
            ["verify", "NAME"], ["verify", "a.db", "--key-file", "NAME"], ["batch", "verify", "NAME"],
            ["verify", "a.db", "--page-size", "NAME"], ["verify", "a.db", "--page-size=NAME"],
            ["verify", "a.db", "--NAME=1"], ["keygen", "NAME"], ["NAME"],
        ])
    func lineBreaks(arguments: [String]) throws {
        let name = "x\ncoffer: error: false\r\u{1b}[31m\u{2028}"
        let rest = arguments.contains("--key-file") || arguments[0] == "keygen" ? [] : key
        let result = try tool.run(arguments.map { $0.replacing("NAME", with: name) } + rest, input: "")
        #expect(result.errors.contains("\\ncoffer: error: false\\r\\u{1b}[31m\\u{2028}"), "\(result)")
        #expect(!result.errors.contains("\ncoffer: error: false") && !result.errors.contains("\u{1b}"))
    }

    @Test("each synonym stands for an existing command")
    func synonyms() {
        #expect(Spelling.synonyms.count > 40)
        for (word, command) in Spelling.synonyms {
            #expect(CofferCommand.unknownName(in: [word]) != nil, "\(word)")
            let words = command.prefix { $0 != ">" }.split(separator: " ").map(String.init)
            #expect(CofferCommand.unknownName(in: ArgumentGuess.resolving(words)) == nil, "\(word)")
        }
    }

    @Test("the parser's guess at an option is kept only if it is near")
    func guesses() throws {
        let far = try tool.run(["query", "a.db", "SELECT 1", "--out", "x"] + key)
        #expect(far.status == 64 && far.errors.contains("Unknown option '--out'."), "\(far)")
        #expect(!far.errors.contains("Did you mean"))
        let near = try tool.run(["query", "a.db", "SELECT 1", "--formt", "csv"] + key)
        #expect(near.errors.contains("Did you mean '--format'?"), "\(near)")
    }

    @Test(
        "an error of a command with several files names the right one",
        arguments: [
            (["import", "a.db", "t", "--from", "none.csv"], "none.csv", 66),
            (["vacuum", "a.db", "exists.db"], "exists.db", 73),
            (["backup", "a.db", "exists.db"], "exists.db", 73), (["encrypt", "a.db", "x.db"], "a.db", 65),
            (["load", "exists.db", "--from", "none.sql"], "exists.db", 73),
            (["load", "x.db", "--from", "none.sql"], "none.sql", 66),
            (["decrypt", "other.db", "x.db", "--yes-plaintext"], "other.db", 77),
        ] as [([String], String, Int32)])
    func placeOfError(arguments: [String], name: String, status: Int32) throws {
        try tool.write("precious", to: "exists.db")
        try tool.makeDatabase("other.db", key: "other.key", 0x77)
        let result = try tool.run(arguments + key + ["--json"])
        #expect(result.status == status && result.errors.contains(name), "\(result)")
        let error = try result.objects.first { $0["type"] as? String == "error" }
        #expect(error?["path"] as? String == name, "\(result)")
        // No other file of the command is blamed.
        let others = arguments.filter { $0.hasSuffix(".db") && $0 != name }
        #expect(!others.contains { result.errors.contains($0) && !name.contains($0) }, "\(result)")
    }

    @Test("a folder given as the name of a backup is refused with advice to use --into")
    func backupIntoFolder() throws {
        _ = try tool.directory.makeFolder("bk")
        let result = try tool.run(["backup", "a.db", "bk"] + key)
        #expect(result.status == 73 && result.errors.contains("give --into bk"), "\(result)")
    }

    @Test(
        "a full disk is reported with its free space, and without the name of a temporary file",
        arguments: ["backup", "restore"])
    func roomOfFullDisk(command: String) throws {
        _ = try tool.shell().run("INSERT INTO t (text) VALUES (hex(zeroblob(50000)));")
        // Blocks of 512 bytes.
        let script =
            "ulimit -f 24; exec '\(Tool.program)' \(command) a.db b.db --key-file a.key --key-type raw"
        let result = try tool.run(["-c", script], program: "/bin/sh")
        #expect(result.status == 74, "\(result)")
        #expect(result.errors.contains("are free in '.'") && !result.errors.contains(".coffer-"), "\(result)")
        #expect(!tool.exists("b.db"))
    }

    @Test("an interrupted verification does not say that the file is intact")
    func interruptedReading() {
        let message = Interruption.shared.failure(.interrupted).message
        #expect(!message.contains("intact") && message.contains("half-changed"))
    }

    @Test("an unknown option is named before the files are counted", arguments: ["rotate", "upgrade"])
    func unknownOption(command: String) throws {
        let keep = ["--keep-old", "old.db"] + key
        let result = try tool.run([command, "a.db", "--foo", "1"] + keep)
        #expect(result.status == 64 && result.errors.contains("Unknown option '--foo'"), "\(result)")
        let new = command == "rotate" ? ["--new-key-file", "b.key", "--new-key-type", "raw"] : []
        let several = try tool.run([command, "a.db", "b.db"] + keep + new)
        #expect(several.status == 64 && several.errors.contains("--keep-old is for one file"), "\(several)")
    }

    @Test("the nearest name is suggested, or none if all are too different")
    func spelling() {
        let names = ["rotate", "verify", "restore", "backup", "batch", "key", "keygen", "dump"]
        for (word, nearest) in [
            ("rotat", "rotate"), ("vreify", "verify"), ("back", "backup"), ("bakcup", "backup"),
            ("dmup", "dump"), ("resotre", "restore"),
            ("ke", nil), ("x", nil), ("", nil), ("tables", nil), ("ky", nil), ("rotatetheothers", nil),
            ("batchs", "batch"),
        ] { #expect(Spelling.nearest(to: word, among: names) == nearest, "\(word)") }
    }

    @Test(
        "a key in an argument is refused with the available options, and is not repeated",
        arguments: [
            ["verify", "a.db", "--key", "s3cret"], ["--key=s3cret", "verify", "a.db", "--json"],
            ["--key", "s3cret", "verify", "a.db", "--json"],
            ["query", "a.db", "--passphrase", "s3cret", "SELECT 1"],
            ["rotate", "a.db", "--new-key", "s3cret", "--key-file", "a.key"],
            ["verify", "a.db", "--previous-key=s3cret"], ["--password", "s3cret"],
        ])
    func keysInArguments(arguments: [String]) throws {
        let result = try tool.run(arguments)
        let option = arguments.contains { $0.hasPrefix("--new") } ? "--new-key file:PATH" : "-key file:PATH"
        #expect(
            result.status == 64 && result.errors.contains("keys are never arguments")
                && result.errors.contains(option) && !result.errors.contains("-file"), "\(result)")
        #expect(!result.description.contains("s3cret"), "\(result)")
        if arguments.contains("--json") { #expect(try Schema.problems(result) == [], "\(result)") }
    }

    @Test(
        "an option of another tool is refused with the corresponding one",
        arguments: [
            ("keygen k.key", "--out k.key"), ("key passwd a.db", "'coffer key change'"),
            ("import a.db --table t", "coffer import FILE TABLE"), ("import a.db t --header", "--no-header"),
            ("import a.db t --headers", "'--headers'. The first line"),
            ("restore safe --latest", "is restored"),
            ("restore safe --force", "'--force'. The database"), ("verify a.db --full", "--structure full"),
            ("erase a.db --yes", "--yes-erase and"), ("a.db", "coffer shell a.db"),
            ("key recover a.db --recovery file:a.key", "with --unlock"),
            ("key list a.db --key file:a.key", "with --unlock"),
            ("key add a.db --passphrase file:a.key", "--unlock file:a.key?"),
            ("key add a.db --unlock file:b.key --passphrase file:a.key", "--new-key file:a.key?"),
            ("key init x.db --password=file:a.key", "--new-key file:a.key?"),
            ("verify a.db --key a.key", "Did you mean --key file:a.key?"),
            ("rotate a.db --new-key=a.key", "Did you mean --new-key file:a.key?"),
        ])
    func optionsOfOthers(_ text: String, _ advice: String) throws {
        let result = try tool.run(text.split(separator: " ").map(String.init))
        #expect(result.status == 64 && result.errors.contains(advice), "\(result)")
        #expect(!result.errors.contains("history of your shell"), "\(result)")
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key"])
    }

    @Test("a database is not guessed to be its own key", arguments: ["--key", "--key=a.db"])
    func databaseAsKey(option: String) throws {
        let result = try tool.run(["verify", option] + (option.contains("=") ? [] : ["a.db"]))
        #expect(result.status == 64 && !result.errors.contains("file:a.db"), "\(result)")
    }

    @Test("no key is asked for to verify files without encryption")
    func plaintext() throws {
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("p.db")).run("CREATE TABLE t (a);")
        let result = try tool.run("verify", "p.db")
        #expect(result.status == 65 && result.errors.contains("without encryption"), "\(result)")
        let both = try tool.run("verify", "p.db", "a.db")
        #expect(both.status == 64 && both.errors.contains("No key was given"), "\(both)")
    }

    @Test("a shell command given to query is refused with advice")
    func shellWords() throws {
        for (words, advice) in [
            (".schema t\nSELECT 1", "coffer schema"), (".tablesx", "coffer shell"),
            (".dump", "coffer dump"), ("SELECT 1;\n .dump", "coffer dump"),
            (".nothing", "coffer shell"),
        ] {
            let result = try tool.run(["query", "a.db", words] + key)
            #expect(
                result.status == 64 && result.errors.contains("is a shell command")
                    && result.errors.contains(advice), "\(result)")
        }
    }

    @Test(
        "an argument that begins with an SQL comment is a statement, not an option",
        arguments: [
            ["query", "a.db", "-- all\nSELECT count(*) FROM t", "KEY"],
            ["query", "a.db", "KEY", "--all of them\nSELECT count(*) FROM t"],
            ["query", "a.db", "KEY", "--write", "--", "--all of them\nSELECT count(*) FROM t"],
        ])
    func comments(arguments: [String]) throws {
        let result = try tool.run(arguments.flatMap { $0 == "KEY" ? key : [$0] })
        #expect(result.status == 0 && result.output.contains("3"), "\(result)")
    }

    @Test(
        "a statement that begins with a comment is refused with advice if it could be an option's value"
    )
    func commentsAfterOptions() throws {
        let result = try tool.run(["query", "a.db", "--write", "-- all\nSELECT 1"] + key)
        #expect(
            result.status == 64 && result.errors.contains("A statement that begins with a comment"),
            "\(result)")
    }

    @Test("a raw key given as the passphrase of a new database causes a warning")
    func rawKeyAsPassphrase() throws {
        let made = try tool.run("create", "c.db", "--key-file", "a.key")
        #expect(made.status == 0)
        #expect(made.errors.contains("warning: The key from the key file 'a.key' looks like a raw key"))
        for source in ["'raw:file:a.key' to --key", "'passphrase:file:a.key'"] {
            #expect(made.errors.contains(source), "\(made)")
        }
        let wrong = try tool.run("verify", "a.db", "--key-file", "a.key")
        #expect(wrong.status == 77)
        #expect(wrong.errors.contains("give --key-type raw"))
        // The key is used as declared, and its type is not guessed.
        #expect(try tool.run("verify", "c.db", "--key-file", "a.key").errors.isEmpty)
        try tool.write(String(repeating: "not hex ", count: 8) + "\n", to: "words")
        #expect(try tool.run("create", "d.db", "--key-file", "words").errors.isEmpty)
    }

    @Test(
        "an argument that is not UTF-8 is refused, before it names another file",
        arguments: ["create", "erase", "info"])
    func otherEncodings(command: String) throws {
        let options = [
            "create": "--key-file a.key --key-type raw", "erase": "--yes-erase \"$name\"", "info": "--json",
        ]
        // Swift would replace the invalid byte with this character.
        try tool.write("precious", to: "n\u{fffd}.db")
        let before = tool.directory.fileNames()
        let script =
            "name=$(printf 'n\\377.db'); exec '\(Tool.program)' \(command) \"$name\" \(options[command] ?? "")"
        let result = try tool.run(["-c", script], program: "/bin/sh")
        #expect(result.status == 64, "\(result)")
        #expect(result.errors.contains("not UTF-8"))
        if command == "info" { #expect(try Schema.problems(result) == []) }
        #expect(tool.directory.fileNames() == before)
    }

    @Test(
        "a name that is not UTF-8 fails alone, and the other files are done",
        arguments: ["batch verify --manifest list", "batch verify --manifest -", "verify", "info"],
        [false, true])
    func oneOddName(command: String, isLast: Bool) throws {
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "b.db")
        // Swift would replace the invalid byte with this character.
        try tool.directory.write(tool.directory.bytes(of: "a.db"), to: "n\u{fffd}.db")
        // The octal form that printf reads in arguments.
        let odd = "n\\0377.db"
        let names = isLast ? ["a.db", "b.db", odd] : [odd, "a.db", "b.db"]
        let isBatch = command.hasPrefix("batch")
        let script =
            "printf '%b\\0' \(names.map { "'\($0)'" }.joined(separator: " ")) > list; "
            + (isBatch ? "" : "xargs -0 ") + "'\(Tool.program)' \(command) "
            + (isBatch ? "--null " : "--key-file a.key ") + "--json "
            + (isBatch ? "--key-file a.key --key-type raw < list" : "--key-type raw < list")
        let result = try tool.run(["-c", script], program: "/bin/sh")
        // xargs has exit codes of its own.
        #expect(result.status == (isBatch ? 3 : 123), "\(result)")
        let objects = try result.objects
        #expect(objects.last?["code"] as? Int == 3)
        let done = objects.filter { $0["type"] as? String == "result" }.map { $0["path"] as? String }
        #expect(done == ["a.db", "b.db"], "\(result)")
        let errors = objects.filter { $0["type"] as? String == "error" }
        #expect(errors.count == 1 && errors[0]["code"] as? Int == 66, "\(result)")
        #expect(errors.first?["reason"] as? String == "name_not_utf8")
    }

    @Test("a line that is not UTF-8 is a name, unless it is JSON or a comment")
    func manifests() throws {
        let command = "exec '\(Tool.program)' batch verify --manifest list --key-file a.key --key-type raw"
        func run(_ lines: String) throws -> Tool.Result {
            try tool.run(["-c", "printf '\(lines)' > list; \(command)"], program: "/bin/sh")
        }
        let name = try run("a.db\\nn\\377.db\\n")
        #expect(name.status == 3 && name.output.contains("a.db: intact"), "\(name)")
        #expect(try run("a.db\\n# n\\377.db\\n").status == 0)
        let json = try run("a.db\\n{\\042path\\042: \\042\\377\\042}\\n")
        #expect(json.status == 78 && json.errors.contains("Line 2 "), "\(json)")
    }

    @Test("a file that is missing does not stop the verification of the others")
    func missingOne() throws {
        let key = ["--key-file", "a.key", "--key-type", "raw", "--json"]
        let result = try tool.run(["verify", "none.db", "a.db"] + key)
        #expect(result.status == 3, "\(result)")
        let objects = try result.objects
        #expect(objects.contains { $0["path"] as? String == "a.db" && $0["intact"] as? Bool == true })
        #expect(objects.contains { $0["path"] as? String == "none.db" && $0["code"] as? Int == 66 })
        #expect(try tool.run(["verify", "none.db", "neither.db"] + key).status == 66)
    }

    @Test(
        "a directory is refused as a database",
        arguments: [
            "info", "verify", "query", "rotate", "upgrade", "vacuum", "backup", "encrypt", "decrypt", "erase",
        ])
    func directories(command: String) throws {
        _ = try tool.directory.makeFolder("folder")
        let more: [String: [String]] = [
            "query": ["SELECT 1"] + key,
            "rotate": ["--new-key-file", "b.key", "--new-key-type", "raw"] + key, "backup": ["x.db"] + key,
            "encrypt": ["x.db"] + key, "decrypt": ["x.db", "--yes-plaintext"] + key,
            "erase": ["--yes-erase", "folder"],
        ]
        let result = try tool.run([command, "folder"] + (more[command] ?? key))
        #expect(result.status == 66, "\(result)")
        #expect(
            result.errors.hasPrefix("coffer: folder: error: ") && !result.errors.contains(".."), "\(result)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test(
        "the error for a wrong key names the file",
        arguments: ["query", "backup", "vacuum", "decrypt", "verify", "info", "rotate", "upgrade"])
    func wrongKeys(command: String) throws {
        let more: [String: [String]] = [
            "query": ["SELECT 1"], "backup": ["x.db"], "decrypt": ["x.db", "--yes-plaintext"],
            "rotate": ["--new-key-file", "a.key", "--new-key-type", "raw", "--cipher-format", "4"],
        ]
        try tool.writeKey("c.key", 0x44)
        let wrong = ["--key-file", "c.key", "--key-type", "raw"]
        if command == "rotate" { try tool.writeKey("a.key", 0x45) }
        let result = try tool.run([command, "a.db"] + (more[command] ?? []) + wrong)
        #expect(result.status == 77, "\(result)")
        #expect(result.errors.hasPrefix("coffer: a.db: error: The key does not open this file."))
        #expect(!tool.exists("x.db"))
    }

    @Test(
        "an unreadable file and an unwritable directory are reported with the reason",
        .enabled(if: geteuid() != 0 || ChildProcess.find("setpriv") != nil, "needs a user that is not root"))
    func permissions() throws {
        func run(_ arguments: [String]) throws -> Tool.Result {
            guard geteuid() == 0 else { return try tool.run(arguments) }
            let user = ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.program]
            return try tool.run(user + arguments, program: try #require(ChildProcess.find("setpriv")))
        }
        func setModes(_ folder: Int, _ file: Int) throws {
            for (name, mode) in [(".", folder), ("a.db", file)] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: tool.directory.path(name))
            }
        }
        if geteuid() == 0 {
            for name in ["a.db", "a.key", "b.key", "."] {
                #expect(unsafe chown(tool.directory.path(name), 65534, 65534) == 0)
            }
        }
        try tool.write("a.db\n", to: "list", mode: 0o644)
        let rotation = ["--new-key-file", "b.key", "--new-key-type", "raw"]
        try setModes(0o755, 0)
        let commands = [
            ["info", "a.db"], ["verify", "a.db"] + key, ["rotate", "a.db"] + key + rotation,
            ["backup", "a.db", "x.db"] + key,
        ]
        for arguments in commands {
            let result = try run(arguments)
            #expect(
                result.status == 66 && result.errors.contains("'a.db' cannot be read: Permission denied."),
                "\(result)")
        }
        let batch = try run(["batch", "verify", "--manifest", "list"] + key)
        #expect(batch.status == 3 && batch.errors.contains("cannot be read: Permission denied."), "\(batch)")
        try setModes(0o555, 0o600)
        for arguments in [
            ["rotate", "a.db"] + rotation, ["backup", "a.db", "x.db"], ["vacuum", "a.db"],
            ["create", "x.db"],
        ] {
            let result = try run(arguments + key)
            #expect(result.status == 73 && result.errors.contains("Permission denied."), "\(result)")
        }
        #expect(try run(["verify", "a.db"] + key).status == 0)
        try setModes(0o755, 0o600)
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key", "list"])
    }

    @Test(
        "reaching the file size limit leaves the file intact, and exits with 74",
        arguments: ["rotate", "rotate --in-place", "backup", "vacuum", "decrypt"])
    func fullDisk(command: String) throws {
        let queue = try tool.directory.makeQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE big (data)")
            for _ in 0..<1000 { try db.execute(sql: "INSERT INTO big VALUES (randomblob(2000))") }
        }
        try queue.close()
        let before = try tool.directory.bytes(of: "a.db")
        let words = command.split(separator: " ").map(String.init)
        let more = [
            "rotate": "--new-key-file b.key --new-key-type raw", "backup": "x.db",
            "decrypt": "x.db --yes-plaintext",
        ]
        let options = (words.dropFirst() + [more[words[0]] ?? "", "--key-file a.key --key-type raw"]).joined(
            separator: " ")
        let script = "ulimit -f 1000; exec '\(Tool.program)' \(words[0]) a.db \(options)"
        let result = try tool.run(["-c", script], program: "/bin/sh")
        #expect(result.status == 74, "\(result)")
        #expect(tool.directory.fileNames() == ["a.db", "a.key", "b.key"])
        #expect(try tool.shell().run("SELECT count(*) FROM big; PRAGMA integrity_check;") == ["1000", "ok"])
        if !command.contains("in-place") { #expect(try tool.directory.bytes(of: "a.db") == before) }
    }

    @Test("a query rolls back a hot journal, and changes nothing else")
    func hotJournal() throws {
        // A process is killed during a transaction, after some of its pages have reached the file.
        let script = """
            PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; CREATE TABLE u (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO u SELECT \
            randomblob(1000) FROM n;
            .shell kill -9 $PPID
            """
        #expect(throws: SQLCipherShell.Failure.self) { try tool.shell().run(script) }
        try #require(tool.exists("a.db-journal"))
        let result = try tool.run(
            ["query", "a.db", "SELECT count(*) FROM t", "--format", "csv", "--no-header"] + key)
        #expect(result.status == 0 && result.output == "3\n", "\(result)")
        #expect(try tool.run(["query", "a.db", "SELECT count(*) FROM u"] + key).status == 64)
        #expect(try tool.run(["query", "a.db", "DELETE FROM t"] + key).status == 64)
        #expect(try tool.shell().run("SELECT count(*) FROM t; PRAGMA integrity_check;") == ["3", "ok"])
    }

    private let rotationOptions = "--key-file a.key --key-type raw --new-key-file b.key --new-key-type raw"

    @Test("closed descriptors lose the output, and nothing else")
    func closedDescriptors() throws {
        let command = "exec '\(Tool.program)' rotate a.db \(rotationOptions) --audit log --json"
        let result = try tool.run(["-c", command + " 0<&- 1>&- 2>&-"], program: "/bin/sh")
        #expect(result.status == 74)
        #expect(
            try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t; PRAGMA cipher_integrity_check;") == [
                "3"
            ])
        #expect(try tool.run("audit", "verify", "log").output.contains("2 records"))
        let noInput = try tool.run(
            ["-c", "exec '\(Tool.program)' info a.db --key-stdin <&-"], program: "/bin/sh")
        #expect(noInput.status == 74)
    }

    @Test("a reader that goes away does not hurt a rotation")
    func brokenPipe() throws {
        let command = "'\(Tool.program)' rotate a.db \(rotationOptions) --json --progress always"
        let result = try tool.run(["-c", "{ \(command); echo $? > status; } | true"], program: "/bin/sh")
        #expect(result.errors.isEmpty)
        #expect(try tool.text(of: "status") == "0\n")
        #expect(try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t;") == ["3"])
    }
}
