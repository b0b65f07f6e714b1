public import Coffer
import Synchronization

/// Records the SQL that connections execute. It contains arguments only if the configuration makes them
/// public.
public final class SQLRecorder: Sendable {
    private let texts = Mutex<[String]>([])

    public init() {}

    /// The executed statements, in order.
    public var statements: [String] { texts.withLock { $0 } }

    /// Discards the recorded statements.
    public func clear() { texts.withLock { $0 = [] } }

    /// Records the statements of one connection, replacing any other trace function.
    public func record(_ db: Database) {
        db.trace { [self] event in
            let text = "\(event)"
            texts.withLock { $0.append(text) }
        }
    }

    /// Returns a copy of the configuration whose connections are recorded from the moment they are open.
    public func recording(_ configuration: Configuration) -> Configuration {
        configuration.with { $0.prepareDatabase { [self] db in record(db) } }
    }
}
