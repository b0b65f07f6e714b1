internal import Coffer

extension Failure {
    /// Returns the exit status for a problem with a keyring, and the keyword for scripts.
    static func meaning(of problem: EncryptionFailure.KeyringProblem) -> (ExitStatus, String) {
        switch problem {
        case .missing: (.inputMissing, "keyring_missing")
        case .unreadable: (.inputOutput, "keyring_unreadable")
        case .notAFile, .tooLong, .damaged, .copiesDiffer: (.badData, "keyring_damaged")
        case .unsupportedVersion: (.badData, "keyring_version")
        case .notAuthentic: (.badData, "keyring_not_authentic")
        case .ofAnotherFile: (.badData, "keyring_of_another_file")
        case .olderThanFile: (.badData, "keyring_older")
        case .newerThanFile: (.badData, "keyring_newer")
        case .ofAnotherUser, .writableByOthers, .hardLinks: (.unsafeConfiguration, "keyring_not_own")
        case .noMatchingSlot: (.keyRejected, "wrong_key")
        case .invalidRecoveryKey: (.keyRejected, "invalid_recovery_key")
        case .invalidRecipient: (.keyRejected, "invalid_recipient")
        case .noPlace: (.usage, "keyring_place")
        case .noSlot: (.usage, "no_slot")
        case .full: (.usage, "keyring_full")
        case .lastSlot: (.usage, "last_slot")
        case .invalidName: (.usage, "slot_name")
        case .olderKeyring: (.usage, "older_keyring")
        case .command: (.unavailable, "key_command")
        case .changed: (.busy, "keyring_changed")
        case .changeUnderWay: (.busy, "busy")
        case .rotationUnderWay: (.runAgain, "rotation_under_way")
        }
    }
}

extension Failure {
    /// The failure of a rotation of a file with a keyring, which would be left with the old key.
    static let rotationOfKeyring = Failure.usage(
        "The file has a keyring. Rotate its data key with 'coffer key rotate'.")
}
