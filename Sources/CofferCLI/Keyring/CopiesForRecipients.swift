internal import Coffer

extension RecipientOptions {
    /// Has a copy made whose data key is sealed to the recipients, and known to nobody else afterwards.
    ///
    /// - Parameter body: makes the copy with its key.
    func copying(to path: String, isDryRun: Bool, _ session: Session, _ body: (DatabaseKey) throws -> Void) throws {
        let slots = try slots()
        let keyring = DatabaseKeyring(databasePath: path)
        guard !NewFile.exists(keyring.path) else { throw RecipientOptions.exists(keyring) }
        guard !isDryRun else { return try body(.random()) }
        try keyring.make(slots, copying: body)
        RecipientOptions.tell(keyring.path, session)
    }

    static func exists(_ keyring: DatabaseKeyring) -> Failure {
        Failure(.outputExists, "output_exists", "'\(keyring.path)' exists, and is not overwritten.")
    }

    static func tell(_ path: String, _ session: Session) {
        session.reporter.note("\(path): the keyring of the copy, to be kept with it: only the identities of its recipients open it.")
    }
}
