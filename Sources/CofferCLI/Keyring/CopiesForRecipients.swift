internal import Coffer

extension RecipientOptions {
    /// Returns the slots for the keyring of a copy: the given recipients, or else the slots of the keyring
    /// that opened the file. The result is empty for a copy without a keyring.
    func slotsOfCopy(of source: String, _ key: Key) throws -> [DatabaseKeyring.NewSlot] {
        if isGiven { return try slots() }
        guard let secret = key.slotSecret else { return [] }
        return try DatabaseKeyring(databasePath: source).slotsForCopies(unlockedBy: secret)
    }

    /// Makes a copy whose data key is sealed to slots, and accessible only through them afterwards.
    ///
    /// - Parameter body: makes the copy with its key and its keyring. For a dry run, the keyring is nil.
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

    /// Makes a file with a keyring for the recipients, or else with the given key.
    ///
    /// - Parameter source: the database whose content the file gets, or nil if there is none.
    func making(
        _ path: String, from source: String?, orWith key: KeyOptions<OneKey>, isDryRun: Bool,
        _ session: Session,
        _ body: (DatabaseKey, KeyPassage, KeyringOfCopy?) throws -> Void
    ) throws {
        if isGiven {
            return try copying(to: path, slots(), isDryRun: isDryRun, session) { try body($0, .unknown, $1) }
        }
        let request = try key.request(.new).forDatabases([source].compactMap(\.self))
        let new = try session.keys.key(request, subject: path)
        try body(new.database, .changed(from: nil, to: new), nil)
    }

    static func exists(_ keyring: DatabaseKeyring) -> Failure {
        guard !NewFile.exists(keyring.databasePath) else {
            let isOfDatabase = try? keyring.isOfDatabase()
            guard isOfDatabase == true else {
                let failure = NewFile.isThere(keyring.path).about(keyring.databasePath)
                return isOfDatabase == nil
                    ? failure
                    : failure.adding(
                        "The database has another key. If an interrupted run created the keyring, and no "
                            + "database that was moved needs it, remove the keyring and run this again.")
            }
            return Failure(
                .outputExists, "output_exists",
                "'\(keyring.path)' is the keyring of the present database. If an interrupted run of this "
                    + "command created it, the run is complete: the identities of its recipients open the "
                    + "database. Otherwise, give a secret that opens it to --unlock, and no recipient."
            ).about(keyring.databasePath)
        }
        // Never removed automatically: it may be the only way to open a database that was moved temporarily.
        return Failure(
            .outputExists, "keyring_without_database",
            "'\(keyring.path)' exists without its database, which may have been moved. If the database "
                + "no longer exists, remove the keyring and run this again."
        ).about(keyring.databasePath)
    }

    func tell(_ path: String, _ session: Session) {
        let who = isGiven ? "only the recipients' identities open it" : "it has the slots of the file"
        session.reporter.note("\(path): the keyring of the copy; keep both together: \(who).")
    }
}
