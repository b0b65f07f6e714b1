import Foundation
import Synchronization

/// A `CrashWorker` process that makes transfers.
public final class BankTeller: Sendable {
    private let process: Process
    private let output: Pipe
    private let errors: String
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter seconds: the time to work, or 0 for no limit.
    public init(path: String, _ access: Access, teller: Int, seconds: Double = 0) throws {
        process = Process()
        output = Pipe()
        errors = path + ".errors-\(teller)"
        try Data().write(to: URL(fileURLWithPath: errors))
        process.executableURL = URL(fileURLWithPath: ChildProcess.built("CrashWorker"))
        process.arguments = [path, access.rawValue, String(teller), String(seconds)]
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
        try process.closeFiles()
    }

    /// Waits for the first acknowledgements and returns them.
    public func firstAcknowledgements() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    /// Kills the process with SIGKILL.
    public func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits for the end of the process and returns its acknowledgements, without those that have been read
    /// already.
    public func acknowledged() -> [Int] {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        hasEnded.wait()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
    }

    /// True if the process exited without an error. Valid after ``acknowledged()``.
    public var succeeded: Bool { process.terminationReason == .exit && process.terminationStatus == 0 }

    public var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }
}
