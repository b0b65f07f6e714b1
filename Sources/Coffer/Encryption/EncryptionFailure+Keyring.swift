internal import Glibc

extension EncryptionFailure {
    /// What is wrong with the keyring of a database, or between the two: see ``DatabaseKeyring``.
    public enum KeyringProblem: Sendable, Hashable {
        /// There is no keyring beside the database.
        case missing
        /// The keyring cannot be opened or read: the system's number of the error.
        case unreadable(errno: Int32)
        /// What has the name of the keyring is no regular file, or a symbolic link.
        case notAFile
        /// The database is new, empty or missing, so that no page of it confirms the keyring, and the keyring
        /// belongs to another user, who can read what is written with its data key.
        case ofAnotherUser(userID: UInt32)
        /// The database is new, empty or missing, and other users may write to the keyring.
        case writableByOthers(mode: UInt32)
        /// The database is new, empty or missing, and the file of the keyring has more than one name.
        case hardLinks(count: Int)
        /// The file is longer than a keyring can be: its size in bytes.
        case tooLong(size: Int64)
        /// The keyring has a version that this library does not know.
        case unsupportedVersion(Int)
        /// Neither of the two copies in the file is whole: where they are damaged.
        case damaged([KeyringDamage])
        /// The two copies in the file say different things.
        case copiesDiffer
        /// A slot was opened, and the text around it is not what was written by who had the data key.
        case notAuthentic
        /// No slot is opened by what was given.
        case noMatchingSlot
        /// The keyring is that of another database.
        case ofAnotherFile
        /// The database has a newer data key than the keyring: an older keyring was put back.
        case olderThanFile
        /// The keyring has a newer data key than the database: an older database was put back.
        case newerThanFile
        /// The connection does not know where its database is, and so not where the keyring is; or the
        /// database is a copy that needs a keyring of its own.
        case noPlace
        /// The keyring has no slot of this number.
        case noSlot(Int)
        /// The keyring has as many slots as it can have.
        case full
        /// The slot is the last one, without which nobody opens the database any more.
        case lastSlot
        /// The name of a slot is too long, or cannot be shown on one line.
        case invalidName
        /// What was given for a recovery key is none: a character is wrong, or missing.
        case invalidRecoveryKey
        /// What was given for a recipient, or for the identity of one, is none.
        case invalidRecipient
        /// The program that is to open a slot has not.
        case command(program: String, KeyCommandProblem)
        /// The keyring has changed since it was read.
        case changed
        /// The keyring is older than the one that it is to replace.
        case olderKeyring(generation: UInt64, present: UInt64)
        /// A data key is being rotated, and the work was interrupted: complete it first.
        case rotationUnderWay
        /// Another process, or another thread, changes the keyring, and has not ended in the time that was to
        /// be waited.
        case changeUnderWay
    }
}

extension EncryptionFailure {
    /// What a program has done wrong that was to open a slot of a keyring: see ``DatabaseKeyring/Command``.
    public enum KeyCommandProblem: Sendable, Hashable {
        /// The program cannot be run: the system's number of the error.
        case notStarted(errno: Int32)
        /// What it prints cannot be read: the system's number of the error.
        case unreadable(errno: Int32)
        /// It had not answered and ended in time, and was ended.
        case outOfTime(seconds: Double)
        /// It ended with a code other than zero.
        case failed(exitCode: Int32)
        /// A signal ended it.
        case killed(signal: Int32)
        /// This process ignores the ends of its children (`SIGCHLD`), so that nobody knows whether the
        /// program has failed.
        case endUnknown
        /// What it printed is no answer, or the answer has no secret but zeros.
        case noAnswer
        /// It answered another secret when it was asked again: nobody would open the slot.
        case answersDiffer
    }
}

/// A place at which a keyring is not as it was written.
public struct KeyringDamage: Sendable, Hashable, Error, CustomStringConvertible {
    /// Which of the two copies in the file, from 1.
    public let copy: Int

    /// The line in the copy, from 1.
    public let line: Int

    let words: String

    /// The version that the copy says that it has, if that is all that is wrong.
    let otherVersion: Int?

    /// The place, and what is wrong there.
    public var description: String { "copy \(copy), line \(line): \(words)" }
}

