import Foundation
import Synchronization

/// A program of this package that works in a process of its own, tells on its standard output how far it is,
/// and may be killed.
public final class WorkerProcess: Sendable {
    private let process: Process
    private let output: Pipe
    /// Stays open, for those who work until their input ends.
    private let input = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)
    private let text = Mutex("")

    /// - Parameter environment: added to that of this process.
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

    /// Waits until the process has written the line, or has ended. Returns whether it has written it.
    public func waitForLine(_ line: String) -> Bool {
        while true {
            if lines.contains(line) { return true }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return false }
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
    }

    /// Waits until the process has written a whole line, or has ended. Returns whether it has written one.
    public func waitForFirstLine() -> Bool {
        while text.withLock({ !$0.contains("\n") }) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return false }
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        return true
    }

    /// Reads what a process that has ended has written, and returns its whole lines.
    public func remainingLines() -> [String] {
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        return text.withLock { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
            .map(String.init)
    }

    /// The lines that were read. The last one may be incomplete.
    public var lines: [String] { text.withLock { $0.split(separator: "\n").map(String.init) } }

    /// Kills the process without a warning, and waits for its end.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        hasEnded.wait()
    }

    /// Waits for the end of the process. Returns whether it ended by itself and without an error.
    public func wait() -> Bool {
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        hasEnded.wait()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
