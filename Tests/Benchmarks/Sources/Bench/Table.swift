import Foundation

/// The table as text and as JSON.
struct Table {
    var series: [Series]

    var text: String {
        let head = ["workload", "C loop", "Coffer", "GRDB", "Coffer / C", "rounds", "goal", "GRDB / Coffer"]
        let rows = [head] + series.map(cells)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }.joined(separator: "\n")
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
            guard let seconds = series.secondsPerOperation(.coffer) else { return "\(decimal(goal)) us" }
            return "\(decimal(goal)) us \(seconds * 1e6 <= goal ? "yes" : "NO")"
        }
        if let goal = series.workload.goalOver {
            guard let ratio = ratio(of: series, to: goal.workload) else { return "\(decimal(goal.factor)) x" }
            return "\(decimal(goal.factor)) x \(ratio <= goal.factor ? "yes" : "NO"), \(decimal(ratio))"
        }
        return "-"
    }

    /// The time of Coffer in one workload as a multiple of that in another: the median of the rounds.
    private func ratio(of one: Series, to name: String) -> Double? {
        guard let other = series.first(where: { $0.workload.name == name }), let times = one.rounds[.coffer],
            let otherTimes = other.rounds[.coffer], times.count == otherTimes.count
        else { return nil }
        let factor = Double(other.operations) / Double(one.operations)
        return median(zip(times, otherTimes).map { $0 / $1 * factor })
    }

    private func figure(_ series: Series, _ runner: RunnerName) -> String {
        guard let seconds = series.secondsPerOperation(runner) else { return "-" }
        switch series.workload.unit {
        case .throughput: return "\(decimal(1 / seconds / 1e6)) MB/s"
        case .time:
            if seconds < 1e-6 { return "\(decimal(seconds * 1e9)) ns" }
            if seconds < 1e-3 { return "\(decimal(seconds * 1e6)) us" }
            return "\(decimal(seconds * 1e3)) ms"
        }
    }

    /// Three significant digits, as far as they are behind the point.
    private func decimal(_ value: Double) -> String {
        let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
        return String(format: "%.\(digits)f", value)
    }

    private struct Entry: Encodable {
        var workload: String
        var operations: Int
        var secondsPerOperation: [String: Double]
        var seconds: [String: [Double]]
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
            let seconds = RunnerName.allCases.compactMap { runner in series.secondsPerOperation(runner).map { (runner, $0) } }
            return Entry(
                workload: series.workload.name, operations: series.operations,
                secondsPerOperation: keyed(Dictionary(uniqueKeysWithValues: seconds)), seconds: keyed(series.rounds),
                peakMemory: keyed(series.peakMemory), engines: keyed(series.engines),
                cofferToC: series.ratio(.coffer, to: .c)?.median, grdbToCoffer: series.ratio(.grdb, to: .coffer)?.median,
                goal: series.workload.goal, goalMicroseconds: series.workload.goalMicroseconds)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(entries)
    }
}
