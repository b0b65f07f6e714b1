import Dispatch
import Foundation

/// A process that has the file `players.db` of a test open and runs commands on it, one at a time.
public final class OtherProcess: Sendable {
    private let process = Process()
    private let commands = Pipe()
    private let answers = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter patience: the time that the process waits for locks, in seconds. With zero it does not
    ///   wait.
    public init(path: String, _ access: Access, patience: Double = 0) throws {
        process.executableURL = URL(fileURLWithPath: ChildProcess.built("CofferTestWorker"))
        process.arguments = ["obey", path, access.rawValue, String(patience)]
        process.standardInput = commands
        process.standardOutput = answers
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
        guard try tell("hello") == "done" else { throw CocoaError(.executableLoad) }
    }

    deinit {
        // Closing its input is not enough: processes that were started in the meantime may have inherited the
        // pipe.
        guard (try? tell("quit")) == "done" else { return process.terminate() }
        hasEnded.wait()
    }

    /// Sends the process a command, waits for it, and returns the answer: see `Obey` in `CofferTestWorker`.
    public func tell(_ command: String) throws -> String {
        try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let data = answers.fileHandleForReading.availableData
            guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
            answer += data
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }
}
