import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The README's chapter for operators, and the article on production")
struct ReadmeTests {
    /// A command line in a text, and its expected output.
    struct Example {
        let command: String
        var output: [String] = []
    }

    /// The texts with examples. The examples of each text are run in order, in a separate folder.
    enum Text: CaseIterable, Sendable {
        case readme, article, keys, moving

        var content: String {
            var folder = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { folder.deleteLastPathComponent() }
            func read(_ path: String) -> String {
                (try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)) ?? ""
            }
            return switch self {
            case .readme:
                read("README.md").components(separatedBy: "\n## ").first { $0.hasPrefix("For operators") }
                    ?? ""
            case .article: read("Sources/Coffer/Coffer.docc/Production.md")
            case .keys: read("Sources/Coffer/Coffer.docc/KeysInPractice.md")
            case .moving: read("Sources/Coffer/Coffer.docc/MovingFromGRDB.md")
            }
        }

        /// The minimum number of commands.
        var commandCount: Int {
            switch self {
            case .readme: 5
            case .article: 18
            case .keys: 6
            case .moving: 4
            }
        }

        /// The languages of the code blocks. Scripts/check-docs compares the Swift blocks with tests.
        var languages: Set<String> {
            switch self {
            case .readme: ["sh", "console"]
            case .article: ["console", "ini"]
            case .keys: ["swift", "console"]
            case .moving: ["swift", "sh", "console"]
            }
        }
    }

    private static let article = Text.article.content

    private static func examples(_ text: Text) -> [Example] {
        var examples: [Example] = []
        var isInside = false
        var indent = ""
        for line in text.content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            // Code blocks in lists are indented.
            if line.hasSuffix("```console") { indent = String(line.prefix { $0 == " " }) }
            let line = line.hasPrefix(indent) ? String(line.dropFirst(indent.count)) : line
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                examples.append(Example(command: String(line.dropFirst(2))))
            } else if isInside, !examples.isEmpty {
                examples[examples.count - 1].output.append(line)
            }
        }
        return examples
    }

    /// Returns true if the lines match the expected ones. "…" matches any text, and any lines if it is alone
    /// on a line.
    private func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "…" {
            return (lines.startIndex...lines.endIndex).contains {
                matches(lines[$0...], expected.dropFirst())
            }
        }
        guard let line = lines.first, matches(line, first.components(separatedBy: "…")) else { return false }
        return matches(lines.dropFirst(), expected.dropFirst())
    }

    private func matches(_ line: String, _ parts: [String]) -> Bool {
        guard parts.count > 1 else { return line == parts[0] }
        guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst() where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    @Test("each command does and prints what the text says", arguments: Text.allCases)
    func examples(_ text: Text) throws {
        let tool = try Tool()
        let examples = Self.examples(text)
        #expect(examples.count >= text.commandCount)
        for example in examples {
            if example.command.hasPrefix("cat ") {
                // The reader creates the file with this text.
                try tool.write(
                    example.output.joined(separator: "\n") + "\n", to: String(example.command.dropFirst(4)))
                continue
            }
            let folder = URL(fileURLWithPath: Tool.program).deletingLastPathComponent().path
            let path = folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
            let result = try tool.run(
                ["-c", "exec 2>&1; \(example.command)"], program: "/bin/sh", environment: ["PATH": path])
            #expect(result.status == 0, "\(example.command)\n\(result)")
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(matches(lines[...], example.output[...]), "\(example.command)\n\(result.output)")
        }
        guard text == .article else { return }
        let shell = try tool.shellWithKeyFile("third.key", "app.db")
        #expect(try shell.run("SELECT text FROM note;") == ["milk", "bread"])
    }

    @Test("no command is left out of these tests", arguments: Text.allCases)
    func nothingLeftOut(_ text: Text) throws {
        // Consoles are run above, units and the renaming below. The installation and the mirror have their
        // own tests.
        let kinds = text.content.split(separator: "\n").filter { $0.contains("```") && !$0.hasSuffix("```") }
            .map { $0.replacing(" ", with: "").dropFirst(3) }
        #expect(Set(kinds.map(String.init)) == text.languages)
        let count = text == .keys ? 0 : text == .moving ? 2 : 1
        #expect(kinds.filter { $0 == "sh" || $0 == "ini" }.count == count)
        // The prose contains only names of commands and options, and the crontab line.
        let tool = try Tool()
        for span in text.content.matches(of: /`(coffer [^`]*)`/).map({ String($0.output.1) }) {
            let words = span.split(separator: " ").dropFirst().map(String.init)
            let help = try tool.run(words.filter { $0 != "--help" } + ["--help"])
            #expect(words.allSatisfy { !$0.hasPrefix("-") || $0 == "--help" } && help.status == 0, "\(span)")
        }
    }

    @Test("the line that renames the module in all files of a package does so, and leaves other names alone")
    func renaming() throws {
        let tool = try Tool()
        _ = try tool.directory.makeFolder("Sources/App")
        _ = try tool.directory.makeFolder("Tests")
        try tool.write("import GRDB\nlet db: GRDB.Database\nlet a = MyGRDB.b\n", to: "Sources/App/App.swift")
        try tool.write("@testable import App\nimport GRDB\nimport GRDBSQLite\n", to: "Tests/AppTests.swift")
        let blocks = Text.moving.content.components(separatedBy: "```sh\n").dropFirst()
        let block = try #require(blocks.last?.components(separatedBy: "```").first)
        let result = try tool.run(["-c", block], program: "/bin/sh")
        #expect(result.status == 0, "\(result)")
        #expect(
            try tool.text(of: "Sources/App/App.swift")
                == "import Coffer\nlet db: Coffer.Database\nlet a = MyGRDB.b\n")
        #expect(
            try tool.text(of: "Tests/AppTests.swift")
                == "@testable import App\nimport Coffer\nimport GRDBSQLite\n")
    }

    // MARK: Nightly

    /// Makes a database and its key at the paths that the article uses, below the test directory.
    private func makeService() throws -> Tool {
        let tool = try Tool()
        _ = try tool.directory.makeFolder("srv/app")
        _ = try tool.directory.makeFolder("etc/coffer")
        try tool.makeDatabase("srv/app/a b.db", key: "etc/coffer/app.key")
        return tool
    }

    /// Checks that a command prints nothing for an intact file and reports a damaged one.
    private func expectVerifies(_ tool: Tool, _ run: () throws -> Tool.Result) throws {
        let good = try run()
        #expect(good.status == 0 && good.output.isEmpty && good.errors.isEmpty, "\(good)")
        var bytes = try tool.directory.bytes(of: "srv/app/a b.db")
        bytes[5000] ^= 1
        try tool.directory.write(bytes, to: "srv/app/a b.db")
        let bad = try run()
        #expect(bad.status == 3)
        #expect(bad.output.contains("a b.db: DAMAGED"))
    }

    private func units() throws -> [String: String] {
        let block = try #require(
            Self.article.components(separatedBy: "```ini\n").dropFirst().first?.components(separatedBy: "```")
                .first)
        var units: [String: String] = [:]
        for part in block.components(separatedBy: "# /etc/systemd/system/").dropFirst() {
            let lines = part.split(separator: "\n", maxSplits: 1)
            units[String(lines[0])] = String(lines[1])
        }
        return units
    }

    @Test(
        "systemd-analyze accepts the units",
        .enabled(if: ChildProcess.find("systemd-analyze") != nil, "there is no systemd-analyze here"))
    func unitsAreGood() throws {
        let tool = try Tool()
        let units = try units()
        #expect(Set(units.keys) == ["coffer-verify.service", "coffer-verify.timer"])
        for (name, text) in units { try tool.write(text, to: name, mode: 0o644) }
        let result = try tool.run(
            ["verify", "--man=no"] + units.keys.sorted().map { "./\($0)" },
            program: try #require(ChildProcess.find("systemd-analyze")))
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    }

    @Test("the command of the service verifies the databases it finds, with the credential")
    func service() throws {
        let tool = try makeService()
        let service = try #require(try units()["coffer-verify.service"])
        #expect(service.contains("LoadCredential=app.key:/etc/coffer/app.key\n"))
        let line = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
            .dropFirst("ExecStart=".count)
        let command = String(line).replacing("/srv", with: tool.directory.path("srv"))
        let folder = URL(fileURLWithPath: Tool.program).deletingLastPathComponent().path
        try expectVerifies(tool) {
            try tool.run(
                [
                    "-i", "PATH=\(folder):/usr/bin:/bin",
                    "CREDENTIALS_DIRECTORY=\(tool.directory.path("etc/coffer"))", "/bin/sh", "-c",
                    command,
                ],
                program: "/usr/bin/env")
        }
    }

    @Test("the crontab line verifies the databases it finds, in cron's minimal environment")
    func cron() throws {
        let tool = try makeService()
        // In Markdown, a line break is a space, even within code.
        let span = try #require(Self.article.firstMatch(of: /With cron: `([^`]*)`/)?.output.1)
        let line = span.replacing("\n", with: " ")
        // Cron ends the command at a percent sign.
        #expect(line.hasPrefix("0 3 * * * ") && !line.contains("%"))
        let command = String(line.dropFirst("0 3 * * * ".count)).replacing(
            "/srv", with: tool.directory.path("srv")
        )
        .replacing("/etc/coffer", with: tool.directory.path("etc/coffer")).replacing(
            "/usr/local/bin/coffer", with: Tool.program)
        try expectVerifies(tool) {
            try tool.run(
                ["-i", "PATH=/usr/bin:/bin", "HOME=/", "/bin/sh", "-c", command], program: "/usr/bin/env")
        }
    }

    @Test("the table of exit codes is the tool's own")
    func exitCodes() {
        for status in ToolStatus.allCases {
            #expect(Self.article.contains("| \(status.rawValue) | \(status.meaning) |\n"), "\(status)")
        }
    }
}

extension Tool {
    /// Returns the stock shell, with a raw key that the tool has generated.
    fileprivate func shellWithKeyFile(_ key: String, _ name: String) throws -> SQLCipherShell {
        let digits = Array(try text(of: key).utf8.prefix(64))
        let bytes = stride(from: 0, to: 64, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return SQLCipherShell(path: directory.path(name), rawKey: bytes)
    }
}
