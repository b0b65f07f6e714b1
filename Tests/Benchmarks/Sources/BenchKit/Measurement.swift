import Foundation

/// What a runner prints, as one line of JSON: one workload, done once in the process and measured several
/// times.
public struct Measurement: Codable, Sendable {
    public var workload: String

    /// Seconds of each repetition, after one that is not counted.
    public var seconds: [Double]

    /// How many rows or calls one repetition makes.
    public var operations: Int

    /// A sum over all that was read or written, which every runner must agree on.
    public var check: Int64

    /// What `PRAGMA cipher_version` answers on a connection of the runner.
    public var engine: String

    /// The highest resident size of the process so far, in bytes.
    public var peakMemory: Int

    /// What was measured beside the time.
    public var figures: [Figure: Double]

    public init(workload: String, outcome: Outcome, engine: String) {
        self.workload = workload
        seconds = outcome.seconds
        operations = outcome.operations
        check = outcome.check
        figures = outcome.figures
        self.engine = engine
        peakMemory = Memory.peak
    }

    /// Seconds of one operation: the median of the repetitions.
    public var secondsPerOperation: Double { median(seconds) / Double(operations) }
}

/// What one workload gave.
public struct Outcome: Sendable {
    public var seconds: [Double]
    public var check: Int64
    public var operations: Int
    public var figures: [Figure: Double]

    public init(seconds: [Double], check: Int64, operations: Int, figures: [Figure: Double] = [:]) {
        self.seconds = seconds
        self.check = check
        self.operations = operations
        self.figures = figures
    }
}

/// What can be measured beside the time.
public enum Figure: String, Codable, CodingKeyRepresentable, Sendable {
    /// The memory that the workload needed, in bytes.
    case bytes

    /// How much more of it ten times as many rows needed, in bytes.
    case growth

    /// How many pages of the file an operation visited, and how many of them were not in the page cache.
    case pagesVisited, pagesDecrypted

    /// Of the transactions, in seconds: half were faster than the first, 99 of 100 faster than the second;
    /// the slowest of all.
    case half, ninetyNine, slowest

    /// The size of the write-ahead log in bytes.
    case log
}

public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let middle = sorted.indices.dropFirst(sorted.count / 2).first else { return 0 }
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// Does the work once uncounted and then `repetitions` times, with what `prepare` makes for each of them
/// outside of the measured time.
public func measure<Input>(
    repetitions: Int, prepare: () throws -> Input, work: (Input) throws -> Int64
) throws -> (seconds: [Double], check: Int64) {
    var seconds: [Double] = []
    var check: Int64 = 0
    for repetition in 0...repetitions {
        let input = try prepare()
        let start = ContinuousClock.now
        check = try work(input)
        let duration = ContinuousClock.now - start
        if repetition > 0 { seconds.append(duration / .seconds(1)) }
    }
    return (seconds, check)
}

/// As the other one, for work that suspends.
public func measure<Input>(
    repetitions: Int, prepare: () throws -> Input, work: (Input) async throws -> Int64
) async throws -> (seconds: [Double], check: Int64) {
    var seconds: [Double] = []
    var check: Int64 = 0
    for repetition in 0...repetitions {
        let input = try prepare()
        let start = ContinuousClock.now
        check = try await work(input)
        let duration = ContinuousClock.now - start
        if repetition > 0 { seconds.append(duration / .seconds(1)) }
    }
    return (seconds, check)
}
