import BenchKit

/// What the runners measured for one workload, round by round.
struct Series {
    var workload: Workload

    /// For each runner, the median of its repetitions in seconds, or the memory in bytes: one value a round.
    var rounds: [RunnerName: [Double]] = [:]
    var operations = 1
    var engines: [RunnerName: String] = [:]
    var checks: [RunnerName: Int64] = [:]
    var peakMemory: [RunnerName: Int] = [:]

    /// How many bytes of memory ten times as many rows added, at most.
    var growth: [RunnerName: Double] = [:]

    /// Seconds of one operation, or bytes of memory: the median of the rounds.
    func figure(_ runner: RunnerName) -> Double? {
        rounds[runner].map { median($0) / Double(operations) }
    }

    /// The time of one runner as a multiple of another's, with the smallest and the largest one of a round:
    /// both were measured in the same round, one after the other, so that a machine that changes its speed
    /// changes both.
    func ratio(_ one: RunnerName, to other: RunnerName) -> (median: Double, lowest: Double, highest: Double)?
    {
        guard workload.comparesRunners, let ones = rounds[one], let others = rounds[other], !ones.isEmpty,
            ones.count == others.count
        else { return nil }
        let ratios = zip(ones, others).map { $0 / $1 }
        return (median(ratios), ratios.min() ?? 0, ratios.max() ?? 0)
    }

    /// Whether all runners that did it saw the same rows.
    var agrees: Bool { Set(checks.values).count <= 1 }

    mutating func add(_ measurement: Measurement, of runner: RunnerName) {
        rounds[runner, default: []].append(
            workload.unit == .memory ? measurement.figures[.bytes] ?? 0 : median(measurement.seconds))
        if let bytes = measurement.figures[.growth] { growth[runner] = max(growth[runner] ?? 0, bytes) }
        operations = measurement.operations
        engines[runner] = measurement.engine
        checks[runner] = measurement.check
        peakMemory[runner] = max(peakMemory[runner] ?? 0, measurement.peakMemory)
    }
}
