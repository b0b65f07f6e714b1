internal import Coffer

extension Failure {
    /// Returns the exit status for a problem with a keyring.
    static func status(of problem: EncryptionFailure.KeyringProblem) -> ExitStatus {
        switch problem {
        case .missing: .inputMissing
        case .unreadable: .inputOutput
        case .notAFile, .tooLong, .unsupportedVersion, .damaged, .copiesDiffer, .notAuthentic, .ofAnotherFile,
            .olderThanFile,
            .newerThanFile:
            .badData
        case .ofAnotherUser, .writableByOthers, .hardLinks: .unsafeConfiguration
        case .noMatchingSlot, .invalidRecoveryKey, .invalidRecipient: .keyRejected
        case .noPlace, .noSlot, .full, .lastSlot, .invalidName, .olderKeyring: .usage
        case .command: .unavailable
        case .changed, .changeUnderWay: .busy
        case .rotationUnderWay: .runAgain
        }
    }

    /// Returns the keyword for scripts.
    static func reason(of problem: EncryptionFailure.KeyringProblem) -> String {
        switch problem {
        case .missing: "keyring_missing"
        case .unreadable: "keyring_unreadable"
        case .notAFile, .tooLong, .damaged, .copiesDiffer: "keyring_damaged"
        case .ofAnotherUser, .writableByOthers, .hardLinks: "keyring_not_own"
        case .unsupportedVersion: "keyring_version"
        case .notAuthentic: "keyring_not_authentic"
        case .noMatchingSlot: "wrong_key"
        case .ofAnotherFile: "keyring_of_another_file"
        case .olderThanFile: "keyring_older"
        case .newerThanFile: "keyring_newer"
        case .noPlace: "keyring_place"
        case .noSlot: "no_slot"
        case .full: "keyring_full"
        case .lastSlot: "last_slot"
        case .invalidName: "slot_name"
        case .invalidRecoveryKey: "invalid_recovery_key"
        case .invalidRecipient: "invalid_recipient"
        case .command: "key_command"
        case .changed: "keyring_changed"
        case .olderKeyring: "older_keyring"
        case .rotationUnderWay: "rotation_under_way"
        case .changeUnderWay: "busy"
        }
    }
}
