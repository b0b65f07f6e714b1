public import Foundation
internal import KeyMaterial

extension Database {
    /// Encrypts the database file with another passphrase. The connection continues with it.
    ///
    /// This is `rotateKey(to:options:progress:)` for a single connection, and as safe: a copy with the new
    /// key is proved and replaces the file. If no copy can be made (for example, for lack of space, or
    /// because the file has several names), the file is encrypted in place. The file must not be in use. With
    /// a pool, call this in `barrierWriteWithoutTransaction`, without live snapshots. With a queue, it may
    /// also be the first statement in a transaction, such as in `write`; the transaction is ended before the
    /// change and begun again after it. Text like `x'...'` with 64 hexadecimal digits is a raw key, as in
    /// SQLCipher.
    ///
    /// When this method returns, the new passphrase has been verified. If it throws, the old passphrase still
    /// opens the file, unless the error says otherwise. If the process is killed in between, one of the two
    /// opens the file.
    ///
    /// - Throws: `SQLITE_MISUSE` for databases that are not encrypted files, and inside a transaction if
    ///   other statements have run before or there are readers; `SQLITE_BUSY` if other connections or
    ///   statements are active; `SQLITE_FULL` and other errors of the file.
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
        // The transaction was empty, so its end is not reported to observers.
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
            // The file already has the requested passphrase.
            if error.reason == .sameKey { return }
            throw error.databaseError
        }
    }
}

extension DatabaseFileError {
    /// True if the change does not need a copy and can be made in place instead.
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
