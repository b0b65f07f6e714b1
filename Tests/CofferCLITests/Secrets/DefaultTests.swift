import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Defaults from the environment and from the configuration")
struct DefaultTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.directory.path)
        try tool.makeDatabase()
        try tool.makeDatabase("b.db", key: "b.key", 0x43)
    }

    /// Writes a configuration and returns the environment that names it.
    private func configuration(_ members: String, mode: Int = 0o644) throws -> [String: String] {
        try tool.write("{\(members)}", to: "config.json", mode: mode)
        return ["COFFER_CONFIG": tool.directory.path("config.json")]
    }

    private func openedBy(_ result: Tool.Result) throws -> String? {
        try result.objects.compactMap { $0["opened_by"] as? String }.first
    }

    // MARK: The environment

    @Test("the key comes from an option, from the environment or from the configuration, in this order")
    func precedence() throws {
        let file = try configuration(#""key": "file:a.key""#)
        let both = file.merging(["COFFER_KEY": "raw:file:b.key"]) { $1 }
        let path = tool.directory.path
        // Relative paths of the configuration start at its folder, and others at the current one.
        let first = try tool.run("verify", "a.db", "--json", environment: file)
        #expect(first.status == 0, "\(first)")
        #expect(try openedBy(first) == "\(path)/config.json file:\(path)/a.key")
        let second = try tool.run("verify", "b.db", "--json", environment: both)
        #expect(try second.status == 0 && openedBy(second) == "COFFER_KEY raw:file:b.key", "\(second)")
        let third = try tool.run("verify", "a.db", "--json", "--key", "file:a.key", environment: both)
        #expect(try third.status == 0 && openedBy(third) == "--key file:a.key", "\(third)")
        let older = ["--key-file", "a.key", "--key-type", "raw"]
        #expect(try tool.run(["verify", "a.db"] + older, environment: both).status == 0)
        #expect(try tool.run("verify", "a.db", environment: both).status == 77)
    }

    @Test(
        "a variable with another text than a source is refused before the work, and not shown",
        arguments: ["COFFER_KEY", "COFFER_UNLOCK"])
    func badVariables(name: String) throws {
        for (value, words) in [
            ("s3cret", "is not a source"), ("raw:s3cret", "is not a source"), ("file:", "needs a path"),
            ("raw+salt:file:s", name == "COFFER_KEY" ? "" : "no slot"),
        ] where !words.isEmpty {
            let result = try tool.run(
                "create", "new.db", "--key", "file:a.key", "--json", environment: [name: value])
            #expect(result.status == 78 && result.errors.contains("\(name) "), "\(result)")
            #expect(result.errors.contains(words) && !result.description.contains("s3cret"), "\(result)")
            #expect(try Schema.problems(result) == [], "\(result)")
            #expect(!tool.exists("new.db"))
        }
        // An empty variable is none, and commands without keys do not look.
        #expect(try tool.run("verify", "a.db", "--key", "file:a.key", environment: [name: ""]).status == 0)
        #expect(try tool.run("keygen", environment: [name: "s3cret"]).status == 0)
    }

    @Test("a new file gets the default key, and a rotation gets no new key by default")
    func newFiles() throws {
        let environment = ["COFFER_KEY": "file:b.key"]
        #expect(try tool.run("create", "new.db", environment: environment).status == 0)
        #expect(try tool.shell("new.db", 0x43).run("SELECT count(*) FROM sqlite_schema;") == ["0"])
        let same = try tool.run("rotate", "b.db", "--new-key", "file:b.key", environment: environment)
        #expect(same.status == 64 && same.errors.contains("The new key is the current one"), "\(same)")
        let rotated = try tool.run("rotate", "b.db", "--new-key", "file:a.key", environment: environment)
        #expect(rotated.status == 0, "\(rotated)")
    }

    @Test("with defaults for a key and for keyrings, files of both kinds are opened in one run")
    func keysAndKeyrings() throws {
        try tool.writeKey("anna.key", 1)
        #expect(try tool.run("key", "init", "k.db", "--new-key", "file:anna.key").status == 0)
        let environment = ["COFFER_KEY": "file:a.key", "COFFER_UNLOCK": "file:anna.key"]
        let result = try tool.run("verify", "a.db", "k.db", "--json", environment: environment)
        #expect(result.status == 0, "\(result)")
        #expect(
            try result.objects.compactMap { $0["opened_by"] as? String } == [
                "COFFER_KEY file:a.key", "COFFER_UNLOCK file:anna.key",
            ])
        try tool.write("a.db\nk.db\nb.db\n", to: "list")
        let batch = try tool.run("batch", "verify", "--manifest", "list", environment: environment)
        #expect(batch.status == 3 && batch.errors.contains("None of the 2 keys"), "\(batch)")
        #expect(try tool.run("key", "list", "k.db", environment: environment).status == 0)
        #expect(try tool.run("key", "add", "k.db", "--recovery", environment: environment).status == 0)
        // The keyring would keep the old key.
        for unlock in [environment, ["COFFER_UNLOCK": "file:anna.key"]] {
            let rotation = try tool.run("rotate", "k.db", "--new-key", "file:b.key", environment: unlock)
            #expect(rotation.status == 64 && rotation.errors.contains("coffer key rotate"), "\(rotation)")
        }
        #expect(try tool.run("verify", "k.db", "--unlock", "file:anna.key").status == 0)
    }

    @Test("info needs no key, so it uses no default")
    func info() throws {
        let environment = ["COFFER_KEY": "file:a.key"]
        try tool.write("a.db\nb.db\n", to: "list")
        for arguments in [["info", "a.db", "b.db"], ["batch", "info", "--manifest", "list"]] {
            let result = try tool.run(arguments, environment: environment)
            #expect(result.status == 0 && !result.output.contains("opened"), "\(result)")
        }
    }

    // MARK: The configuration

    @Test("the configuration is found in the home folder")
    func places() throws {
        let folder = try tool.directory.makeFolder("home/.config/coffer")
        for name in ["home", "home/.config", "home/.config/coffer"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: tool.directory.path(name))
        }
        try tool.write(
            #"{"key": "file:\#(tool.directory.path("a.key"))"}"#, to: "home/.config/coffer/config.json")
        let arguments = ["-u", "COFFER_CONFIG", Tool.program, "verify", "a.db", "--json"]
        let result = try tool.run(
            arguments, program: "/usr/bin/env", environment: ["HOME": tool.directory.path("home")])
        #expect(result.status == 0, "\(result)")
        #expect(try openedBy(result)?.hasPrefix("\(folder)/config.json ") == true, "\(result)")
    }

    @Test(
        "a configuration that is wrong is refused with its name and the member, before the work",
        arguments: [
            (#""pasword": "file:a.key""#, "'pasword' is unknown"), (#""key": 7"#, "'key' is not a string"),
            (#""key": ["file:a.key"]"#, "'key' is not a string"),
            (#""key": "s3cret""#, "'key' is not a source"), (#""key": """#, "'key' is empty"),
            (#""key": "file:""#, "'key' cannot be used: 'file:' needs a path"),
            (#""key": "identity:file:a""#, "'key' cannot be used"),
            (#""unlock": "hunter2 s3cret""#, "'unlock' is not a source"),
            (#""keep": "s""#, "'keep' takes numbers"), (#""keep": 7"#, "'keep' is not a string"),
            (#""key": "file:a.key", "key": "file:b.key""#, "repeats a member"), ("[", "not a JSON object"),
            (#""audit": true"#, "'audit' is not a string"),
            (#""audit-key": "s3cret""#, "'audit-key' is not a source"),
            (#""audit-key": "raw:file:a.key""#, "'audit-key' cannot be used"),
            (#""audit-log": "log""#, "'audit-log' is unknown; there are audit, audit-key,"),
            (#""metrics": "\u0000""#, "'metrics' is empty or contains a NUL byte"),
        ])
    func badConfigurations(members: String, words: String) throws {
        let environment = try configuration(members)
        // The environment replaces the key, but does not hide the mistake.
        for key in [[:], ["COFFER_KEY": "file:a.key", "COFFER_UNLOCK": "file:a.key"]] {
            let result = try tool.run(
                "create", "new.db", "--key", "file:a.key", "--json",
                environment: environment.merging(key) { $1 })
            #expect(result.status == 78, "\(result)")
            #expect(result.errors.contains("config.json'") && result.errors.contains(words), "\(result)")
            #expect(!result.description.contains("s3cret"))
            #expect(try Schema.problems(result) == [], "\(result)")
            #expect(!tool.exists("new.db"))
        }
        let doctor = try tool.run("doctor", environment: environment)
        #expect(doctor.status == 1 && doctor.output.contains(words), "\(doctor)")
        #expect(!doctor.description.contains("s3cret"))
    }

    @Test("the path of a configuration may have links of this user, to folders anywhere")
    func linkedFolders() throws {
        _ = try configuration(#""key": "file:\#(tool.directory.path("a.key"))""#)
        for name in ["links", "links/more"] { _ = try tool.directory.makeFolder(name) }
        for (name, target) in [
            ("links/up", ".."), ("links/more/up", "../up"), ("links/far", tool.directory.path),
            ("to", "links/far/"),
        ] {
            #expect(unsafe symlink(target, tool.directory.path(name)) == 0)
        }
        #expect(unsafe symlink("loop", tool.directory.path("loop")) == 0)
        for folder in [
            "", "./", "links/..", "links/up//", "links/more/up/to/", "to",
            tool.directory.path("to/links/more/up"),
        ] {
            let path = folder.isEmpty ? "config.json" : "\(folder)/config.json"
            let result = try tool.run("verify", "a.db", environment: ["COFFER_CONFIG": path])
            #expect(result.status == 0, "\(path): \(result)")
        }
        for folder in ["loop", "none", "a.key", "to/none", "to/\u{301}"] {
            let path = "\(folder)/config.json"
            let result = try tool.run("verify", "a.db", environment: ["COFFER_CONFIG": path])
            #expect(result.status == 78 && result.errors.contains("cannot be read"), "\(path): \(result)")
        }
    }

    @Test(
        "a configuration that others could change, or that is not a file, is refused",
        arguments: [
            "writable", "folder", "link", "pipe", "directory", "large", "missing", "owner", "linked folder",
        ])
    func unsafeConfigurations(kind: String) throws {
        var environment = try configuration(#""key": "file:a.key""#, mode: kind == "writable" ? 0o664 : 0o644)
        let path = tool.directory.path("config.json")
        switch kind {
        case "folder":
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o770], ofItemAtPath: tool.directory.path)
        case "link":
            try FileManager.default.moveItem(atPath: path, toPath: tool.directory.path("other"))
            #expect(unsafe symlink("other", path) == 0)
        case "pipe": #expect(unsafe unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        case "directory": environment["COFFER_CONFIG"] = tool.directory.path
        case "large": try tool.write(String(repeating: " ", count: 70_000), to: "config.json")
        case "missing": environment["COFFER_CONFIG"] = tool.directory.path("none.json")
        case "owner":
            guard geteuid() == 0 else { try Test.cancel("needs root") }
            #expect(unsafe chown(path, 65534, 65534) == 0)
        case "linked folder":
            guard geteuid() == 0 else { try Test.cancel("needs root") }
            let link = tool.directory.path("linked")
            #expect(unsafe symlink(".", link) == 0 && lchown(link, 65534, 65534) == 0)
            environment["COFFER_CONFIG"] = tool.directory.path("linked/config.json")
        default: break
        }
        let result = try tool.run("verify", "a.db", environment: environment)
        #expect(result.status == 78 && result.errors.contains("The configuration '"), "\(result)")
        let hint = [
            "writable": "go-w", "folder": "its folder", "link": "symbolic link", "large": "65,536",
            "owner": "another user", "linked folder": "symbolic link of another user",
        ]
        #expect(result.errors.contains(hint[kind] ?? "it "), "\(result)")
    }

    @Test("a program path in the configuration is relative to its folder, not to the current one")
    func programs() throws {
        let folder = try tool.directory.makeFolder("conf")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        try tool.write("#!/bin/sh\ncat a.key\n", to: "conf/give", mode: 0o700)
        try tool.write("#!/bin/sh\ntouch stolen\n", to: "give", mode: 0o700)
        for (member, status) in [("key", Int32(0)), ("unlock", 66)] {
            try tool.write(#"{"\#(member)": "raw:command:./give now"}"#, to: "conf/config.json")
            let result = try tool.run(
                "verify", "a.db", environment: ["COFFER_CONFIG": folder + "/config.json"])
            #expect(result.status == status && !tool.exists("stolen"), "\(result)")
        }
        // A variable is about the current folder, and a name without a slash about the search path.
        let other = try tool.run("verify", "a.db", environment: ["COFFER_KEY": "raw:command:./give"])
        #expect(other.status == 77 && tool.exists("stolen"), "\(other)")
        try tool.write(#"{"key": "raw:command:cat a.key"}"#, to: "conf/config.json")
        let named = try tool.run("verify", "a.db", environment: ["COFFER_CONFIG": folder + "/config.json"])
        #expect(named.status == 0, "\(named)")
    }

    @Test(
        "a program that others could change is not run for a configuration",
        arguments: [
            "writable", "folder", "folder above", "folder of a link", "linked link", "folder before ..",
            "link", "owner",
        ])
    func unsafePrograms(kind: String) throws {
        for folder in ["conf", "all", "all/bin", "shared"] {
            let path = try tool.directory.makeFolder(folder)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        }
        try tool.write("#!/bin/sh\ntouch run\ncat a.key\n", to: "all/bin/give", mode: 0o700)
        let program = tool.directory.path("all/bin/give")
        let link = tool.directory.path("conf/give")
        #expect(unsafe symlink("../all/bin/give", link) == 0)
        #expect(unsafe symlink("../all/bin", tool.directory.path("shared/bin")) == 0)
        #expect(unsafe symlink("../shared/middle", tool.directory.path("conf/chain")) == 0)
        #expect(unsafe symlink("../all/bin/give", tool.directory.path("shared/middle")) == 0)
        let given = [
            "folder of a link": "../shared/bin/give", "folder before ..": "../shared/../conf/give",
            "linked link": "./chain",
        ]
        try tool.write(#"{"key": "raw:command:\#(given[kind] ?? "./give")"}"#, to: "conf/config.json")
        let environment = ["COFFER_CONFIG": tool.directory.path("conf/config.json")]
        #expect(try tool.run("verify", "a.db", environment: environment).status == 0)
        try FileManager.default.removeItem(atPath: tool.directory.path("run"))
        switch kind {
        case "writable": #expect(unsafe chmod(program, 0o777) == 0)
        case "folder": #expect(unsafe chmod(tool.directory.path("all/bin"), 0o777) == 0)
        case "folder of a link", "folder before ..", "linked link":
            #expect(unsafe chmod(tool.directory.path("shared"), 0o777) == 0)
        case "folder above": #expect(unsafe chmod(tool.directory.path("all"), 0o777) == 0)
        case "link":
            guard geteuid() == 0 else { try Test.cancel("needs root") }
            #expect(unsafe lchown(link, 65534, 65534) == 0)
        default:
            guard geteuid() == 0 else { try Test.cancel("needs root") }
            #expect(unsafe chown(program, 65534, 65534) == 0)
        }
        let result = try tool.run("verify", "a.db", environment: environment)
        #expect(result.status == 78 && !tool.exists("run"), "\(result)")
        let name = ["folder above": "/all'", "linked link": "chain'"]
        #expect(result.errors.contains(name[kind] ?? "give'"), "\(result)")
    }

    @Test(
        "a missing program in a folder that others can write to is refused as unsafe",
        arguments: [0o1777, 0o755])
    func missingPrograms(mode: mode_t) throws {
        let shared = try tool.directory.makeFolder("shared")
        #expect(unsafe chmod(shared, mode) == 0)
        let folder = try tool.directory.makeFolder("conf")
        #expect(unsafe chmod(folder, 0o700) == 0)
        try tool.write(#"{"key": "raw:command:../shared/bin/give"}"#, to: "conf/config.json")
        let environment = ["COFFER_CONFIG": tool.directory.path("conf/config.json")]
        let result = try tool.run("verify", "a.db", environment: environment)
        #expect(result.errors.contains("can put another file") == (mode == 0o1777), "\(result)")
    }

    @Test(
        "a log or metrics are not written to a folder that another user has chosen",
        .enabled(if: geteuid() == 0, "needs root"), arguments: ["audit", "metrics"])
    func linkedFolders(member: String) throws {
        let folder = try tool.directory.makeFolder("folder")
        let link = tool.directory.path("linked")
        #expect(unsafe symlink("folder", link) == 0 && lchown(link, 65534, 65534) == 0)
        let environment = try configuration(#""key": "file:a.key", "\#(member)": "linked/file""#)
        let result = try tool.run("verify", "a.db", environment: environment)
        #expect(result.status == 78 && result.errors.contains("path of '\(member)'"), "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(unsafe lchown(link, 0, 0) == 0)
        #expect(try tool.run("verify", "a.db", environment: environment).status == 0)
    }

    @Test("a log, metrics and the retention of backups come from the configuration if no option is given")
    func otherMembers() throws {
        let environment = try configuration(
            #""key": "file:a.key", "audit": "log", "metrics": "c.prom", "keep": "1d""#)
        #expect(try tool.run("verify", "a.db", environment: environment).status == 0)
        #expect(try tool.text(of: "log").contains("verify"))
        #expect(try tool.text(of: "c.prom").contains("a.db"))
        #expect(try tool.run("verify", "a.db", "--audit-required", environment: environment).status == 0)
        let given = ["--audit", "other", "--metrics", "d.prom"]
        #expect(try tool.run(["verify", "a.db"] + given, environment: environment).status == 0)
        #expect(tool.exists("other") && tool.exists("d.prom"))
        // Only the newest backup of the day stays.
        let folder = try tool.directory.makeFolder("backups")
        for _ in 0..<2 {
            let result = try tool.run("backup", "a.db", "--into", folder, environment: environment)
            #expect(result.status == 0, "\(result)")
        }
        #expect(tool.directory.fileNames().count { $0.hasSuffix(".backup") } == 1)
        // A list of backups is not one.
        let metrics = try tool.text(of: "c.prom")
        let list = try tool.run("backup", "--list", folder, environment: environment)
        #expect(list.status == 0 && list.output.contains("a.db"), "\(list)")
        #expect(try tool.text(of: "c.prom") == metrics)
        // A single copy has no retention.
        #expect(try tool.run("backup", "a.db", "copy.db", environment: environment).status == 0)
    }

    @Test("the secret of audit logs comes from the configuration if no option is given")
    func auditKey() throws {
        try tool.write(String(repeating: "5a", count: 32) + "\n", to: "audit.key")
        try tool.write(String(repeating: "5b", count: 32) + "\n", to: "other.key")
        let environment = try configuration(
            #""key": "file:a.key", "audit": "log", "audit-key": "file:audit.key""#)
        let required = try tool.run("verify", "a.db", "--audit-required", environment: environment)
        #expect(required.status == 0, "\(required)")
        // The chain needs the secret, and has no weakness to warn of.
        #expect(try tool.run("audit", "verify", "log").status == 77)
        #expect(try tool.run("audit", "verify", "log", "--audit-key", "file:audit.key").status == 0)
        let checked = try tool.run("audit", "verify", "log", environment: environment)
        #expect(checked.status == 0 && !checked.output.contains("without a secret"), "\(checked)")
        let json = try tool.run("audit", "verify", "log", "--json", environment: environment)
        #expect(try json.objects.contains { $0["keyed"] as? Bool == true }, "\(json)")
        let lines = try tool.text(of: "log").split(separator: "\n").count
        #expect(lines > 0)
        // An option comes first, and so does its log.
        let other = ["--audit-required", "--audit-key", "file:other.key"]
        #expect(try tool.run(["verify", "a.db"] + other, environment: environment).status == 77)
        let own = try tool.run(["verify", "a.db", "--audit", "own"] + other, environment: environment)
        #expect(own.status == 0, "\(own)")
        #expect(try tool.run("audit", "verify", "own", "--audit-key", "file:other.key").status == 0)
        // A log that an option names is chained with the default secret too.
        let named = try tool.run("verify", "a.db", "--audit", "named", environment: environment)
        #expect(named.status == 0 && named.errors.isEmpty, "\(named)")
        #expect(try tool.run("audit", "verify", "named", "--audit-key", "file:audit.key").status == 0)
        #expect(try tool.text(of: "log").split(separator: "\n").count == lines)
        // Without a log, the secret is not read.
        let silent = try configuration(#""key": "file:a.key", "audit-key": "file:none.key""#)
        #expect(try tool.run("verify", "a.db", environment: silent).status == 0)
        #expect(try tool.run("audit", "verify", "log", environment: silent).status == 66)
    }

    @Test("the doctor shows the place of each default, and no argument of a command")
    func doctor() throws {
        let environment = try configuration(
            #""key": "file:a.key", "unlock": "command:pass show s3cret", "keep": "7d", "audit-key": "fd:9""#
        ).merging(["COFFER_KEY": "raw:file:b.key"]) { $1 }
        let result = try tool.run("doctor", environment: environment)
        let file = tool.directory.path("config.json")
        for line in [
            "default key: raw:file:b.key, from COFFER_KEY\n",
            "default unlock: command:pass, from \(file)\n", "default keep: 7d, from \(file)\n",
            "default audit-key: fd:9, from \(file)\n",
        ] { #expect(result.output.contains(line), "\(result)") }
        #expect(!result.description.contains("s3cret"))
        #expect(try Schema.problems(tool.run("doctor", "--json", environment: environment)) == [])
        #expect(try tool.run("doctor").output.contains("defaults: none"))
    }
}
