import CofferTestSupport
import Foundation
import Testing

@Suite("The doctor")
struct DoctorTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.directory.path)
    }

    /// Runs `coffer doctor` with core dumps disabled, as in a service.
    private func doctor(_ arguments: String...) throws -> Tool.Result {
        try tool.run(
            ["-c", "ulimit -c 0; '\(Tool.program)' doctor \(arguments.joined(separator: " ")); exit $?"],
            program: "/bin/sh")
    }

    @Test("a machine and a folder in order have nothing to fix")
    func good() throws {
        try tool.makeDatabase()
        try tool.write("a.db\n", to: "list")
        let result = try doctor("--verbose", ".")
        #expect(result.status == 0 && result.errors.contains("nothing to fix"), "\(result)")
        for word in [
            "good  engine: ", "SQLCipher", "good  entropy: ", "good  locked memory: ",
            "good  core dumps: off", "3 files checked",
        ] {
            #expect(result.output.contains(word), "\(word): \(result)")
        }
        #expect(try doctor("--quiet", ".").output.isEmpty)
        #expect(try Schema.problems(doctor("--json", ".")) == [])
    }

    @Test("each problem is named, with its remedy, and the exit code is 1")
    func findings() throws {
        try tool.makeDatabase()
        _ = try tool.directory.makeFolder("open/deep")
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("open/plain.db")).run("CREATE TABLE t (a);")
        let bytes = try tool.directory.bytes(of: "a.db")
        for (name, mode) in [("open/deep/read.db", 0o644), ("open/write.db", 0o660)] {
            try tool.directory.write(bytes, to: name)
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: tool.directory.path(name))
        }
        try tool.write("", to: "open/empty.db")
        try tool.write("k", to: "open/loose.key", mode: 0o640)
        try tool.write("{}", to: "open/a.db.rotate.json")
        for name in ["left.backup.keys", "kept.backup", "kept.backup.keys"] {
            try tool.write("coffer keyring", to: "open/\(name)", mode: 0o600)
        }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: tool.directory.path("open"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: tool.directory.path("open/plain.db"))
        let result = try doctor("open")
        #expect(result.status == 1, "\(result)")
        for words in [
            "FIX   open: others can rename", "FIX   open/plain.db: is not encrypted",
            "FIX   open/deep/read.db: others can copy it",
            "FIX   open/write.db: others can write to it", "FIX   open/empty.db: is empty",
            "FIX   open/loose.key: others can read it",
            "FIX   open/a.db.rotate.json: of an active or interrupted run", "chmod 600", "coffer encrypt",
            "FIX   open/left.backup.keys: the keyring of a missing database",
        ] { #expect(result.output.contains(words), "\(words): \(result)") }
        #expect(result.errors.contains("8 problems to fix"), "\(result)")
        #expect(try Schema.problems(doctor("--json", "open")) == [])
        #expect(try doctor("none").status == 66)
    }

    @Test("the note and the copy of an interrupted run of any operation are found, with their sizes")
    func interruptedRuns() throws {
        for operation in ["rotate", "upgrade", "encrypt", "decrypt", "vacuum"] {
            let (note, copy) = ("a.db.\(operation).json", ".coffer-0123456789abcdef-0.\(operation)")
            try tool.write("{}", to: note)
            try tool.write("copy", to: copy)
            let result = try doctor(".")
            #expect(result.status == 1, "\(result)")
            #expect(
                result.output.contains("\(note): of an active or interrupted run (2 bytes)"),
                "\(result)")
            #expect(
                result.output.contains("\(copy): of an active or interrupted run (4 bytes)"),
                "\(result)")
        }
    }

    @Test("a copy that a killed decryption has left is said to be readable without a key")
    func plaintextCopy() throws {
        let copy = ".coffer-0123456789abcdef-0123456789abcdef.tmp"
        _ = try SQLCipherShell(plaintextPath: tool.directory.path(copy)).run("CREATE TABLE t (a);")
        let result = try doctor(".")
        #expect(result.output.contains("\(copy): a copy that is readable without a key"), "\(result)")
    }

    @Test(
        "plaintext files are recognized by their header, and a name that is not UTF-8 is a finding"
    )
    func unseen() throws {
        let folder = try tool.directory.makeFolder("all")
        for name in ["noext", "UP.DB", "a.key"] {
            _ = try SQLCipherShell(plaintextPath: tool.directory.path("all/\(name)")).run(
                "CREATE TABLE t (a);")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: tool.directory.path("all/\(name)"))
        }
        try tool.write("text", to: "all/text", mode: 0o600)
        let odd =
            Array((tool.directory.path("all/bad")).utf8CString.dropLast()) + [CChar(bitPattern: 0xff), 0]
        let descriptor = unsafe open(odd, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        let result = try doctor("all")
        #expect(result.status == 1 && result.errors.contains("4 problems to fix"), "\(result)")
        for name in ["noext", "UP.DB", "a.key"] {
            #expect(result.output.contains("FIX   all/\(name): is not encrypted"), "\(result)")
        }
        #expect(result.output.contains("FIX   all: contains a file whose name is not UTF-8"), "\(result)")
        #expect(try Schema.problems(doctor("--json", "all")) == [])
        _ = folder
    }

    @Test("core dumps that are on are found, although coffer makes none")
    func coreDumps() throws {
        let result = try tool.run(
            ["-c", "ulimit -c 4096; '\(Tool.program)' doctor; exit $?"], program: "/bin/sh")
        #expect(
            result.status == 1 && result.output.contains("FIX   core dumps")
                && result.output.contains("ulimit -c 0"), "\(result)")
    }

    @Test("advice that is the same for warnings in a row is shown once")
    func repeatedAdvice() throws {
        let lines = try Tool().run("doctor").output.split(separator: "\n")
        let advice = lines.filter { $0.hasPrefix("      ") && $0.contains("Scripts/build-engine") }
        #expect(advice.count <= 1 && advice.isEmpty == !lines.contains { $0.hasPrefix("warn") }, "\(lines)")
    }
}
