internal import Coffer

extension RecipientOptions {
    /// Who opens a copy: the recipients, where some are given; else who opens the keyring by which the file
    /// was opened. Empty for a copy without a keyring.
    func slotsOfCopy(of source: String, _ key: Key) throws -> [DatabaseKeyring.NewSlot] {
        if isGiven { return try slots() }
        guard let secret = key.slotSecret else { return [] }
        return try DatabaseKeyring(databasePath: source).slotsForCopies(unlockedBy: secret)
    }

    /// Has a copy made whose data key is sealed to slots, and known only through them afterwards.
    ///
    /// - Parameter body: makes the copy with its key.
    func copying(
        to path: String, _ slots: [DatabaseKeyring.NewSlot], isDryRun: Bool, _ session: Session,
        _ body: (DatabaseKey) throws -> Void
    ) throws {
        let keyring = DatabaseKeyring(databasePath: path)
        guard !NewFile.exists(keyring.path) else { throw RecipientOptions.exists(keyring) }
        guard !isDryRun else { return try body(.random()) }
        try keyring.make(slots, lockTimeout: session.lockTimeout, copying: body)
        tell(keyring.path, session)
    }

    static func exists(_ keyring: DatabaseKeyring) -> Failure {
        guard !NewFile.exists(keyring.databasePath) else {
            return Failure(
                .outputExists, "output_exists", "'\(keyring.path)' exists, and is not overwritten.")
        }
        // Never removed by itself: it may be all that opens a database that was moved for a moment.
        return Failure(
            .outputExists, "keyring_without_database",
            "'\(keyring.path)' exists without its database: an interrupted copy has left it, or it is the "
                + "keyring of a file that was moved. If no such file is kept, remove it, and run this again.")
    }

    func tell(_ path: String, _ session: Session) {
        let who = isGiven ? "only the identities of its recipients open it" : "it has the slots of the file"
        session.reporter.note("\(path): the keyring of the copy, to be kept with it: \(who).")
    }
}
