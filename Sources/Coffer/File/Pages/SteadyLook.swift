internal import Foundation
internal import SQLCipherBridge
internal import SystemCalls

/// A read of a file that others may write to. It is repeated if it failed and may have mixed different states
/// of the file, such as a half-written first page.
struct SteadyLook {
    private let path: String
    private let seen: [FileStatus?]
    private let start: Int64

    /// The largest delay of file system timestamps behind the system clock, in nanoseconds. Two writes within
    /// it may have the same timestamp.
    private static let tick: Int64 = 20_000_000
    private static let attempts = 20

    /// The number of attempts that may fail for reasons other than the key. The key is checked first and
    /// takes the least time.
    private static let failedAttempts = 6

    /// The number of attempts that may run to completion, which may take long.
    private static let completeAttempts = 4

    private init(_ path: String) throws {
        // The log and the journal are next to the file itself, not next to a symbolic link.
        let file = (try? SystemFile.resolved(path)) ?? path
        self.path = file
        seen = try SteadyLook.statuses(file)
        start = SteadyLook.now()
    }

    /// Repeats a read of a file until it returns a sound result, or was not disturbed by a write.
    ///
    /// - Parameters:
    ///   - isSound: returns true if a result is valid even if others wrote to the file at the same time.
    ///   - body: has to create its views of the file anew in each call.
    /// - Throws: the error of an undisturbed read; `busy` if each one was disturbed. A key that was wrong in
    ///   every attempt is wrong: the first page is half written for a moment only.
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
            // A write in the clock tick in which this attempt began is indistinguishable from an earlier one.
            // The next attempt begins in a later tick.
            guard attempt < attempts, look.beganBesideWrite else { return try outcome.get() }
            Thread.sleep(forTimeInterval: Double(tick) / 1e9)
        }
        throw try busy(path)
    }

    /// Calls `body` once, and checks that no other process wrote to the file while it ran.
    ///
    /// - Parameter body: called with a function that throws `busy` after such a write.
    /// - Throws: `busy` instead of any other error if another process has written.
    static func once<Result>(
        into path: String, _ body: (_ check: @escaping () throws -> Void) throws -> Result
    )
        throws -> Result
    {
        var look = try SteadyLook(path)
        // A write in this clock tick would be indistinguishable from an earlier one.
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
        guard let status = try SystemFile.status(path, followsLinks: true) else {
            return DatabaseFileError(.busy([]), path: path)
        }
        return FileUsers.busy(status, path)
    }

    private func wasDisturbed() throws -> Bool { try SteadyLook.statuses(path) != seen }

    private var beganBesideWrite: Bool {
        seen.contains { status in status.map { abs(start - $0.modified) < SteadyLook.tick } ?? false }
    }

    /// Returns false for errors of progress and cancellation, and for a lock timeout.
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
