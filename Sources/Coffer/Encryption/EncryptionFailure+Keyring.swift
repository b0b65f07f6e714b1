internal import SystemCalls

extension EncryptionFailure {
    /// A problem with a database's keyring, or a mismatch between the two: see ``DatabaseKeyring``.
    public enum KeyringProblem: Sendable, Hashable {
        /// There is no keyring next to the database.
        case missing
        /// The keyring cannot be opened or read. The value is the system's error number.
        case unreadable(errno: Int32)
        /// The file with the keyring's name is not a regular file, or is a symbolic link.
        case notAFile
        /// The keyring belongs to another user, and the database is new, empty or missing, so no page of it
        /// confirms the keyring. That user could read everything written with the keyring's data key.
        case ofAnotherUser(userID: UInt32)
        /// The database is new, empty or missing, and other users may write to the keyring.
        case writableByOthers(mode: UInt32)
        /// The database is new, empty or missing, and the keyring's file has more than one name (hard links).
        case hardLinks(count: Int)
        /// The file is longer than any keyring can be. The size is in bytes.
        case tooLong(size: Int64)
        /// The keyring has a version that this library does not know.
        case unsupportedVersion(Int)
        /// Both copies in the file are damaged, at these places. Or only one, if an operation requires that
        /// both are intact: the other one still opens the database.
        case damaged([KeyringDamage])
        /// The two copies in the file have different contents.
        case copiesDiffer
        /// A slot was opened, but the text around it was not written with the data key.
        case notAuthentic
        /// The given secret opens no slot.
        case noMatchingSlot
        /// The keyring belongs to another database.
        case ofAnotherFile
        /// The database has a newer data key than the keyring: an older keyring was restored.
        case olderThanFile
        /// The keyring has a newer data key than the database: an older database was restored.
        case newerThanFile
        /// The connection does not know the path of its database, and therefore not the keyring's path; or
        /// the database is a copy that needs a keyring of its own.
        case noPlace
        /// The keyring has no slot of this number.
        case noSlot(Int)
        /// All slots of the keyring are in use.
        case full
        /// The slot is the last one. Without it, the database could not be opened any more.
        case lastSlot
        /// The name of a slot is too long, or cannot be shown on one line.
        case invalidName
        /// The given recovery key is not valid: a character is wrong or missing.
        case invalidRecoveryKey
        /// The given recipient, or the given identity of a recipient, is not valid.
        case invalidRecipient
        /// The program that opens a slot has failed.
        case command(program: String, KeyCommandProblem)
        /// The keyring has changed since it was read.
        case changed
        /// The keyring is older than the one that it would replace.
        case olderKeyring(generation: UInt64, present: UInt64)
        /// A rotation of the data key was interrupted. Complete it first.
        case rotationUnderWay
        /// Another process or thread is changing the keyring, and did not finish within the time limit.
        case changeUnderWay
    }
}

extension EncryptionFailure {
    /// An error of a program that opens a slot of a keyring: see ``DatabaseKeyring/Command``.
    public enum KeyCommandProblem: Sendable, Hashable {
        /// The program cannot be run. The value is the system's error number.
        case notStarted(errno: Int32)
        /// The program's output cannot be read. The value is the system's error number.
        case unreadable(errno: Int32)
        /// The program did not answer and exit in time, and was killed.
        case outOfTime(seconds: Double)
        /// The program exited with a code other than zero.
        case failed(exitCode: Int32)
        /// The program was terminated by a signal.
        case killed(signal: Int32)
        /// This process ignores `SIGCHLD`, so the program's exit status is unknown.
        case endUnknown
        /// The program printed no valid answer, or an answer whose secret is all zeros.
        case noAnswer
        /// The program returned a different secret when it was asked again, so the slot could never be
        /// opened.
        case answersDiffer
    }
}

/// A place where a keyring is damaged.
public struct KeyringDamage: Sendable, Hashable, Error, CustomStringConvertible {
    /// The number of the copy in the file, from 1.
    public let copy: Int

    /// The number of the line in the copy, from 1.
    public let line: Int

    let words: String

    /// The version that the copy states, if an unknown version is the only problem.
    let otherVersion: Int?

    /// The place and the problem.
    public var description: String { "copy \(copy), line \(line): \(words)" }
}

