import BenchKit
import Foundation

enum RunnerName: String, CaseIterable, Sendable {
    case c, coffer, grdb

    var title: String {
        switch self {
        case .c: "C loop"
        case .coffer: "Coffer"
        case .grdb: "GRDB"
        }
    }
}

/// Starts the runners, each as a separate process, on the files in one folder.
struct Runners {
    var folder: String
    var repetitions: Int

    /// Calls the function with a temporary folder, which is removed afterwards.
    static func inFolder<Result>(repetitions: Int, _ body: (Runners) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "coffer-bench-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(Runners(folder: folder, repetitions: repetitions))
    }

    static func note(_ text: String) { FileHandle.standardError.write(Data("bench: \(text)\n".utf8)) }

    /// Returns true if the runner was built. The package can be built without the GRDB runner.
    static func isBuilt(_ runner: RunnerName) -> Bool {
        FileManager.default.isExecutableFile(atPath: program(of: runner).path)
    }

    func measure(_ runner: RunnerName, _ workload: String, rows: Int, _ others: [String] = []) throws
        -> BenchKit.Measurement
    {
        try JSONDecoder().decode(BenchKit.Measurement.self, from: start(runner, workload, rows: rows, others))
    }

    @discardableResult
    func start(_ runner: RunnerName, _ workload: String, rows: Int, _ others: [String] = []) throws -> Data {
        let process = Process()
        process.executableURL = Self.program(of: runner)
        process.arguments =
            [workload, "--folder", folder, "--rows", "\(rows)", "--repetitions", "\(repetitions)"] + others
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Mistake(
                description: "bench-\(runner.rawValue) \(workload) failed with \(process.terminationStatus)")
        }
        return output
    }

    private static func program(of runner: RunnerName) -> URL {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        return folder.appendingPathComponent("bench-\(runner.rawValue)")
    }
}
