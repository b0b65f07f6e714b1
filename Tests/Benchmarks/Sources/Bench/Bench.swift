import BenchKit
import Foundation

/// Runs the runners in turn and prints the table.
///
/// A round runs each workload once with each runner, one after the other, so that a slow phase of the machine
/// affects all of them.
@main
struct Bench {
    var options: Options

    static func main() {
        do {
            let options = try Options(arguments: CommandLine.arguments.dropFirst())
            switch options.mode {
            case .table: try Bench(options: options).run()
            case .growth: try Growth(options: options).run()
            case .tuning: try Tuning(options: options).run()
            }
        } catch {
            Runners.note("\(error)")
            exit(1)
        }
    }

    func run() throws {
        let series = try Runners.inFolder(repetitions: options.repetitions, measure)
        for series in series where !series.agrees {
            throw Mistake(description: "\(series.workload.name): the runners do not agree: \(series.checks)")
        }
        let engines = Set(series.flatMap { $0.engines.values })
        guard engines.count == 1, let engine = engines.first, !engine.isEmpty else {
            throw Mistake(description: "the runners do not use the same engine: \(engines)")
        }
        let table = Table(series: series)
        print(
            """
            \(options.rows) rows, medians of \(options.rounds) rounds; every runner on SQLCipher \(engine), \
            16 MB page cache, WAL, synchronous NORMAL

            \(table.text)
            """)
        if let file = options.jsonFile { try table.json().write(to: URL(fileURLWithPath: file)) }
        if let file = options.chartFile {
            try Data(Chart(series: series).svg.utf8).write(to: URL(fileURLWithPath: file))
        }
    }

    private func measure(_ runners: Runners) throws -> [Series] {
        try runners.start(.c, "prepare", rows: options.rows)
        let workloads = Workload.all(rows: options.rows)
        var series = workloads.filter { options.filter.isEmpty || $0.name.contains(options.filter) }.map {
            Series(workload: $0)
        }
        for round in 1...options.rounds {
            Runners.note("round \(round) of \(options.rounds)")
            for index in series.indices {
                // Every other round runs in the opposite order, so that no runner always runs on the warm
                // machine.
                let names = series[index].workload.runners.filter(Runners.isBuilt)
                for name in round.isMultiple(of: 2) ? names.reversed() : names {
                    series[index].add(
                        try runners.measure(name, series[index].workload.name, rows: options.rows), of: name)
                }
            }
        }
        return series
    }
}
