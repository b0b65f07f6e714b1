public import Coffer
import Synchronization

/// Records the SQL that connections execute, without arguments unless the configuration makes them public.
public final class SQLRecorder: Sendable {
    private let texts = Mutex<[String]>([])

    public init() {}

    /// The statements that were executed, in order.
    public var statements: [String] { texts.withLock { $0 } }

    /// Forgets what was recorded.
    public func clear() { texts.withLock { $0 = [] } }

    /// Records the statements of one connection, in place of another trace.
    public func record(_ db: Database) {
        db.trace { [self] event in
            let text = "\(event)"
            texts.withLock { $0.append(text) }
        }
    }

    /// The same configuration, whose connections are recorded once they are open.
    public func recording(_ configuration: Configuration) -> Configuration {
        configuration.with { $0.prepareDatabase { [self] db in record(db) } }
    }
}
