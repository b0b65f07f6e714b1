import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The README's chapter for operators")
struct ReadmeTests {
    /// A command line of the README, and what it prints.
    struct Example {
        let command: String
        var output: [String] = []
    }

    private static let text: String = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return (try? String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)) ?? ""
    }()

    private static func examples() -> [Example] {
        var examples: [Example] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
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

    /// Whether lines are as expected, where "…" stands for any text, and alone on a line for any lines.
    private func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "…" {
            return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], expected.dropFirst()) }
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

    @Test("each command does and prints what the README says")
    func examples() throws {
        let tool = try Tool()
        let examples = Self.examples()
        #expect(examples.count >= 12)
        for example in examples {
            if example.command.hasPrefix("cat ") {
                // The text of a file is the reader's to write.
                try tool.write(example.output.joined(separator: "\n") + "\n", to: String(example.command.dropFirst(4)))
                continue
            }
            let folder = URL(fileURLWithPath: Tool.program).deletingLastPathComponent().path
            let path = folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
            let result = try tool.run(["-c", "exec 2>&1; \(example.command)"], program: "/bin/sh", environment: ["PATH": path])
            #expect(result.status == 0, "\(example.command)\n\(result)")
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(matches(lines[...], example.output[...]), "\(example.command)\n\(result.output)")
        }
        let shell = try tool.shellWithKeyFile("third.key", "app.db")
        #expect(try shell.run("SELECT text FROM note;") == ["milk", "bread"])
    }

    @Test("the table of exit codes is the tool's own")
    func exitCodes() {
        for status in ToolStatus.allCases { #expect(Self.text.contains("| \(status.rawValue) | \(status.meaning) |\n"), "\(status)") }
    }
}

extension Tool {
    /// The stock shell, with a raw key that the tool has made.
    fileprivate func shellWithKeyFile(_ key: String, _ name: String) throws -> SQLCipherShell {
        let digits = Array(try text(of: key).utf8.prefix(64))
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) }
        return SQLCipherShell(path: directory.path(name), rawKey: bytes)
    }
}
