import BenchKit
import Foundation

/// Runs the runners in turn and prints the table.
///
/// A round does each workload once with each runner, one after the other, so that a slow moment of the machine meets all of them.
@main
struct Bench {
    var rows = 100_000
    var rounds = 5
    var repetitions = 3
    var filter = ""
    var growth = false
    var jsonFile: String?
    var chartFile: String?

    static func main() {
        do {
            try Bench(arguments: CommandLine.arguments.dropFirst()).run()
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    init(arguments: ArraySlice<String>) throws {
        var rest = arguments
        func number(_ name: String) throws -> Int {
            guard let text = rest.popFirst(), let value = Int(text), value > 0 else { throw Mistake(description: "\(name) needs a number") }
            return value
        }
        func text(_ name: String) throws -> String {
            guard let value = rest.popFirst() else { throw Mistake(description: "\(name) needs a value") }
            return value
        }
        while let name = rest.popFirst() {
            switch name {
            case "--rows": rows = try number(name)
            case "--rounds": rounds = try number(name)
            case "--repetitions": repetitions = try number(name)
            case "--filter": filter = try text(name)
            case "--growth": growth = true
            case "--json": jsonFile = try text(name)
            case "--chart": chartFile = try text(name)
            default:
                throw Mistake(
                    description:
                        "unknown option \(name); there are --rows N, --rounds N, --repetitions N, --filter TEXT, --growth, --json FILE, --chart FILE.svg"
                )
            }
        }
    }

    func run() throws {
        guard !growth else { return try showGrowth() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coffer-bench-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try start(.c, "prepare", folder)

        var series = Workload.all.filter { filter.isEmpty || $0.name.contains(filter) }.map { Series(workload: $0) }
        for round in 1...rounds {
            note("round \(round) of \(rounds)")
            for index in series.indices {
                // Every other round in the opposite order: no runner always meets the warm machine.
                let runners = series[index].workload.runners.filter(isBuilt)
                for runner in round.isMultiple(of: 2) ? runners.reversed() : runners {
                    let output = try start(runner, series[index].workload.name, folder)
                    series[index].add(try JSONDecoder().decode(Measurement.self, from: output), of: runner)
                }
            }
        }
        for series in series where !series.agrees {
            throw Mistake(description: "\(series.workload.name): the runners do not agree: \(series.checks)")
        }
        let engines = Set(series.flatMap { $0.engines.values })
        guard engines.count == 1, let engine = engines.first, !engine.isEmpty else {
            throw Mistake(description: "the runners do not use the same engine: \(engines)")
        }
        let table = Table(series: series)
        print("\(rows) rows, medians of \(rounds) rounds; every runner on SQLCipher \(engine), 16 MB page cache, WAL, synchronous NORMAL\n")
        print(table.text)
        if let jsonFile { try table.json().write(to: URL(fileURLWithPath: jsonFile)) }
        if let chartFile { try Data(Chart(series: series).svg.utf8).write(to: URL(fileURLWithPath: chartFile)) }
    }

    /// What a call and the memory cost when the table grows by a factor of ten each time.
    private func showGrowth() throws {
        print("rows in the table, one fetch by key in an open read, and the peak memory of a cursor over all rows\n")
        var size = min(10_000, rows)
        while size <= rows {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coffer-bench-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            _ = try start(.c, "prepare", folder, rows: size, ["--large", "no"])
            let cells = try RunnerName.allCases.filter(isBuilt).map { runner in
                let keys = try measurement(runner, "key-one-read", folder, rows: size)
                let scan = try measurement(runner, "cursor-index", folder, rows: size)
                let nanoseconds = median(keys.seconds) / Double(keys.operations) * 1e9
                return "\(runner.title) \(Int(nanoseconds)) ns, \(scan.peakMemory >> 20) MB"
            }
            print("\(size): \(cells.joined(separator: "; "))")
            size *= 10
        }
    }

    private func measurement(_ runner: RunnerName, _ workload: String, _ folder: String, rows: Int) throws -> BenchKit.Measurement {
        try JSONDecoder().decode(BenchKit.Measurement.self, from: start(runner, workload, folder, rows: rows, ["--calls", "20000"]))
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data("bench: \(text)\n".utf8)) }

    /// The peer can be left out when the package is built.
    private func isBuilt(_ runner: RunnerName) -> Bool { FileManager.default.isExecutableFile(atPath: program(of: runner).path) }

    private func program(of runner: RunnerName) -> URL {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appendingPathComponent("bench-\(runner.rawValue)")
    }

    private func start(
        _ runner: RunnerName, _ workload: String, _ folder: String, rows: Int? = nil, _ others: [String] = []
    ) throws -> Data {
        let process = Process()
        process.executableURL = program(of: runner)
        process.arguments = [workload, "--folder", folder, "--rows", "\(rows ?? self.rows)", "--repetitions", "\(repetitions)"] + others
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Mistake(description: "bench-\(runner.rawValue) \(workload) failed with \(process.terminationStatus)")
        }
        return output
    }
}