extension EncryptionFailure.KeyringProblem: CustomStringConvertible {
    /// A message that states the problem and the remedy.
    public var description: String {
        switch self {
        case .missing:
            "The keyring is missing. Restore it from a backup or an exported header. Without it, only the "
                + "exported raw key opens the database."
        case .unreadable(let code): "The keyring cannot be read: \(Errno(code).words)."
        case .notAFile:
            "The file with the name of the keyring is not a regular file, and was not changed. Inspect it, "
                + "move it away, and restore the keyring if there is none."
        case .ofAnotherUser(let userID):
            "The keyring belongs to another user (ID \(userID)), and no page of a database confirms it: that "
                + "user could read everything that is written with it. Move it away, or, if you know who "
                + "made it, make it your own with chown, and try again."
        case .writableByOthers(let mode):
            "Other users can write to the keyring (mode \(String(mode, radix: 8))), and no page of a "
                + "database confirms it: they could read everything that is written with it. Move it away, "
                + "or, if you know who made it, run 'chmod go-w' on it, and try again."
        case .hardLinks(let count):
            "The keyring has \(count) names (hard links), and no page of a database confirms it. Move it "
                + "away, or, if you know who made it, replace it with a copy, and try again."
        case .tooLong(let size):
            "The file has \(size) bytes, which is too large for a keyring. Restore the keyring from a backup "
                + "or an exported header."
        case .unsupportedVersion(let version):
            "The keyring has version \(version), which this version of Coffer does not support. Use a newer "
                + "version of Coffer."
        case .damaged(let places) where places.count == 1:
            "One of the two copies in the keyring is damaged (\(places[0].description)). The other one is "
                + "intact, and opens the database. The next change of the keyring writes both."
        case .damaged(let places):
            "Every copy in the keyring is damaged (\(places.map(\.description).joined(separator: "; "))). "
                + "Restore it from a backup or an exported header."
        case .copiesDiffer:
            "The two copies in the keyring differ: it was edited by hand. Restore it from a backup or an "
                + "exported header."
        case .notAuthentic:
            "The keyring was changed without the data key. Restore it from a backup or an exported header, "
                + "and check who can write to it."
        case .noMatchingSlot:
            "The given key opens no slot of the keyring. Check the key, and check which kind of key it is."
        case .ofAnotherFile:
            "The keyring belongs to another database. Put the right one next to this database."
        case .olderThanFile:
            "The keyring is older than the database: the data key has been rotated since. Restore the newest "
                + "keyring."
        case .newerThanFile:
            "The database is older than the keyring: the data key has been rotated since. Restore the "
                + "keyring that was saved together with this database."
        case .noPlace:
            "A keyring belongs to one database file. Give a copy its own key or keyring, and open an "
                + "attached database with its raw key."
        case .noSlot(let number): "The keyring has no slot \(number)."
        case .full: "The keyring has the maximum number of slots. Remove one."
        case .lastSlot:
            "This is the last slot: without it, the database could not be opened. Add another one first, or "
                + "destroy the keyring."
        case .invalidName:
            "The name of a slot must have at most 64 bytes, and only characters that can be shown on one "
                + "line."
        case .invalidRecoveryKey:
            "This is not a recovery key: a character is wrong, missing or extra. Compare it with the printed "
                + "sheet."
        case .invalidRecipient:
            "This is not a recipient or an identity, or one of its characters is wrong."
        case .command(let program, let problem): "The program '\(program)' \(words(of: problem))"
        case .changed: "Another process changed the keyring at the same time. Nothing was changed; try again."
        case .olderKeyring(let generation, let present):
            "The keyring to restore is older (generation \(generation)) than the current one (generation "
                + "\(present)): slots that have been removed since would open the database again."
        case .rotationUnderWay:
            "A rotation of the data key was interrupted. Rotate it again to complete it, and then change the "
                + "keyring."
        case .changeUnderWay:
            "The keyring is being changed, or its data key is being rotated. Nothing was changed; try again "
                + "later."
        }
    }

    private func words(of problem: EncryptionFailure.KeyCommandProblem) -> String {
        switch problem {
        case .notStarted(let code): "cannot be run: \(Errno(code).words)."
        case .unreadable(let code): "cannot be read from: \(Errno(code).words)."
        case .outOfTime(let seconds):
            "did not finish within \(seconds) seconds and was killed. Allow it more time, or find out why it "
                + "waits."
        case .failed(let code): "exited with code \(code)."
        case .killed(let signal): "was terminated by signal \(signal)."
        case .endUnknown:
            "has exited, but this process ignores SIGCHLD, so the exit status is unknown. Do not ignore "
                + "SIGCHLD."
        case .noAnswer:
            "printed no valid answer: a line 'secret' with 64 hexadecimal digits, and optionally a line "
                + "'token'."
        case .answersDiffer:
            "returned a different secret when it was asked again, so the slot could never be opened. Nothing "
                + "was changed."
        }
    }
}
