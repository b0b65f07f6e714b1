internal import ArgumentParser
internal import Coffer
internal import Foundation
internal import SystemCalls

struct RestoreCommand: ChangingOperation {
    static let configuration = CommandConfiguration.coffer(
        "restore <backup or folder> [<file>] [options]", abstract: "Replace a database with a backup.",
        discussion: """
            Copies the backup next to the database with a fresh salt, proves the copy (each page, the \
            structure, all content), and replaces the database with it atomically. Refuses if another \
            process has the database open. The old file is kept under another name, with its log or journal \
            and a copy of its keyring: by default the name of the database with .replaced- and the time in \
            UTC. Erase it when you no longer need it. Interrupted? The database is the old one or the \
            restored one; run the same command again.

            With a folder, the latest dated backup of the database in it is taken, and named; with --before, \
            the latest one from before a time, such as 2026-11-22T21:45Z or 2026-11-22T22:45+01:00. A \
            database that was not at this path when it was copied is found by its name.

            A backup with a keyring is opened with --unlock: if the database has a keyring, the same \
            secret must open it too, and it stays; otherwise the database gets one with the slots of the \
            backup, or of --recipient.

            EXAMPLES
              coffer restore /backup app.db --key file:app.key       the latest one
              coffer restore /backup app.db --before 2026-11-22T21:45Z --dry-run
              coffer restore /backup/app.db.20261122T214512.345Z-9f3c2a1b-77aa01c2.backup app.db --key \
            file:app.key
              coffer restore old.db app.db --key file:old.key --new-key file:app.key
              coffer restore owners.db app.db --unlock file:owner.identity
            """)

    @Argument(help: "The backup, or a folder with dated backups.", completion: .file())
    var backup: String

    @Argument(
        help: .value("file", "The database: by default the one in this folder that all backups are of."),
        completion: .file())
    var database: String?

    @Option(
        help: .value("path", "Keep the old file under this name, on the same file system."),
        completion: .file())
    var keepOld: String?

