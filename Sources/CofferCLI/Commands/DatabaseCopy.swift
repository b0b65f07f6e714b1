internal import Coffer

/// A copy of a database into a new file: by one state of the source, which others may go on using.
struct DatabaseCopy {
    let source: String
    let destination: String
    /// How the source is opened.
    let configuration: Configuration
    /// What the copy is encrypted with; nil for the key and the settings of the source.
    let protection: (key: Key, cipher: CipherSettings?)?

    /// - Parameter words: what was done, for people.
    func run(in session: Session, _ trail: AuditTrail, words: String) throws {
        let began = ContinuousClock.now
        try trail.record(destination) { _ in
            try make(in: session)
            return true
        }
        let size = try DatabaseFile(path: destination).inspect().size
        session.reporter.result(
            [
                .init("path", .string(source)), .init("destination", .string(destination)), .init("changed", true),
                .init("size", .int(size)),
                .init("code", 0),
            ],
            text: ["\(destination): \(words) (\(TextLayout.size(size)), \(TextLayout.seconds(ContinuousClock.now - began)))"])
    }

    private func make(in session: Session) throws {
        let queue = try DatabaseQueue(path: source, configuration: configuration)
        do {
            try session.interruption.cooperatively(onSignal: { queue.interrupt() }) {
                if let protection {
                    try queue.vacuum(into: destination, key: protection.key.database, cipher: protection.cipher)
                } else {
                    try queue.vacuum(into: destination)
                }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            // The source is open: it is the copy that cannot be made.
            throw Failure(.outputExists, "output", "'\(destination)' cannot be made: \(error.message ?? "").")
        }
        try queue.close()
    }

    /// Tells what would be done; the key of the source is tried.
    func plan(in session: Session, words: String) throws {
        try DatabaseQueue(path: source, configuration: configuration).close()
        session.reporter.result(
            [
                .init("path", .string(source)), .init("destination", .string(destination)), .init("changed", false), .init("dry_run", true),
                .init("code", 0),
            ],
            text: ["\(destination): would be \(words); nothing was changed"])
    }

    func checkNames() throws(Failure) {
        try FileNames.checkExists(source)
        guard !NewFile.exists(destination) else {
            throw Failure(.outputExists, "output_exists", "'\(destination)' exists, and is not overwritten.")
        }
    }
}
