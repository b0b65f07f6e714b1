internal import Foundation
internal import SQLCipherBridge

/// A look into a file that others may write to: repeated when it has failed and what it saw may come from
/// different states of the file, such as a first page that was half written.
struct SteadyLook {
    private let path: String
    private let seen: [FileStatus?]
    private let start: Int64

    /// How far the clock of a file system may be behind that of the system, in nanoseconds: two writes in
    /// between have one time.
    private static let tick: Int64 = 20_000_000
    private static let attempts = 20

    /// How many looks may fail for other reasons than the key, which is looked at first and needs the least
    /// time.
    private static let failedAttempts = 6

    /// How many looks may go to their end, which may take long.
    private static let completeAttempts = 4

    private init(_ path: String) throws {
        // The log and the journal are beside the file itself.
        let file = (try? SystemFile.resolved(path)) ?? path
        self.path = file
        seen = try SteadyLook.statuses(file)
        start = SteadyLook.now()
    }

    /// - Parameters:
    ///   - isSound: whether a result is good whatever others have done meanwhile.
    ///   - body: makes views of the file anew in each call.
    /// - Throws: the error of a look that nobody disturbed; busy when each one was disturbed. A key that was
    ///   wrong each time is wrong: the first page is half written for moments only.
    static func look<Result>(
        into path: String, isSound: (Result) -> Bool = { _ in true }, _ body: () throws -> Result
    ) throws -> Result {
        var (completed, rejected, failed) = (0, 0, 0)
        for attempt in 1...attempts where completed < completeAttempts && failed < failedAttempts {
            let look = try SteadyLook(path)
            let outcome = Swift.Result { try body() }
            switch outcome {
            case .success(let result) where isSound(result): return result
            case .success: completed += 1
            case .failure(KeyError.encryption): rejected += 1
            case .failure(let error) where !mayComeFromDisturbance(error): throw error
            case .failure: failed += 1
            }
            if rejected == attempts { return try outcome.get() }
            if try look.wasDisturbed() { continue }
            // A write in the tick in which the look began cannot be distinguished from one before it. The
            // next look begins in a later one.
            guard attempt < attempts, look.beganBesideWrite else { return try outcome.get() }
            Thread.sleep(forTimeInterval: Double(tick) / 1e9)
        }
        throw try busy(path)
    }

    /// Calls `body` once, and makes sure that nobody has written to the file from its begin to its end.
    ///
    /// - Parameter body: called with a function that throws `busy` once somebody has.
    /// - Throws: `busy` in place of any other error when somebody has written.
    static func once<Result>(
        into path: String, _ body: (_ check: @escaping () throws -> Void) throws -> Result
    )
        throws -> Result
    {
        var look = try SteadyLook(path)
        // A write in this tick could not be distinguished from one before it.
        for _ in 0..<attempts where look.beganBesideWrite {
            Thread.sleep(forTimeInterval: Double(tick) / 1e9)
            look = try SteadyLook(path)
        }
        let steady = look
        guard !steady.beganBesideWrite else { throw try busy(path) }
        func check() throws { if try steady.wasDisturbed() { throw try busy(path) } }
        do {
            let result = try body(check)
            try check()
            return result
        } catch {
            if mayComeFromDisturbance(error) { try check() }
            throw error
        }
    }

    private static func busy(_ path: String) throws -> DatabaseFileError {
        let users = try SystemFile.status(path, followsLinks: true).map { FileUsers.others(of: $0) }
        return DatabaseFileError(.busy(users ?? []), path: path)
    }

    private func wasDisturbed() throws -> Bool { try SteadyLook.statuses(path) != seen }

    private var beganBesideWrite: Bool {
        seen.contains { status in status.map { abs(start - $0.modified) < SteadyLook.tick } ?? false }
    }

    /// Not those of progress and cancellation, nor a lock that others did not give up in time.
    private static func mayComeFromDisturbance(_ error: any Error) -> Bool {
        switch error {
        case KeyError.engine(let error): error.primaryCode != EngineCode.busy
        case KeyError.encryption: true
        case let error as EngineError: error.primaryCode != EngineCode.busy
        case let error as DatabaseFileError: if case .busy = error.reason { false } else { true }
        default: false
        }
    }

    private static func statuses(_ path: String) throws -> [FileStatus?] {
        try ["", "-wal", "-journal"].map { try SystemFile.status(path + $0) }
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }
}
