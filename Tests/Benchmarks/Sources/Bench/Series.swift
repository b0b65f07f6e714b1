import BenchKit

/// The measurements of all runners for one workload, by round.
struct Series {
    var workload: Workload

    /// The result of each runner in each round: the median of its repetitions in seconds, or the memory in
    /// bytes.
    var rounds: [RunnerName: [Double]] = [:]
    var operations = 1
    var engines: [RunnerName: String] = [:]
    var checks: [RunnerName: Int64] = [:]
    var peakMemory: [RunnerName: Int] = [:]

    /// The maximum additional memory of ten times as many rows, in bytes.
    var growth: [RunnerName: Double] = [:]

    /// Returns seconds per operation, or bytes of memory: the median of the rounds.
    func figure(_ runner: RunnerName) -> Double? {
        rounds[runner].map { median($0) / Double(operations) }
    }

    /// Returns the time of one runner as a multiple of another's: the median, and the lowest and highest of a
    /// round. Both times are measured in the same round, one after the other, so that a change in the speed
    /// of the machine affects both.
    func ratio(_ one: RunnerName, to other: RunnerName) -> (median: Double, lowest: Double, highest: Double)?
    {
        guard workload.comparesRunners, let ones = rounds[one], let others = rounds[other], !ones.isEmpty,
            ones.count == others.count
        else { return nil }
        let ratios = zip(ones, others).map { $0 / $1 }
        return (median(ratios), ratios.min() ?? 0, ratios.max() ?? 0)
    }

    /// True if all runners of the workload read the same rows.
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
