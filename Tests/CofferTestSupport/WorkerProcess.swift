import Foundation
import Synchronization

/// A process that runs a program of this package, reports its progress on standard output, and may be killed.
public final class WorkerProcess: Sendable {
    private let process: Process
    private let output: Pipe
    /// Stays open for programs that work until the end of their input.
    private let input = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)
    private let text = Mutex("")

    /// - Parameter environment: added to the environment of this process.
    public init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: ChildProcess.built(program))
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
    }

    /// Waits until the process has written the line or has ended. Returns true if it has written the line.
    public func waitForLine(_ line: String) -> Bool {
        while true {
            if lines.contains(line) { return true }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return false }
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
    }

    /// Waits until the process has written a complete line or has ended. Returns true if it has written one.
    public func waitForFirstLine() -> Bool {
        while text.withLock({ !$0.contains("\n") }) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return false }
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        return true
    }

    /// Reads the rest of the output of a process that has ended and returns its complete lines.
    public func remainingLines() -> [String] {
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        return text.withLock { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
            .map(String.init)
    }

    /// The lines that have been read. The last one may be incomplete.
    public var lines: [String] { text.withLock { $0.split(separator: "\n").map(String.init) } }

    /// Kills the process with SIGKILL and waits for its end.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        hasEnded.wait()
    }

    /// Waits for the end of the process. Returns true if it exited without an error.
    public func wait() -> Bool {
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        hasEnded.wait()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
