import BenchKit
import Foundation

/// The cost of single rows and of a cursor as the table grows by a factor of ten each time.
struct Growth {
    var options: Options

    private static let workloads = [
        (name: "point-key", title: "fetch by key, all in one read"),
        (name: "point-own-read", title: "fetch by key, each in its own read"),
        (name: "point-name", title: "request by an indexed column"),
        (name: "point-insert", title: "insert a row in a transaction"),
        (name: "point-update", title: "update a row in a transaction"),
        (name: "point-delete", title: "delete a row in a transaction"),
        (name: "cursor-index", title: "cursor, a row"),
    ]

    func run() throws {
        let smallest = options.rows >= 10_000 ? 10_000 : max(options.rows / 10, 20)
        var sizes = [smallest]
        while let last = sizes.last, last * 10 <= options.rows { sizes.append(last * 10) }
        var measured: [String: [[RunnerName: BenchKit.Measurement]]] = [:]
        for size in sizes {
            Runners.note("\(grouped(size)) rows")
            try Runners.inFolder(repetitions: options.repetitions) { runners in
                try runners.start(.c, "prepare-points", rows: size)
                for workload in Self.workloads
                where options.filter.isEmpty || workload.name.contains(options.filter) {
                    measured[workload.name, default: []].append(try measure(runners, workload.name, size))
                }
            }
        }
        print(
            """
            Median times of one operation, with 16 MB of page cache and an index on a column of text. Pages: \
            how many an operation of
            the C loop visits, and how many of them are not in the page cache, so that they are read and \
            decrypted.
            Memory: the highest resident size of the process.

            \(aligned([head] + Self.workloads.flatMap { rows($0.title, sizes, measured[$0.name] ?? []) }))
            """)
    }

    private func measure(_ runners: Runners, _ workload: String, _ size: Int) throws -> [RunnerName: BenchKit
        .Measurement]
    {
        var measurements: [RunnerName: BenchKit.Measurement] = [:]
        for runner in RunnerName.allCases where Runners.isBuilt(runner) {
            measurements[runner] = try runners.measure(
                runner, workload, rows: size, ["--calls", "\(min(50_000, options.rows))"])
        }
        guard Set(measurements.values.map(\.check)).count == 1 else {
            throw Mistake(
                description:
                    "\(workload), \(size) rows: the runners do not agree: \(measurements.mapValues(\.check))")
        }
        return measurements
    }

    private var names: [RunnerName] { RunnerName.allCases.filter(Runners.isBuilt) }

    private var head: [String] {
        ["operation", "rows", "pages", "decrypted"] + names.map(\.title) + ["Coffer / C", "memory of Coffer"]
    }

    private func rows(_ title: String, _ sizes: [Int], _ measured: [[RunnerName: BenchKit.Measurement]])
        -> [[String]]
    {
        zip(sizes, measured).map { size, measurements in
            let seconds = names.map { measurements[$0]?.secondsPerOperation ?? 0 }
            let figures = measurements[.c]?.figures ?? [:]
            let ratio =
                (measurements[.coffer]?.secondsPerOperation ?? 0)
                / (measurements[.c]?.secondsPerOperation ?? 1)
            return [
                title, grouped(size), figures[.pagesVisited].map(decimal) ?? "-",
                figures[.pagesDecrypted].map(decimal) ?? "-",
            ] + seconds.map(time) + [
                decimal(ratio), megabytes(Double(measurements[.coffer]?.peakMemory ?? 0)),
            ]
        }
    }
}