extension EncryptionFailure.KeyringProblem: CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String {
        switch self {
        case .missing:
            "There is no keyring of that name beside the database. Put it back from a backup or an exported "
                + "header; without it only the exported raw key opens the database."
        case .unreadable(let code): "The keyring cannot be read: \(systemWords(code))."
        case .notAFile:
            "What has the name of the keyring is no regular file, and was left as it is. Look at it, and "
                + "move it away; put the keyring in its place where it is missing."
        case .ofAnotherUser(let userID):
            "The keyring belongs to another user (number \(userID)), and no page of a database confirms it: "
                + "that user could read what is written. Move it away; or, if you know who made it, make it "
                + "your own with chown, and try again."
        case .writableByOthers(let mode):
            "Other users may write to the keyring (mode \(String(mode, radix: 8))), and no page of a "
                + "database confirms it: they could read what is written. Move it away; or, if you know who "
                + "made it, run 'chmod go-w' on it, and try again."
        case .hardLinks(let count):
            "The file of the keyring has \(count) names (hard links), and no page of a database confirms it. "
                + "Move it away; or, if you know who made it, put a copy of it in its place, and try again."
        case .tooLong(let size):
            "The file has \(size) bytes, which no keyring has. Put the keyring back from a backup or an "
                + "exported header."
        case .unsupportedVersion(let version):
            "The keyring has version \(version). Use a newer version of Coffer."
        case .damaged(let places):
            "No copy in the keyring is whole (\(places.map(\.description).joined(separator: "; "))). Put it "
                + "back from a backup or an exported header."
        case .copiesDiffer:
            "The two copies in the keyring differ: it was changed by hand. Put it back from a backup or an "
                + "exported header."
        case .notAuthentic:
            "The keyring was changed by somebody who does not have the data key. Put it back from a backup "
                + "or an exported header, and look at who can write to it."
        case .noMatchingSlot:
            "What was given opens no slot of the keyring. Check it, and which kind of key it is."
        case .ofAnotherFile: "The keyring is that of another database. Put the right one beside the database."
        case .olderThanFile:
            "The keyring is older than the database, whose data key was rotated since. Put the newest "
                + "keyring back."
        case .newerThanFile:
            "The database is older than the keyring: its data key was rotated since. Put back the keyring "
                + "that was saved together with this database."
        case .noPlace:
            "A keyring belongs to one database file. Give a copy a key or a keyring of its own, and open an "
                + "attached database with its raw key."
        case .noSlot(let number): "The keyring has no slot \(number)."
        case .full: "The keyring has as many slots as it can have. Remove one."
        case .lastSlot:
            "This is the last slot, without which nobody opens the database. Add another one first, or "
                + "destroy the keyring."
        case .invalidName:
            "The name of a slot has at most 64 bytes, and nothing that cannot be shown on one line."
        case .invalidRecoveryKey:
            "This is not a recovery key: a character is wrong, missing or too many. Compare it with the "
                + "sheet."
        case .invalidRecipient:
            "This is not a recipient or an identity, or a character of it is wrong."
        case .command(let program, let problem): "The program '\(program)' \(words(of: problem))"
        case .changed: "Another process has changed the keyring meanwhile. Nothing was changed; try again."
        case .olderKeyring(let generation, let present):
            "The keyring to be put back is older (generation \(generation)) than the present one "
                + "(\(present)): slots that were removed since would open the database again."
        case .rotationUnderWay:
            "A rotation of the data key was interrupted. Rotate it again, which completes it, before the "
                + "keyring is changed."
        case .changeUnderWay:
            "Another change of the keyring is under way, or a rotation of the data key. Nothing was changed; "
                + "try again when it has ended."
        }
    }

    private func words(of problem: EncryptionFailure.KeyCommandProblem) -> String {
        switch problem {
        case .notStarted(let code): "cannot be run: \(systemWords(code))."
        case .unreadable(let code): "cannot be read from: \(systemWords(code))."
        case .outOfTime(let seconds):
            "had not ended after \(seconds) seconds, and was ended. Give it more time, or look why it waits."
        case .failed(let code): "ended with exit code \(code)."
        case .killed(let signal): "was ended by signal \(signal)."
        case .endUnknown: "has ended, and this process ignores how. Do not ignore SIGCHLD."
        case .noAnswer:
            "printed no answer: a line 'secret' with 64 hexadecimal digits, and perhaps a line 'token'."
        case .answersDiffer:
            "answered another secret when it was asked again: nobody would open the slot. Nothing was "
                + "changed."
        }
    }

    private func systemWords(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
