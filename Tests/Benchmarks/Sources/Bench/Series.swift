import BenchKit

/// What the runners measured for one workload, round by round.
struct Series {
    var workload: Workload

    /// For each runner, the median of its repetitions, one value a round.
    var rounds: [RunnerName: [Double]] = [:]
    var operations = 1
    var engines: [RunnerName: String] = [:]
    var checks: [RunnerName: Int64] = [:]
    var peakMemory: [RunnerName: Int] = [:]

    /// Seconds of one operation: the median of the rounds.
    func secondsPerOperation(_ runner: RunnerName) -> Double? {
        rounds[runner].map { median($0) / Double(operations) }
    }

    /// The time of one runner as a multiple of another's, with the smallest and the largest one of a round: both were measured in the
    /// same round, one after the other, so that a machine that changes its speed changes both.
    func ratio(_ one: RunnerName, to other: RunnerName) -> (median: Double, lowest: Double, highest: Double)? {
        guard let ones = rounds[one], let others = rounds[other], !ones.isEmpty, ones.count == others.count else { return nil }
        let ratios = zip(ones, others).map { $0 / $1 }
        return (median(ratios), ratios.min() ?? 0, ratios.max() ?? 0)
    }

    /// Whether all runners that did it saw the same rows.
    var agrees: Bool { Set(checks.values).count <= 1 }

    mutating func add(_ measurement: Measurement, of runner: RunnerName) {
        rounds[runner, default: []].append(median(measurement.seconds))
        operations = measurement.operations
        engines[runner] = measurement.engine
        checks[runner] = measurement.check
        peakMemory[runner] = max(peakMemory[runner] ?? 0, measurement.peakMemory)
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let middle = sorted.indices.dropFirst(sorted.count / 2).first else { return 0 }
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
