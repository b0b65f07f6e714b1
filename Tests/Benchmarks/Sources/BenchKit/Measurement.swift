import Foundation

/// The output of a runner, as one line of JSON: one workload, run once in the process and measured several
/// times.
public struct Measurement: Codable, Sendable {
    public var workload: String

    /// The seconds of each repetition, after a warm-up that is not counted.
    public var seconds: [Double]

    /// The number of rows or calls in one repetition.
    public var operations: Int

    /// A sum over all values that were read or written. It must be the same in every runner.
    public var check: Int64

    /// The result of `PRAGMA cipher_version` on a connection of the runner.
    public var engine: String

    /// The peak resident size of the process so far, in bytes.
    public var peakMemory: Int

    /// The measurements other than the time.
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

    /// Seconds per operation: the median of the repetitions.
    public var secondsPerOperation: Double { median(seconds) / Double(operations) }
}

/// The result of one workload.
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

/// The kinds of measurements other than the time.
public enum Figure: String, Codable, CodingKeyRepresentable, Sendable {
    /// The memory of the workload, in bytes.
    case bytes

    /// The additional memory of ten times as many rows, in bytes.
    case growth

    /// The number of pages of the file that an operation visited, and the number that were not in the page
    /// cache.
    case pagesVisited, pagesDecrypted

    /// The 50th and 99th percentile and the maximum of the transaction times, in seconds.
    case half, ninetyNine, slowest

    /// The size of the write-ahead log in bytes.
    case log
}

public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let middle = sorted.indices.dropFirst(sorted.count / 2).first else { return 0 }
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// Does the work once uncounted, and then `repetitions` times. Each repetition gets a new result of
/// `prepare`, which is called outside the measured time.
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

/// Does the same for work that suspends.
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
