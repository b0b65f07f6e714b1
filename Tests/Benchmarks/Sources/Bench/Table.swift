import BenchKit
import Foundation

/// The result table, as text and as JSON.
struct Table {
    var series: [Series]

    var text: String {
        let head = ["workload", "C loop", "Coffer", "GRDB", "Coffer / C", "rounds", "goal", "GRDB / Coffer"]
        let rows = [head] + series.map(cells)
        return aligned(rows)
    }

    private func cells(_ series: Series) -> [String] {
        let ratio = series.ratio(.coffer, to: .c)
        let peer = series.ratio(.grdb, to: .coffer)
        return [
            series.workload.title,
            figure(series, .c), figure(series, .coffer), figure(series, .grdb),
            ratio.map { decimal($0.median) } ?? "-",
            ratio.map { "\(decimal($0.lowest))-\(decimal($0.highest))" } ?? "-",
            goal(series),
            peer.map { decimal($0.median) } ?? "-",
        ]
    }

    private func goal(_ series: Series) -> String {
        if let goal = series.workload.goal {
            guard let ratio = series.ratio(.coffer, to: .c) else { return decimal(goal) }
            return "\(decimal(goal)) \(ratio.median <= goal ? "yes" : "NO")"
        }
        if let goal = series.workload.goalMicroseconds {
            guard let seconds = series.figure(.coffer) else { return "\(decimal(goal)) us" }
            return "\(decimal(goal)) us \(seconds * 1e6 <= goal ? "yes" : "NO")"
        }
        if let goal = series.workload.goalOver {
            guard let ratio = ratio(of: series, to: goal.workload) else { return "\(decimal(goal.factor)) x" }
            return "\(decimal(goal.factor)) x \(ratio <= goal.factor ? "yes" : "NO"), \(decimal(ratio))"
        }
        if let goal = series.workload.goalGrowth {
            guard let growth = series.growth[.coffer] else { return "flat" }
            return "flat \(growth <= goal ? "yes" : "NO"), +\(megabytes(growth))"
        }
        return "-"
    }

    /// Returns Coffer's time in one workload as a multiple of its time in another: the median of the rounds.
    private func ratio(of one: Series, to name: String) -> Double? {
        guard let other = series.first(where: { $0.workload.name == name }), let times = one.rounds[.coffer],
            let otherTimes = other.rounds[.coffer], times.count == otherTimes.count
        else { return nil }
        let factor = Double(other.operations) / Double(one.operations)
        return median(zip(times, otherTimes).map { $0 / $1 * factor })
    }

    private func figure(_ series: Series, _ runner: RunnerName) -> String {
        guard let value = series.figure(runner) else { return "-" }
        return switch series.workload.unit {
        case .throughput: "\(decimal(1 / value / 1e6)) MB/s"
        case .memory: megabytes(value)
        case .time: time(value)
        }
    }

    private struct Entry: Encodable {
        var workload: String
        var operations: Int
        var secondsPerOperation: [String: Double]?
        var seconds: [String: [Double]]?
        var bytes: [String: [Double]]?
        var growth: [String: Double]?
        var peakMemory: [String: Int]
        var engines: [String: String]
        var cofferToC: Double?
        var grdbToCoffer: Double?
        var goal: Double?
        var goalMicroseconds: Double?
    }

    func json() throws -> Data {
        let entries = series.map { series in
            func keyed<Value>(_ values: [RunnerName: Value]) -> [String: Value] {
                Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
            }
            let figures = RunnerName.allCases.compactMap { runner in
                series.figure(runner).map { (runner, $0) }
            }
            let isMemory = series.workload.unit == .memory
            return Entry(
                workload: series.workload.name, operations: series.operations,
                secondsPerOperation: isMemory ? nil : keyed(Dictionary(uniqueKeysWithValues: figures)),
                seconds: isMemory ? nil : keyed(series.rounds), bytes: isMemory ? keyed(series.rounds) : nil,
                growth: series.growth.isEmpty ? nil : keyed(series.growth),
                peakMemory: keyed(series.peakMemory), engines: keyed(series.engines),
                cofferToC: series.ratio(.coffer, to: .c)?.median,
                grdbToCoffer: series.ratio(.grdb, to: .coffer)?.median,
                goal: series.workload.goal, goalMicroseconds: series.workload.goalMicroseconds)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(entries)
    }
}
