import CofferTestSupport
import Foundation
import Testing

@Suite("Slots of keyrings with the tool")
struct SlotCommandTests: KeyringToolSuite {
    let tool: Tool

    init() throws { tool = try Tool() }

    @Test("a slot is removed by name, and an ambiguous or unknown name is refused with a list of slots")
    func removalByName() throws {
        try make()
        try tool.writeKey("ben.key", 2)
        for name in ["Ben", "Ben", "1"] {
            try expect(
                tool.run(["key", "add", "a.db", "--new-key", "file:ben.key", "--name", name] + anna))
        }
        for words in [[], ["Ben"], ["Cleo"], ["--name", "Ben"], ["1"]] {
            try expect(
                tool.run(["key", "remove", "a.db"] + words + anna), status: 64,
                "slot 1 (Anna), slot 2 (Ben), slot 3 (Ben), slot 4 (1)")
        }
        try expect(tool.run(["key", "remove", "a.db", "2", "--name", "Ben"] + anna), status: 64, "one slot")
        try expect(tool.run(["key", "remove", "a.db", "2"] + anna), "removed slot 2 (Ben)")
        try expect(tool.run(["key", "remove", "a.db", "Ben"] + anna), "removed slot 3 (Ben)")
        try expect(tool.run(["key", "remove", "a.db", "--name", "1"] + anna), "removed slot 4 (1)")
    }

    @Test("the removal of the last slot but the recovery key is followed by a warning")
    func removalOfLastSecret() throws {
        try make()
        try expect(tool.run(["key", "add", "a.db", "--recovery"] + anna))
        try tool.writeKey("ben.key", 2)
        try expect(tool.run(["key", "add", "a.db", "--new-key", "file:ben.key"] + anna))
        let first = try tool.run(["key", "remove", "a.db", "--slot", "3"] + anna)
        #expect(first.status == 0 && !first.errors.contains("warning"), "\(first)")
        try expect(
            tool.run(["key", "remove", "a.db", "--slot", "1"] + anna), "Only a recovery key opens 'a.db'")
    }

    @Test("the prompt of 'key recover' is for the recovery key")
    func recoveryPrompt() throws {
        try make()
        let terminal = try PseudoTerminal(
            Tool.program, ["key", "recover", "a.db"], folder: tool.directory.path, environment: [:])
        try terminal.expect("Recovery key of a.db: ")
        terminal.send(SIGINT)
        #expect(try terminal.end() == 130)
    }

    @Test("without a terminal, the error for a missing keyring secret names --unlock")
    func missingSecret() throws {
        try make()
        let setsid = try #require(ChildProcess.find("setsid"))
        let result = try tool.run(
            ["--wait", Tool.program, "key", "add", "a.db", "--recovery"], program: setsid)
        expect(result, status: 64, "Give one with --unlock file:PATH")
        #expect(!result.errors.contains("--key "), "\(result)")
    }

    @Test("slots are added, changed, listed and removed, and all commands open the database by them")
    func slots() throws {
        try make()
        try tool.write("correct horse battery\n", to: "ben.txt")
        try expect(
            tool.run(["key", "add", "a.db", "--new-key-file", "ben.txt", "--name", "Ben"] + anna), "slot 2")
        #expect(try reads("ben.txt", type: "passphrase"))
        let database = try tool.directory.bytes(of: "a.db")
        try tool.write("another horse battery\n", to: "new.txt")
        try expect(
            tool.run("key", "change", "a.db", "--unlock-file", "ben.txt", "--new-key-file", "new.txt"),
            "changed slot 2 (Ben)")
        #expect(try tool.directory.bytes(of: "a.db") == database)
        #expect(try !reads("ben.txt", type: "passphrase") && reads("new.txt", type: "passphrase"))
        let list = try tool.run(["key", "list", "a.db"] + anna)
        expect(list, "2 slots, verified with slot 1")
        #expect(list.output.contains("1  raw  Anna") && list.output.contains("2  passphrase  Ben"))
        let facts = try tool.run(["key", "list", "a.db", "--json"] + anna).objects[1]
        let slots = facts["slot_list"] as? [[String: Any]]
        #expect(slots?.map { $0["slot"] as? Int } == [1, 2])
        #expect(slots?.map { $0["name"] as? String } == ["Anna", "Ben"])
        try expect(tool.run(["verify", "a.db"] + anna))
        let removed = try tool.run(["key", "remove", "a.db", "--slot", "2"] + anna)
        expect(removed, "removed slot 2 (Ben)")
        #expect(removed.errors.contains("coffer key rotate"))
        try expect(tool.run("query", "a.db", "SELECT 1", "--unlock-file", "new.txt"), status: 77, "no slot")
        try expect(tool.run(["key", "remove", "a.db", "--slot", "1"] + anna), status: 64, "last slot")
        try expect(tool.run(["key", "rotate", "a.db"] + anna), "new data key")
        #expect(try reads("anna.key"))
        try tool.writeKey("wrong.key", 9)
        try expect(
            tool.run("key", "list", "a.db", "--unlock-file", "wrong.key", "--unlock-type", "raw"), status: 77)
        #expect(tool.directory.fileNames().filter { $0.hasPrefix(".") }.isEmpty)
    }

