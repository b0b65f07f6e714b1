import CofferTestSupport
import Foundation

/// A `CrashWorker` process that the test kills.
final class KillableWorker {
    private let process = Process()
    private let pipe = Pipe()
    private let errors = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: ChildProcess.built("CrashWorker"))
        process.arguments = arguments
        // Swift's backtracer would wait for a worker that is killed while it reports an error, and keep the
        // pipes open.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) {
            $1
        }
        process.standardOutput = pipe
        process.standardError = errors
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
    }

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits for output of the worker and returns it.
    func firstOutput() -> String { String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) }

    /// Waits for the end of the process and returns its output, without ``firstOutput()``.
    func output() -> String {
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        hasEnded.wait()
        return String(decoding: data, as: UTF8.self)
    }

    var errorText: String {
        String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// Runs a worker to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess.run(ChildProcess.built("CrashWorker"), arguments, environment: environment)
    }
}
