import Foundation

/// What a runner prints, as one line of JSON: one workload, done once in the process and measured several times.
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

    public init(workload: String, seconds: [Double], operations: Int, check: Int64, engine: String) {
        self.workload = workload
        self.seconds = seconds
        self.operations = operations
        self.check = check
        self.engine = engine
        self.peakMemory = Self.peakMemory()
    }

    /// `VmHWM` of the process in bytes, 0 where there is no `/proc`.
    public static func peakMemory() -> Int { memory("VmHWM") }

    /// `VmRSS` of the process in bytes, 0 where there is no `/proc`.
    public static func residentMemory() -> Int { memory("VmRSS") }

    private static func memory(_ name: String) -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kibibytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
        return (kibibytes ?? 0) * 1024
    }
}

/// Does the work once uncounted and then `repetitions` times, with what `prepare` makes for each of them outside of the measured time.
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