    @Test(
        "a new keyring gets a named secret and a recovery key in one go, or nothing",
        arguments: [false, true])
    func pairOfSlots(isOfDatabase: Bool) throws {
        try tool.write("correct horse battery\n", to: "anna.txt")
        let words = ["key", "init", "a.db", "--new-key", "file:anna.txt", "--name", "Anna", "--recovery"]
        if isOfDatabase { try tool.makeDatabase() }
        let present = isOfDatabase ? ["--key", "file:a.key"] : []
        let files = tool.directory.fileNames()
        try expect(tool.run(words + present + ["--recipient", "none.pub"]), status: 64, "one kind of slot")
        try expect(tool.run(words + present + ["--json"]), status: 64)
        let missing = words.map { $0 == "file:anna.txt" ? "file:none.txt" : $0 }
        try expect(tool.run(missing + present), status: 66)
        #expect(tool.directory.fileNames() == files)
        let made = try tool.run(words + present)
        expect(made)
        #expect(made.errors.contains("a.db: \(isOfDatabase ? "has" : "created, with") a keyring"), "\(made)")
        try tool.write(made.output, to: "sheet.txt")
        for source in ["file:anna.txt", "recovery:file:sheet.txt"] {
            try expect(tool.run("query", "a.db", "SELECT 1", "--unlock", source))
        }
        let list = try tool.run("key", "list", "a.db").output
        #expect(list.contains("passphrase  Anna") && list.contains("2 slots"), "\(list)")
        // Only the keyring's own recovery key is printed.
        let again = try tool.run(words + present)
        expect(again, status: 73, "is not overwritten")
        #expect(again.output.isEmpty, "\(again)")
        try expect(
            tool.run(
                "key", "add", "a.db", "--new-key", "file:anna.txt", "--recovery", "--unlock-file", "anna.txt"),
            status: 64, "one kind of slot")
    }

