public import Foundation
internal import KeyMaterial

extension Database {
    /// Encrypts the database file with another passphrase. The connection goes on with it.
    ///
    /// It is `rotateKey(to:options:progress:)` for one connection, and as safe: a copy with the new key is
    /// proved and takes the place of the file; where no copy can be made, for lack of room or because the
    /// file has several names, the file is encrypted in its place. The file must not be in use: a pool has to
    /// call this in `barrierWriteWithoutTransaction`, without live snapshots. In a queue, it may also be the
    /// first thing in a transaction, such as that of `write`, which is ended before and begun again after it.
    /// Text like `x'...'` with 64 hexadecimal digits is a raw key, as in SQLCipher.
    ///
    /// When this method returns, the new passphrase was proved. When it throws, the old one still opens the
    /// file, unless the error says otherwise; a kill in the middle leaves one of the two.
    /// - Throws: `SQLITE_MISUSE` for databases that are not encrypted files, and inside of a transaction
    ///   where other statements have run before or there are readers; `SQLITE_BUSY` if other connections or
    ///   statements are alive; `SQLITE_FULL` and other errors of the file.
    public func changePassphrase(_ passphrase: String) throws {
        try changeKey(to: DatabaseKey(sqlCipherText: SecretBytes(utf8: passphrase)))
    }

    /// Encrypts the database file with another passphrase, given as bytes: see
    /// ``changePassphrase(_:)-(String)``.
    public func changePassphrase(_ passphrase: Data) throws {
        try changeKey(to: DatabaseKey(sqlCipherText: SecretBytes(passphrase)))
    }

    private func changeKey(to key: DatabaseKey) throws {
        guard isTransactionUntouched, !configuration.hasReadersBesideWriter, !isReadingOnly else {
            return try changeKeyOutsideOfTransactions(to: key)
        }
        // No observer has to be notified of the end of a transaction in which nothing has happened.
        try observerNotifier.unobserved {
            try restartingTransaction { try changeKeyOutsideOfTransactions(to: key) }
        }
    }

    private func changeKeyOutsideOfTransactions(to key: DatabaseKey) throws {
        do {
            do {
                _ = try rotateKey(
                    to: key, options: DatabaseFile.RotationOptions(), progress: ProgressReport(nil))
            } catch let error as DatabaseFileError where error.isOfCopyOnly {
                var options = DatabaseFile.RotationOptions()
                options.method = .inPlace
                _ = try rotateKey(to: key, options: options, progress: ProgressReport(nil))
            }
        } catch let error as DatabaseFileError {
            // The passphrase that the file has is the one that was asked for.
            if error.reason == .sameKey { return }
            throw error.databaseError
        }
    }
}

extension DatabaseFileError {
    /// Whether the work could be done without a copy.
    fileprivate var isOfCopyOnly: Bool {
        guard !isPublished else { return false }
        switch reason {
        case .unsafeFile(.hardLinks), .unsafeFile(.mountPoint), .unsafeFile(.directory), .unsafeFile(.owner),
            .diskFull, .pathTooLong:
            return true
        default: return false
        }
    }
}
