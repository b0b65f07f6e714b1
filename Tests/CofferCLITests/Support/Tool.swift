import Coffer
import CofferTestSupport
import Foundation
import Synchronization

/// The `coffer` program with its own directory, run as a user or a script runs it.
final class Tool: Sendable {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    /// The tool of the debug build, or the one that `COFFER_TEST_TOOL` names: a release build starts ten
    /// times faster.
    static let program = releaseBuild ?? ChildProcess.built("coffer")
    static let isReleaseBuild = releaseBuild != nil
    private static let releaseBuild = ProcessInfo.processInfo.environment["COFFER_TEST_TOOL"]

    /// Writes a raw key of 64 digits to a file, without the tool.
    @discardableResult
    func writeKey(_ name: String, _ byte: UInt8 = 0x42) throws -> String {
        try write(String(repeating: String(format: "%02x", byte), count: 32) + "\n", to: name)
        return name
    }

    /// Writes a file that only the owner can read.
    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path(name))
    }

    func text(of name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: directory.path(name)) }

    /// Makes a database and its key file. The database has one table with `rows` rows, and its raw key
    /// consists of equal bytes.
    func makeDatabase(_ name: String = "a.db", key: String = "a.key", _ byte: UInt8 = 0x42, rows: Int = 1)
        throws
    {
        try writeKey(key, byte)
        let queue = try directory.makeQueue(name, .rawKeyed(byte))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
            for row in 1...rows {
                try db.execute(sql: "INSERT INTO t (text) VALUES (?)", arguments: ["row \(row)"])
            }
        }
        try queue.close()
    }

    // MARK: Running

    struct Result: Sendable, CustomStringConvertible {
        let status: Int32
        let output: String
        let errors: String

        var description: String { "exit \(status)\n\(output)\(errors)" }

        /// The objects of JSON output.
        var objects: [[String: Any]] {
            get throws {
                try output.split(separator: "\n").map { line in
                    guard
                        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    else {
                        throw CocoaError(.propertyListReadCorrupt)
                    }
                    return object
                }
            }
        }
    }

    /// Runs the tool to its end.
    func run(_ arguments: String..., input: String = "", environment: [String: String] = [:]) throws -> Result
    {
        try run(arguments, input: input, environment: environment)
    }

    func run(
        _ arguments: [String], program: String = Tool.program, input: String = "",
        environment: [String: String] = [:]
    ) throws -> Result {
        try start(arguments, program: program, input: input, environment: environment).wait()
    }

    func start(
        _ arguments: [String], program: String = Tool.program, input: String = "",
        environment: [String: String] = [:]
    ) throws -> RunningTool {
        // Only debug builds have steps that fail for tests.
        let program = environment["COFFER_FAIL_POINT"] == nil ? program : ChildProcess.built("coffer")
        return try RunningTool(
            program, arguments, folder: directory.path, input: input, environment: environment)
    }

    /// Returns the stock shell for a file whose raw key consists of equal bytes.
    func shell(_ name: String = "a.db", _ byte: UInt8 = 0x42, preparation: String = "") -> SQLCipherShell {
        SQLCipherShell(
            path: directory.path(name), rawKey: [UInt8](repeating: byte, count: 32), preparation: preparation)
    }
}

/// A running program. Its output goes to files, so it never blocks.
final class RunningTool: Sendable {
    private let files: TestDirectory
    private let process: Process
    private let hasEnded = DispatchSemaphore(value: 0)

    init(
        _ program: String, _ arguments: [String], folder: String, input: String, environment: [String: String]
    ) throws {
        files = try TestDirectory()
        try files.write(Array(input.utf8), to: "input")
        for name in ["output", "errors"] { try files.write([], to: name) }
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        var all = ProcessInfo.processInfo.environment
        // The developer's environment must not influence a test.
        for name in ["NO_COLOR", "COLUMNS", "CREDENTIALS_DIRECTORY", "COFFER_KEY", "COFFER_UNLOCK"] {
            all[name] = nil
        }
        all["COFFER_CONFIG"] = ""
        process.environment = all.merging(environment) { _, new in new }
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: files.path("input")))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files.path("output")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files.path("errors")))
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
        try process.closeFiles()
    }

    var processID: Int32 { process.processIdentifier }

    /// True if the program has not ended yet.
    var isRunning: Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
            let state = status.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Returns the output so far.
    func text(of name: String) -> String {
        (try? String(contentsOfFile: files.path(name), encoding: .utf8)) ?? ""
    }

    func wait() -> Tool.Result {
        // If the tool hangs, only its own test fails.
        if hasEnded.wait(timeout: .now() + Patience.seconds) == .timedOut {
            send(SIGKILL)
            hasEnded.wait()
        }
        let status =
            process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Tool.Result(status: status, output: text(of: "output"), errors: text(of: "errors"))
    }
}