    @Test("a recovery key is printed once, alone on the standard output, and sets a new passphrase")
    func recovery() throws {
        try make()
        let added = try tool.run(["key", "add", "a.db", "--recovery"] + anna)
        expect(added)
        let match = try #require(
            added.output.wholeMatch(of: /(?<key>([0-9A-Z]{4}-){13}[0-9A-Z]{4})\n/), "\(added)")
        let key = match.key
        #expect(!added.errors.contains(key) && added.errors.contains("is the recovery key of a.db"))
        #expect(added.errors.contains("If it fails, keep the key too"), "\(added)")
        #expect(added.errors.contains("a.db: added 1 slot"), "\(added)")
        try tool.write(key.lowercased().replacing("-", with: " "), to: "sheet.txt")
        #expect(try reads("sheet.txt", type: "recovery"))
        // The form tells the type, with hyphens and with spaces.
        try expect(tool.run("verify", "a.db", "--unlock", "file:sheet.txt"))
        try tool.write(added.output, to: "printed.txt")
        try expect(tool.run("verify", "a.db", "--unlock", "file:printed.txt"))
        try expect(tool.run("verify", "a.db", "--unlock", "passphrase:file:printed.txt"), status: 77)
        try tool.write("correct horse battery\n", to: "new.txt")
        try expect(
            tool.run("key", "recover", "a.db", "--unlock-file", "sheet.txt", "--new-key-file", "new.txt"),
            "a new slot")
        #expect(try reads("new.txt", type: "passphrase"))
        try expect(
            tool.run("key", "recover", "a.db", "--unlock-file", "anna.key", "--new-key-file", "new.txt"),
            status: 77, "not a recovery key")
        try expect(tool.run(["key", "add", "a.db", "--recovery", "--json"] + anna), status: 64)
    }

    @Test(
        "a recovery key that cannot be written changes nothing", arguments: [">/dev/full", ">&-"],
        [
            ["key", "init", "b.db", "--key", "file:a.key"], ["key", "init", "new.db"],
            ["key", "add", "a.db"],
        ])
    func lostRecoveryKey(output: String, command: [String]) throws {
        try make()
        try tool.makeDatabase("b.db")
        let names = tool.directory.fileNames()
        let before = try ["a.db.keys", "b.db"].map { try tool.directory.bytes(of: $0) }
        let slots = command[1] == "add" ? [anna] : [[], ["--new-key", "file:anna.key"]]
        for slot in slots {
            let words = [Tool.program] + command + ["--recovery"] + slot
            let result = try tool.run(["-c", "exec \"$0\" \"$@\" \(output)"] + words, program: "/bin/sh")
            expect(result, status: 74, "The recovery key cannot be written, and nothing was changed")
            #expect(tool.directory.fileNames() == names)
            #expect(try ["a.db.keys", "b.db"].map { try tool.directory.bytes(of: $0) } == before)
        }
    }

    @Test("a warning is printed if a secret goes to a file that others can read", arguments: ["644", "600"])
    func readersOfSecrets(mode: String) throws {
        try make()
        for command in [
            ["key", "add", "a.db", "--recovery"] + anna, ["keygen"], ["keygen", "--words", "6"],
        ] {
            let script = ": >sheet.txt; chmod \(mode) sheet.txt; exec \"$0\" \"$@\" >sheet.txt"
            let result = try tool.run(["-c", script, Tool.program] + command, program: "/bin/sh")
            expect(result)
            // The file has the secret alone.
            #expect(try tool.text(of: "sheet.txt").split(separator: "\n").count == 1)
            #expect(
                result.errors.contains("a file that others can read (mode 644)") == (mode == "644"),
                "\(result)")
        }
    }

    @Test("a recovery key is printed only for a database and a keyring that the given secret opens")
    func recoveryKeyOfWrongSecret() throws {
        try make()
        try tool.makeDatabase("b.db")
        try tool.writeKey("wrong.key", 9)
        for command in [
            ["key", "init", "b.db", "--key", "file:wrong.key", "--recovery"],
            ["key", "add", "a.db", "--unlock", "raw:file:wrong.key", "--recovery"],
        ] {
            let result = try tool.run(command)
            expect(result, status: 77)
            #expect(result.output.isEmpty && !tool.exists("b.db.keys"), "\(result)")
        }
    }

    @Test("a passphrase given instead of a recovery key is distinguished from a mistyped recovery key")
    func noRecoveryKey() throws {
        try make()
        try tool.write("correct horse battery staple\n", to: "passphrase.txt")
        let sheet = try tool.run(["key", "add", "a.db", "--recovery"] + anna).output
        try tool.write(String(sheet.dropFirst()), to: "sheet.txt")
        func recover(_ name: String) throws -> Tool.Result {
            try tool.run("key", "recover", "a.db", "--unlock", "file:\(name)", "--new-key", "file:anna.key")
        }
        let passphrase = try recover("passphrase.txt")
        expect(passphrase, status: 77, "The secret from the key file 'passphrase.txt' is not a recovery key")
        #expect(passphrase.errors.contains("14 groups of four") && !passphrase.errors.contains("horse"))
        #expect(passphrase.errors.contains("'coffer key change' sets a new one"), "\(passphrase)")
        let mistyped = try recover("sheet.txt")
        expect(mistyped, status: 77, "a character is wrong, missing or extra")
        #expect(!mistyped.errors.contains("14 groups"), "\(mistyped)")
        try expect(
            tool.run("query", "a.db", "SELECT 1", "--unlock", "recovery:file:passphrase.txt"), status: 77,
            "is not a recovery key")
    }

    @Test("a passphrase that looks like a recovery key needs its type, both when set and when used")
    func passphraseLikeRecoveryKey() throws {
        try make()
        try tool.write(Array(repeating: "AB12", count: 14).joined(separator: "-") + "\n", to: "groups.txt")
        let before = try tool.directory.bytes(of: "a.db.keys")
        for command in [
            ["key", "add", "a.db"] + anna, ["key", "change", "a.db"] + anna, ["key", "init", "b.db"],
        ] {
            try expect(
                tool.run(command + ["--new-key", "file:groups.txt"]), status: 77,
                "If it is a passphrase, put its type before the source, here and for --unlock: "
                    + "'passphrase:file:groups.txt'")
        }
        #expect(try tool.directory.bytes(of: "a.db.keys") == before && !tool.exists("b.db.keys"))
        // As earlier versions made a slot without a word.
        try expect(tool.run(["key", "add", "a.db", "--new-key", "passphrase:file:groups.txt"] + anna))
        try expect(
            tool.run("verify", "a.db", "--unlock", "file:groups.txt"), status: 77,
            "if it is a passphrase, give 'passphrase:' before its source")
        try expect(tool.run("verify", "a.db", "--unlock", "passphrase:file:groups.txt"))
    }

    @Test("a weak passphrase causes a warning in the commands that give it to a slot, and in no others")
    func weakPassphrases() throws {
        try tool.write("abc\n", to: "weak.txt")
        try tool.write("a strong one for a slot\n", to: "strong.txt")
        func warns(_ arguments: [String]) throws -> Bool {
            let result = try tool.run(arguments)
            expect(result)
            return result.errors.contains("is short or repetitive")
        }
        #expect(try warns(["key", "init", "w.db", "--new-key-file", "weak.txt"]))
        #expect(try !warns(["key", "init", "a.db", "--new-key-file", "strong.txt"]))
        let strong = ["--unlock-file", "strong.txt"]
        #expect(try warns(["key", "add", "a.db", "--new-key-file", "weak.txt"] + strong))
        #expect(try warns(["key", "change", "a.db", "--slot", "2", "--new-key-file", "weak.txt"] + strong))
        // Opening is no occasion.
        #expect(try !warns(["verify", "a.db", "--unlock-file", "weak.txt"]))
        let added = try tool.run(["key", "add", "a.db", "--recovery", "--quiet"] + strong)
        try tool.write(added.output, to: "sheet.txt")
        #expect(
            try warns([
                "key", "recover", "a.db", "--slot", "2", "--unlock-file", "sheet.txt", "--new-key-file",
                "weak.txt",
            ]))
    }

    @Test("a recovery asks for the slot if there are several passphrases, and changes no other")
    func recoveryOfOne() throws {
        for name in ["anna", "ben", "new", "newer"] {
            try tool.write("the long passphrase number \(name)\n", to: "\(name).txt")
        }
        try expect(tool.run("key", "init", "a.db", "--new-key-file", "anna.txt", "--name", "Anna"))
        let anna = ["--unlock-file", "anna.txt"]
        let sheet = try tool.run(["key", "add", "a.db", "--recovery", "--quiet"] + anna).output
        try tool.write(sheet, to: "sheet.txt")
        let recover = [
            "key", "recover", "a.db", "--unlock-file", "sheet.txt", "--new-key-file",
        ]
        // With one passphrase, there is no doubt.
        try expect(tool.run(recover + ["new.txt"]), "slot 1 (Anna) has the new secret")
        let renewed = ["--unlock-file", "new.txt"]
        try expect(tool.run(["key", "add", "a.db", "--new-key-file", "ben.txt", "--name", "Ben"] + renewed))
        let before = try tool.directory.bytes(of: "a.db.keys")
        let refused = try tool.run(recover + ["newer.txt"])
        expect(refused, status: 64, "slot 1 (Anna), slot 3 (Ben)")
        #expect(refused.errors.contains("--slot"))
        try expect(tool.run(recover + ["newer.txt", "--slot", "7"]), status: 64, "no slot 7")
        #expect(try tool.directory.bytes(of: "a.db.keys") == before)
        let done = try tool.run(recover + ["newer.txt", "--slot", "3", "--json"])
        expect(done)
        #expect(try done.objects.contains { $0["slot"] as? Int == 3 && $0["slot_name"] as? String == "Ben" })
        for (name, status) in [("new", 0), ("newer", 0), ("ben", 77)] as [(String, Int32)] {
            try expect(tool.run("key", "list", "a.db", "--unlock-file", "\(name).txt"), status: status)
        }
    }

    @Test("a recipient opens its slot with its identity")
    func recipients() throws {
        let made = try tool.run("keygen", "--recipient", "--out", "office.identity")
        expect(made)
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("office.identity"))[
                .posixPermissions] as? Int
        #expect(mode == 0o600)
        let recipient = try #require(made.output.split(separator: "\n").first)
        #expect(recipient.hasPrefix("coffer-recipient-1-") && !made.description.contains("coffer-identity"))
        try tool.write(made.output, to: "office.pub")
        try make()
        try expect(tool.run(["key", "add", "a.db", "--recipient", "office.pub", "--name", "office"] + anna))
        #expect(try reads("office.identity", type: "identity"))
        try expect(
            tool.run(["key", "add", "a.db", "--recipient", "\(recipient.dropLast())0x"] + anna), status: 64)
        // A mistake that the message must not repeat.
        let identity = try String(decoding: tool.directory.bytes(of: "office.identity"), as: UTF8.self).split(
            separator: "\n")[0]
        let mistaken = try tool.run(["key", "add", "a.db", "--recipient", String(identity)] + anna)
        expect(mistaken, status: 64, "an identity")
        #expect(!mistaken.description.contains(identity.dropFirst(20).prefix(16)))
        try expect(tool.run("key", "init", "b.db", "--recipient", String(recipient)))
        try expect(
            query(
                "CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "office.identity", type: "identity",
                "b.db"))
        #expect(try reads("office.identity", type: "identity", "b.db"))
    }

    @Test("a slot is opened by a program that answers its challenge")
    func programs() throws {
        try make()
        let device = """
            #!/bin/sh
            read _; read word; read _ challenge; read _ token
            if [ $word = make ]; then token=0a0b; fi
            echo "secret $(printf '%s %s' $challenge $token | sha256sum | cut -c1-64)"
            if [ $word = make ]; then echo "token $token"; fi

            """
        try tool.write(device, to: "device", mode: 0o700)
        try expect(
            tool.run(["key", "add", "a.db", "--command", "./device --slot 1", "--name", "TPM"] + anna),
            "slot 2")
        let program = ["--unlock-type", "command", "--unlock-command", "./device --slot 1"]
        try expect(tool.run(["key", "list", "a.db"] + program), "2 slots, verified with slot 2")
        try expect(tool.run(["query", "a.db", "SELECT a FROM t"] + program), "letter")
        try tool.write("#!/bin/sh\nexec sleep 1000\n", to: "device", mode: 0o700)
        try expect(
            tool.run(["key", "list", "a.db", "--key-timeout", "0.3"] + program), status: 69, "0.3 seconds")
        try expect(
            tool.run(["query", "a.db", "SELECT 1", "--unlock-type", "command", "--unlock-file", "anna.key"]),
            status: 64)
        try expect(
            tool.run(["key", "add", "a.db", "--command", "./device", "--recovery"] + anna), status: 64)
    }

    @Test("a key together with an unlock secret is a usage error")
    func usage() throws {
        try make()
        try expect(
            tool.run(["query", "a.db", "SELECT 1", "--key-file", "anna.key"] + anna), status: 64, "not both")
        try expect(tool.run(["key", "list", "a.db", "--unlock"] + anna), status: 64)
        try expect(tool.run("create", "c.db", "--unlock-file", "anna.key"), status: 64)
        #expect(!tool.exists("c.db"))
        try expect(tool.run("key"), status: 64)
    }
}
