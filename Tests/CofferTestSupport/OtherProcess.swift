import Dispatch
import Foundation

/// A process of its own that has the file `players.db` of a test open, and does with it what it is told, one
/// thing at a time.
public final class OtherProcess: Sendable {
    private let process = Process()
    private let commands = Pipe()
    private let answers = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter patience: how many seconds it waits for locks; zero is not at all.
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
        // The end of its input would not do: processes that were started meanwhile may have inherited the
        // pipe.
        guard (try? tell("quit")) == "done" else { return process.terminate() }
        hasEnded.wait()
    }

    /// Has the process do something, waits for it, and returns its answer: see `Obey` in `CofferTestWorker`.
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
