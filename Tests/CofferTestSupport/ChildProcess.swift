import Dispatch
public import Foundation

/// A program that has run to completion.
public struct ChildProcess: Sendable {
    /// The exit code, or the negated number of the signal that ended the process.
    public let status: Int32
    public let output: Data
    public let errors: Data

    public var outputText: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// Runs a program and waits for it. Its input and output go through files, so neither side can block.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - environment: added to the environment of this process.
    public static func run(
        _ program: String, _ arguments: [String] = [], input: Data = Data(),
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try withTestDirectory { directory in
            try input.write(to: URL(fileURLWithPath: directory.path("input")))
            for name in ["output", "errors"] {
                try Data().write(to: URL(fileURLWithPath: directory.path(name)))
            }
            let process = Process()
            guard let path = find(program) else { throw CocoaError(.fileNoSuchFile) }
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
            process.standardInput = try FileHandle(
                forReadingFrom: URL(fileURLWithPath: directory.path("input")))
            process.standardOutput = try FileHandle(
                forWritingTo: URL(fileURLWithPath: directory.path("output")))
            process.standardError = try FileHandle(
                forWritingTo: URL(fileURLWithPath: directory.path("errors")))
            let hasEnded = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in hasEnded.signal() }
            try process.run()
            try process.closeFiles()
            hasEnded.wait()
            return ChildProcess(
                status: process.terminationReason == .exit
                    ? process.terminationStatus : -process.terminationStatus,
                output: try Data(contentsOf: URL(fileURLWithPath: directory.path("output"))),
                errors: try Data(contentsOf: URL(fileURLWithPath: directory.path("errors"))))
        }
    }

    /// Returns the path of a program, or nil if there is none with that name.
    public static func find(_ program: String) -> String? {
        guard !program.contains("/") else {
            return FileManager.default.isExecutableFile(atPath: program) ? program : nil
        }
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Returns the path of an executable target of this package, which is built next to the tests.
    public static func built(_ name: String) -> String {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent(name).path
    }
}

extension Process {
    /// Closes the file handles of a running process, which has its own descriptors. Foundation would keep
    /// them open.
    package func closeFiles() throws {
        for case let file as FileHandle in [standardInput, standardOutput, standardError] { try file.close() }
    }
}