    @Option(
        help: .value("time", "From a folder, take the latest backup from before this time."),
        transform: MomentOption.parsed)
    var before: Date?

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key of the backup")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the restored database, if different")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The recipients of the database")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let database { try FileNames.checkIsNoDash(database, "the database") }
        if recipients.isGiven, try newKey.isGiven {
            throw ValidationError("Give the database a new key or recipients, not both.")
        }
        if let keepOld { try FileNames.checkIsNoDash(keepOld, "the old file") }
    }

    var names: [String] { [backup] + (database.map { [$0] } ?? []) }

    /// The database, which ``run(in:_:)`` determines first.
    private var file: String { database ?? "" }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        guard let database else {
            var command = self
            command.database = try DatedBackups.databaseHere(of: backup)
            return try command.run(in: session, trail)
        }
        guard let status = try? FileStatus(backup, followsLinks: true), status.isDirectory else {
            if before != nil { throw Failure.usage("--before is for a folder of dated backups.") }
            return try restore(in: session, trail)
        }
        let choice = try DatedBackups.latest(of: database, in: backup, before: before, session.reporter)
        session.reporter.note(choice.words)
        var command = self
        command.backup = choice.path
        return try command.restore(in: session, trail)
    }

    private func restore(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let new = try newKey.requestIfGiven(besides: key, for: [file])
        let keys = try session.keys(key, of: backup)
        let fileKey = try session.keys.key(ifGiven: new, subject: file)
        return try keys.open(backup, cipher: cipher.settings) { opening in
            if fileKey == nil, recipients.isGiven || opening.key.slotSecret != nil {
                try restoreWithKeyring(opening, in: session, trail)
            } else {
                let keys = KeyPassage.changed(from: nil, to: fileKey ?? opening.key)
                let keyring = DatabaseKeyring(databasePath: file)
                var conversion = conversion(opening.database, fileKey?.database, session, keys: keys)
                conversion.options.keepsKeyring = !dryRun && keyring.isKeptWithDatabase
                let way = self.opening(
                    with: fileKey ?? opening.key, from: new?.option ?? opening.option, session)
                _ = try keyring.whileUnchanged(
                    if: conversion.options.keepsKeyring, lockTimeout: session.lockTimeout
                ) {
                    try conversion.perform(isDryRun: dryRun, in: session, trail)
                }
                tell(way, session)
            }
            return .done
        }
    }

    /// Returns the way to open the restored database with a key, if the present one does not open so.
    private func opening(with key: Key, from option: String, _ session: Session) -> String? {
        guard NewFile.exists(file) else { return nil }
        if let keyring = KeyringFacts(of: file) {
            let isKept = DatabaseKeyring(databasePath: file).isKeptWithDatabase
            return
                "with the key from \(option), and not with its keyring: \(keyring.name) "
                + (isKept ? "belongs to the old file, which has a copy of it" : "does not belong to it")
        }
        let present = DatabaseFile(path: file)
        let opensPresent =
            (try? present.keyID(
                key.database, cipher: cipher.settings, lockTimeout: session.lockTimeout)) != nil
        return opensPresent ? nil : "with the key from \(option)"
    }

    private func tell(_ opening: String?, _ session: Session) {
        guard let opening else { return }
        session.reporter.note("\(file): \(dryRun ? "would open" : "now opens") \(opening).")
    }

    private func conversion(
        _ key: DatabaseKey, _ newKey: DatabaseKey?, _ session: Session, keys: KeyPassage = .unknown
    ) -> Conversion {
        Conversion(
            backup, .restore(to: file, key, newKey: newKey), cipher: cipher.settings, keys: keys,
            keepOldPath: keepOld, in: session)
    }

    /// Removes the keyring that a killed run with recipients left before the database was restored. A run
    /// without recipients uses that keyring.
    ///
    /// - Returns: true if there is no keyring any more.
    private func removeLeft(_ keyring: DatabaseKeyring, _ session: Session) throws -> Bool {
        guard recipients.isGiven, !dryRun else { return false }
        if NewFile.exists(file) {
            guard try keyring.removeLeftOfAdoption(lockTimeout: session.lockTimeout) else { return false }
        } else {
            try keyring.removeLeft()
            guard !NewFile.exists(keyring.path) else { return false }
        }
        session.reporter.note("Removed the keyring of an interrupted run, which opened no database.")
        return true
    }

    /// Restores into a database that has a keyring or is to get one.
    private func restoreWithKeyring(_ opening: FileKey, in session: Session, _ trail: AuditTrail) throws {
        let keyring = DatabaseKeyring(databasePath: file)
        let isThere = try NewFile.exists(keyring.path) && !removeLeft(keyring, session)
        if isThere, !recipients.isGiven, let secret = opening.key.slotSecret {
            // The old file has a data key of the keyring, but under its new name it would have no keyring. It
            // may be too damaged to show this. The keyring of a killed adoption does not open the old file.
            let keepsKeyring = !keyring.isInAdoption
            func restore(_ key: DatabaseKey) throws {
                var conversion = conversion(opening.database, key, session)
                conversion.options.keepsKeyring = keepsKeyring
                try conversion.perform(isDryRun: dryRun, in: session, trail)
            }
            if dryRun { return try restore(keyring.keyForRestoring(unlockedBy: secret)) }
            return try keyring.keepingKeyring(
                unlockedBy: secret, lockTimeout: session.lockTimeout, restoring: restore)
        }
        guard !isThere else { throw RecipientOptions.exists(keyring) }
        var slots = try recipients.slots()
        if slots.isEmpty, let secret = opening.key.slotSecret {
            slots = try DatabaseKeyring(databasePath: backup).slotsForCopies(unlockedBy: secret)
        }
        let secrets = recipients.isGiven ? "the identities of its recipients" : "the secrets of the backup"
        let former = NewFile.exists(file) ? ", and no longer with the key that it had" : ""
        if dryRun {
            try conversion(opening.database, .random(), session).perform(isDryRun: true, in: session, trail)
        } else {
            _ = try keyring.adopt(
                slots, lockTimeout: session.lockTimeout,
                restoring: { key in
                    try conversion(opening.database, key, session).perform(
                        isDryRun: false, in: session, trail)
                })
        }
        tell("with \(secrets), through \(FileNames.name(of: keyring.path))\(former)", session)
    }
}
