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
    /// - Parameter body: makes the copy with its key and its keyring, which is nil for a dry run.
    func copying(
        to path: String, _ slots: [DatabaseKeyring.NewSlot], isDryRun: Bool, _ session: Session,
        _ body: (DatabaseKey, KeyringOfCopy?) throws -> Void
    ) throws {
        let keyring = DatabaseKeyring(databasePath: path)
        if isDryRun {
            guard try !NewFile.exists(keyring.path) || keyring.isLeft() else {
                throw RecipientOptions.exists(keyring)
            }
            return try body(.random(), nil)
        }
        try keyring.removeLeft()
        guard !NewFile.exists(keyring.path) else { throw RecipientOptions.exists(keyring) }
        let made = try KeyringOfCopy(slots, of: path)
        try body(made.key, made)
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
            "'\(keyring.path)' exists without its database, as if the database was moved. If no such file "
                + "is kept, remove it, and run this again.")
    }

    func tell(_ path: String, _ session: Session) {
        let who = isGiven ? "only the identities of its recipients open it" : "it has the slots of the file"
        session.reporter.note("\(path): the keyring of the copy, to be kept with it: \(who).")
    }
}
