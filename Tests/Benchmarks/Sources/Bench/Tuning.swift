import BenchKit
import Foundation

/// Measures the default settings, and alternatives to them: page cache, write-ahead log, statement cache.
struct Tuning {
    var options: Options

    private var calls: Int { min(50_000, options.rows) }

    func run() throws {
        try Runners.inFolder(repetitions: options.repetitions) { runners in
            try runners.start(.c, "prepare-points", rows: options.rows)
            let attributes = try FileManager.default.attributesOfItem(atPath: runners.folder + "/player.db")
            print(
                "A file of \(megabytes(Double(attributes[.size] as? Int ?? 0))) with "
                    + "\(grouped(options.rows)) rows; medians.\n"
            )
            for (name, table) in [("cache", pageCaches), ("log", logs), ("statement", statements)]
            where options.filter.isEmpty || name.contains(options.filter) {
                print(try table(runners) + "\n")
            }
        }
    }

    private func measure(_ runners: Runners, _ workload: String, _ others: [String] = []) throws
        -> BenchKit.Measurement
    {
        try runners.measure(.coffer, workload, rows: options.rows, ["--calls", "\(calls)"] + others)
    }

    private func pageCaches(_ runners: Runners) throws -> String {
        let workloads = ["tune-scattered", "tune-recent", "tune-mixed", "tune-scan", "tune-write"]
        let rows = try [1, 2, 4, 8, 16, 32, 64].map { mebibytes in
            Runners.note("page cache of \(mebibytes) MiB")
            let cache = ["--cache", "\(mebibytes << 20)"]
            let times = try workloads.map { time(try measure(runners, $0, cache).secondsPerOperation) }
            let bytes = try measure(runners, "tune-memory", cache).figures[.bytes] ?? 0
            return ["\(mebibytes) MiB"] + times + [megabytes(bytes)]
        }
        return """
            Page cache of each connection: a fetch by key of any row; nine of ten of the last tenth of the \
            rows; the same, each in its own
            read, with a transaction of the writer after every hundred; a row of a scan of the table; a \
            transaction that updates one row;
            the memory of a pool of six connections with full caches.

            \(aligned([["page cache", "any row", "recent rows", "during writes", "scan, a row", "write", "pool"]] + rows))
            """
    }

    private func logs(_ runners: Runners) throws -> String {
        let rows = try [1, 100].flatMap { group in
            try [250, 500, 1000, 2000, 4000, 8000].map { pages in
                Runners.note("checkpoint from \(pages) pages on, transactions of \(group) rows")
                let all = ["--checkpoint", "\(pages)", "--group", "\(group)"]
                let runs = try (0..<options.repetitions).map { _ in try measure(runners, "tune-log", all) }
                func middle(_ figure: Figure) -> Double { median(runs.map { $0.figures[figure] ?? 0 }) }
                return [
                    "\(pages) pages", "\(group)", decimal(1 / median(runs.map(\.secondsPerOperation))),
                    time(middle(.half)),
                    time(middle(.ninetyNine)), time(middle(.slowest)), megabytes(middle(.log)),
                ]
            }
        }
        return """
            Write-ahead log: from how many pages on a commit brings it into the file. Each row is in a page \
            of its own.

            \(aligned([["checkpoint from", "rows", "transactions/s", "half within", "99 % within", "slowest", "log"]] + rows))
            """
    }

    private func statements(_ runners: Runners) throws -> String {
        let typical = [
            ("by key", "key"), ("join with a group and an order", "join"), ("by a list of 500 keys", "list"),
        ]
        let rows = try typical.map { title, name in
            Runners.note("statements: \(title)")
            return [
                title, time(try measure(runners, "tune-prepared-" + name).secondsPerOperation),
                time(try measure(runners, "tune-kept-" + name).secondsPerOperation),
                "\(decimal((try measure(runners, "tune-memory-" + name).figures[.bytes] ?? 0) / 1e3)) kB",
            ]
        }
        return """
            Statements: prepared each time, found in the cache, and the memory of one that is kept.

            \(aligned([["statement", "prepared", "kept", "memory"]] + rows))
            """
    }
}
