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

    @Test("the commands of the units work, even on the night after a failure")
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
        let fields = [
            "Type=oneshot", "LoadCredential=key:/etc/coffer/%i.key", "LimitCORE=0",
            "OnFailure=coffer-failed@%n.service",
        ]
        for unit in ["coffer-backup@.service", "coffer-verify@.service", "coffer-rotate@.service"] {
            let lines = try Set(text("systemd/\(unit)").split(separator: "\n").map(String.init))
            #expect(lines.isSuperset(of: fields), "\(unit)")
        }
    }

    @Test("the unit for rotation continues after a failure, and rotates no file twice")
    func rotation() throws {
        try tool.makeDatabase("a.db", key: "key", 0x42)
        try tool.writeKey("next", 0x43)
        let folder = tool.directory.path
        try tool.write("\(folder)/a.db\n\(folder)/b.db\n", to: "vault.manifest")
        _ = try tool.directory.makeFolder("coffer-rotate-vault")
        let line = try #require(
            try text("systemd/coffer-rotate@.service").split(separator: "\n").first {
                $0.hasPrefix("ExecStart=")
            })
        let words = line.dropFirst("ExecStart=/usr/bin/coffer ".count).replacing("%i", with: "vault")
            .replacing("%S", with: folder).replacing("/etc/coffer", with: folder).split(separator: " ")
            .map(String.init)
        func start() throws -> Tool.Result {
            try tool.run(words, environment: ["CREDENTIALS_DIRECTORY": folder])
        }
        let failed = try start()
        #expect(failed.status == 3 && failed.errors.contains("b.db"), "\(failed)")
        let rotated = try tool.directory.bytes(of: "a.db")
        try tool.makeDatabase("b.db", key: "key", 0x42)
        let done = try start()
        #expect(done.status == 0 && done.output.isEmpty, "\(done)")
        #expect(try tool.directory.bytes(of: "a.db") == rotated)
        for name in ["a.db", "b.db"] {
            #expect(try tool.shell(name, 0x43).run("SELECT count(*) FROM t;") == ["1"])
        }
        #expect(!tool.exists("coffer-rotate-vault/state"))
    }

    @Test("the failure unit reports the name and the state of the unit that failed")
    func failure() throws {
        let unit = try text("systemd/coffer-failed@.service")
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        for (name, script) in [("systemctl", "echo \"state of $4\""), ("mail", "echo \"$@\"; cat")] {
            try tool.write("#!/bin/sh\n\(script)\n", to: name, mode: 0o700)
        }
        let command = line.dropFirst("ExecStart=".count).replacing("%i", with: "coffer-backup@x.service")
            .replacing("%H", with: "host")
        let result = try tool.run(
            ["-c", String(command)], program: "/bin/sh",
            environment: ["PATH": "\(tool.directory.path):/usr/bin:/bin"])
        #expect(
            result.output
                == "-s coffer-backup@x.service failed on host root\nstate of coffer-backup@x.service\n",
            "\(result)")
    }

    @Test("the image has two stages, and runs the program as a user of its own")
    func image() throws {
        let lines = try text("container/Dockerfile").split(separator: "\n").map(String.init)
        #expect(lines.count { $0.hasPrefix("FROM ") } == 2 && lines.last == "USER 1000:1000")
        let copies = lines.filter { $0.hasPrefix("COPY ") }
        #expect(copies.last == "COPY --from=build /made/usr/bin/coffer /usr/bin/coffer")
        #expect(lines.contains { $0.contains("DESTDIR=/made Scripts/install --prefix /usr") })
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
