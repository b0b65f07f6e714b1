internal import Glibc
internal import Synchronization

// Operators that change nothing, and report events.

extension ValueObservation {
    /// Calls functions for the events of a started observation. For debugging.
    ///
    ///     let traced = count.handleEvents(willFetch: { print("fetching") }, didFail: { print($0) })
    ///
    /// - Parameters:
    ///   - willStart: called when the observation starts.
    ///   - willFetch: called before a value is fetched.
    ///   - willTrackRegion: called with the region that is observed from now on.
    ///   - databaseDidChange: called after a transaction has changed the region, where the database is
    ///     written.
    ///   - didReceiveValue: called with a value that is about to be delivered.
    ///   - didFail: called with the error that ended the observation, where values are delivered.
    ///   - didCancel: called when the observation was cancelled.
    public func handleEvents(
        willStart: (@Sendable () -> Void)? = nil,
        willFetch: (@Sendable () -> Void)? = nil,
        willTrackRegion: (@Sendable (DatabaseRegion) -> Void)? = nil,
        databaseDidChange: (@Sendable () -> Void)? = nil,
        didReceiveValue: (@Sendable (Reducer.Value) -> Void)? = nil,
        didFail: (@Sendable (any Error) -> Void)? = nil,
        didCancel: (@Sendable () -> Void)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        var result = reducing { base in
            ValueReducers.Trace(
                base, willFetch: willFetch ?? {}, didReceiveValue: didReceiveValue ?? { _ in })
        }
        result.events = events.appending(
            ObservationHandlers(
                willStart: willStart, willTrackRegion: willTrackRegion, databaseDidChange: databaseDidChange,
                didFail: didFail,
                didCancel: didCancel))
        return result
    }

    /// Prints the events of a started observation: one line per event on the standard output, or one write
    /// without a line break per event into a stream. For debugging.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of each line.
    ///   - stream: the output stream; nil for the standard output.
    public func print(
        _ prefix: String = "", to stream: sending (any TextOutputStream)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        let printer = LinePrinter(prefix: prefix.isEmpty ? "" : "\(prefix): ", stream: stream)
        return handleEvents(
            willStart: { printer.write("start") },
            willFetch: { printer.write("fetch") },
            willTrackRegion: { printer.write("tracked region: \($0)") },
            databaseDidChange: { printer.write("database did change") },
            didReceiveValue: { printer.write("value: \($0)") },
            didFail: { printer.write("failure: \($0)") },
            didCancel: { printer.write("cancel") })
    }
}

/// Prints lines from any thread, one at a time.
private final class LinePrinter: Sendable {
    private let prefix: String
    private let stream: Guarded<(any TextOutputStream)?>

    init(prefix: String, stream: sending (any TextOutputStream)?) {
        self.prefix = prefix
        self.stream = Guarded(stream)
    }

    func write(_ event: String) {
        let line = prefix + event
        stream.withLock { stream in
            if stream == nil {
                _ = unsafe puts(line)
            } else {
                stream?.write(line)
            }
        }
    }
}

/// A value behind a lock that several closures can share.
final class Guarded<Value>: Sendable {
    private let value: Mutex<Value>

    init(_ value: consuming sending Value) {
        self.value = Mutex(value)
    }

    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { try body(&$0) }
    }
}
