import Coffer
import Testing

/// An access that keeps the writer or a reader busy, on a thread of its own, until it is told to end.
struct BusyConnection {
    private let mayEnd = Gate()
    private let job: Job<Void>

    /// Inserts a player and keeps the only connection of a queue, or the writer of a pool.
    static func writing(_ writer: any DatabaseWriter) -> BusyConnection {
        BusyConnection { stay in
            try writer.write { db in
                try db.insertPlayer()
                stay()
            }
        }
    }

    /// Keeps a reader.
    static func reading(_ reader: any DatabaseReader) -> BusyConnection {
        BusyConnection { stay in try reader.read { _ in stay() } }
    }

    /// Returns once the connection is busy.
    private init(_ access: @escaping @Sendable (_ stay: () -> Void) throws -> Void) {
        let (hasBegun, mayEnd) = (Gate(), mayEnd)
        job = Job {
            try access {
                hasBegun.open()
                mayEnd.pass()
            }
        }
        hasBegun.pass()
    }

    var isBusy: Bool { !job.isDone }

    func end() throws {
        mayEnd.open()
        try job.value()
    }
}
