import CofferTestSupport
import Foundation
import Testing

@Suite("The files for deployment")
struct DeployTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
    }

    private func text(_ name: String) throws -> String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return try String(
            contentsOf: folder.appendingPathComponent("Scripts/deploy/\(name)"), encoding: .utf8
        )
        .replacing("/vault/", with: tool.directory.path + "/").replacing(
            "/keys/", with: tool.directory.path + "/")
    }

    @Test("the commands of the units do their work, and a night after a failure as well")
    func systemd() throws {
        try tool.makeDatabase("a.db", key: "key")
        let folder = tool.directory.path
        try tool.write("\(folder)/a.db\n\(folder)/b.db\n", to: "vault.manifest")
        let state = try tool.directory.makeFolder("run")
        func start(_ unit: String) throws -> Tool.Result {
            let line = try #require(
                try text("systemd/\(unit)").split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
            let words = line.dropFirst("ExecStart=".count).replacing("/usr/bin/coffer", with: Tool.program)
                .replacing("%t/coffer-backup-%i", with: state).replacing("%i", with: "vault")
                .replacing("/etc/coffer", with: folder).replacing("/var/backups/coffer", with: folder)
                .split(separator: " ").map(String.init)
            let result = try tool.run(
                Array(words.dropFirst()), program: words[0], environment: ["CREDENTIALS_DIRECTORY": folder])
            // The system removes the runtime folder of a unit that has ended.
            try FileManager.default.removeItem(atPath: state)
            _ = try tool.directory.makeFolder("run")
            return result
        }
        for unit in ["coffer-backup@.service", "coffer-verify@.service"] {
            let result = try start(unit)
            #expect(result.status == 3 && result.errors.contains("b.db"), "\(unit): \(result)")
        }
        func backupCount() -> Int { tool.directory.fileNames().count { $0.hasSuffix(".backup") } }
        #expect(backupCount() == 1)
        // A state next to the manifest would block all later runs.
        #expect(!tool.directory.fileNames().contains { $0.hasSuffix(".state") })
        try tool.makeDatabase("b.db", key: "key")
        for unit in ["coffer-backup@.service", "coffer-verify@.service"] {
            let result = try start(unit)
            #expect(result.status == 0 && result.output.isEmpty, "\(unit): \(result)")
        }
        #expect(backupCount() == 2)
        let fields = ["Type=oneshot", "LoadCredential=key:/etc/coffer/%i.key", "LimitCORE=0"]
        for unit in ["coffer-backup@.service", "coffer-verify@.service"] {
            let lines = try Set(text("systemd/\(unit)").split(separator: "\n").map(String.init))
            #expect(lines.isSuperset(of: fields), "\(unit)")
        }
    }

    @Test("the commands of the pods do their work")
    func kubernetes() throws {
        try tool.makeDatabase("a.db", key: "old.key", 0x42)
        try tool.writeKey("new.key", 0x43)
        try tool.write("a.db\n", to: "fleet.manifest")
        let path = URL(fileURLWithPath: Tool.program).deletingLastPathComponent().path
        let environment = ["PATH": "\(path):/usr/bin:/bin", "JOB_COMPLETION_INDEX": "0", "SHARES": "1"]

        // The script is a folded scalar, so its lines form one.
        let job = try text("kubernetes/rotate-job.yaml").split(separator: "\n")
        let start = try #require(job.firstIndex { $0.hasSuffix("- >-") })
        let script = job[(start + 1)...].prefix { $0.hasPrefix("              ") }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let rotated = try tool.run(
            ["-c", script.joined(separator: " ")], program: "/bin/sh", environment: environment)
        #expect(rotated.status == 0 && rotated.output.contains("\"changed\":true"), "\(rotated)")

        // The command is a JSON list.
        try tool.writeKey("current.key", 0x43)
        let line = try #require(
            try text("kubernetes/verify-cronjob.yaml").split(separator: "\n").first {
                $0.contains("command: [")
            })
        let list = try JSONSerialization.jsonObject(with: Data(line.drop { $0 != "[" }.utf8)) as? [String]
        let command = try #require(list)
        let verified = try tool.run(command, program: "/usr/bin/env", environment: environment)
        #expect(verified.status == 0 && verified.output.contains("\"intact\":true"), "\(verified)")
    }
}
