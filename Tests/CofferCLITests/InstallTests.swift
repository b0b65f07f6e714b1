import CofferTestSupport
import Foundation
import Testing

@Suite("Installing")
struct InstallTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
    }

    private static let repository: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder
    }()

    private func install(_ arguments: String..., environment: [String: String] = [:]) throws -> Tool.Result {
        let folder = try tool.directory.makeFolder("tmp")
        return try tool.run(
            arguments, program: Self.repository.appendingPathComponent("Scripts/install").path,
            environment: ["TMPDIR": folder].merging(environment) { $1 })
    }

    private static let commands =
        [""]
        + [
            "audit", "audit-find-key", "audit-verify", "backup", "batch", "batch-backup", "batch-decrypt",
            "batch-encrypt", "batch-info",
            "batch-query", "batch-rotate", "batch-status", "batch-upgrade", "batch-vacuum", "batch-verify",
            "create", "decrypt", "diff",
            "doctor", "dump", "encrypt", "erase", "health", "import", "info", "key", "key-add", "key-change",
            "key-destroy",
            "key-export-header",
            "key-init", "key-list", "key-recover", "key-remove", "key-restore-header", "key-rotate", "keygen",
            "load", "query", "recover",
            "restore",
            "rotate", "schema", "shell", "upgrade", "vacuum",
            "verify",
        ].map { "-\($0)" }

    /// Checks the installed files, regardless of how the program was built.
    private func expectInstalled(below prefix: String, _ result: Tool.Result) throws {
        #expect(result.status == 0, "\(result)")
        let expected =
            [
                "bin/coffer", "share/bash-completion/completions/coffer",
                "share/fish/vendor_completions.d/coffer.fish",
            ]
            + Self.commands.map { "share/man/man1/coffer\($0).1" } + ["share/zsh/site-functions/_coffer"]
        let names = tool.directory.fileNames().filter { $0.hasPrefix(prefix + "/") }.map {
            String($0.dropFirst(prefix.count + 1))
        }
        #expect(Set(names) == Set(expected))
        for name in names {
            let mode =
                try FileManager.default.attributesOfItem(atPath: tool.directory.path("\(prefix)/\(name)"))[
                    .posixPermissions] as? Int
            #expect(mode == (name == "bin/coffer" ? 0o755 : 0o644), "\(name)")
        }
        let program = tool.directory.path("\(prefix)/bin/coffer")
        #expect(try tool.run(["--version"], program: program).output.contains("SQLCipher "))
        if let man = ChildProcess.find("man") {
            // By name, as a reader of the README looks it up.
            let path = [
                "MANPATH": tool.directory.path("\(prefix)/share/man"), "MANWIDTH": "80", "LC_ALL": "C.UTF-8",
                "MANROFFSEQ": "",
            ]
            for page in ["coffer", "coffer-batch-rotate"] {
                let result = try tool.run(["--warnings", "-P", "cat", page], program: man, environment: path)
                #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
                #expect(result.output.contains("SYNOPSIS") && result.output.contains("--json"))
            }
        }
        for (shell, name) in [
            ("bash", "bash-completion/completions/coffer"), ("zsh", "zsh/site-functions/_coffer"),
            ("fish", "fish/vendor_completions.d/coffer.fish"),
        ] {
            guard let program = ChildProcess.find(shell) else { continue }
            let result = try tool.run(["-n", "\(prefix)/share/\(name)"], program: program)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        }
    }

    @Test("a program goes to its place, stripped, with man pages and completions that work")
    func placing() throws {
        let result = try install("--binary", Tool.program, "--prefix", "usr")
        try expectInstalled(below: "usr", result)
        #expect(
            try tool.directory.bytes(of: "usr/bin/coffer").count
                < Data(contentsOf: URL(fileURLWithPath: Tool.program)).count)
        #expect(tool.directory.fileNames().allSatisfy { $0.hasPrefix("usr/") })
        // For packagers.
        #expect(
            try install(
                "--binary", Tool.program, "--prefix=/opt",
                environment: ["DESTDIR": tool.directory.path("stage")]
            ).status == 0)
        #expect(tool.exists("stage/opt/bin/coffer"))
    }

    @Test(
        "bash completes commands, options and values",
        .enabled(if: ChildProcess.find("bash") != nil, "there is no bash here"))
    func completing() throws {
        try tool.write(try tool.run("--generate-completion-script", "bash").output, to: "completions")
        try tool.write(
            """
            source ./completions
            function="$(complete -p coffer | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
            COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            "$function" coffer "${@: -1}" "${@: -2:1}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """, to: "try")
        func completions(_ words: String...) throws -> Set<String> {
            let bash = try #require(ChildProcess.find("bash"))
            return Set(
                try tool.run(["try"] + words, program: bash).output.split(separator: "\n").map {
                    $0.filter { $0 != " " }
                })
        }
        #expect(try completions("coffer", "ba") == ["backup", "batch"])
        #expect(try completions("coffer", "rotate", "--new-k") == ["--new-key"])
        #expect(try completions("coffer", "query", "a.db", "x", "--format", "c") == ["csv"])
    }

    @Test("a wrong call of the installer changes nothing")
    func refusals() throws {
        #expect(try install("--prefix").status == 1)
        #expect(try install("usr").errors.contains("unknown argument 'usr'"))
        #expect(try install("--binary", "none", "--prefix", "usr").status == 1)
        try tool.write("#!/bin/sh\nexit 3\n", to: "broken", mode: 0o755)
        #expect(try install("--binary", "broken", "--prefix", "usr").status == 1)
        #expect(!tool.exists("usr"))
    }

    @Test("the installation commands in the README are those that the tests cover")
    func readme() throws {
        let text = try String(
            contentsOf: Self.repository.appendingPathComponent("README.md"), encoding: .utf8)
        let chapter = try #require(
            text.components(separatedBy: "\n## ").first { $0.hasPrefix("For operators") })
        let block = try #require(
            chapter.components(separatedBy: "```sh\n").dropFirst().first?.components(separatedBy: "```").first
        )
        let commands = block.split(separator: "\n").flatMap { $0.components(separatedBy: "#") }
            .map { $0.trimmingCharacters(in: .whitespaces).replacing(#/^(or|and): /#, with: "") }
        // The first three are tested above, because a build takes minutes.
        #expect(
            commands == [
                "Scripts/install", "Scripts/install --prefix ~/.local", "man coffer", "coffer rotate --help",
            ])
        #expect(try tool.run("rotate", "--help").status == 0)
    }

    @Test(
        "a release build needs no library of Swift",
        .enabled(if: Nightly.isOn, "takes minutes: COFFER_NIGHTLY=1"))
    func releaseBuild() throws {
        let script = Self.repository.appendingPathComponent("Scripts/install").path
        let result = try ChildProcess.run(script, ["--prefix", tool.directory.path("usr")])
        #expect(result.status == 0, "\(result.errorText)")
        try expectInstalled(
            below: "usr",
            Tool.Result(status: result.status, output: result.outputText, errors: result.errorText))
        let libraries = try ChildProcess.run("ldd", [tool.directory.path("usr/bin/coffer")]).outputText
        #expect(libraries.contains("libc.so"))
        for name in [
            "libswift", "libFoundation", "libsqlcipher", "libcrypto", "lib_", "libdispatch", "not found",
        ] {
            #expect(!libraries.contains(name), "\(libraries)")
        }
        // Fail points exist only in debug builds.
        let point = try tool.run(
            ["--version"], program: tool.directory.path("usr/bin/coffer"),
            environment: ["COFFER_FAIL_POINT": "tool"])
        #expect(point.status == 0)
    }
}
