internal import SQLCipherBridge
internal import SystemCalls

extension DatabaseKey {
    /// Returns the data key of the keyring next to the database: see ``DatabaseKeyring``.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.key = .keyring(unlockedBy: .passphrase(passphrase))
    /// let pool = try DatabasePool(path: path, configuration: config)
    /// ```
    ///
    /// The keyring is read, opened and verified when a database is first opened, once for all queues and
    /// pools created from one configuration. This takes half a second for a passphrase, and one to two
    /// milliseconds for a raw key or an identity. An empty or new file gets the data key and its salt. No
    /// page of such a file confirms the keyring, so the keyring must belong to this user or the superuser and
    /// must not be writable by other users: otherwise, opening fails with
    /// ``EncryptionFailure/KeyringProblem/ofAnotherUser(userID:)``, `writableByOthers` or `hardLinks`.
    ///
    /// A key from a keyring belongs to one file and cannot be used for copies: give each copy a key of its
    /// own. To give a database a key without a keyring, rotate it from
    /// ``DatabaseKeyring/exportedKey(unlockedBy:)``; ``DatabaseFile/rotate(from:to:options:progress:)``
    /// refuses to rotate from this key, and changes nothing.
    public static func keyring(unlockedBy secret: DatabaseKeyring.Secret) -> DatabaseKey {
        DatabaseKey(
            .located(
                LocatedKey { (path, fileSalt) throws(KeyError) in
                    let file = try KeyringFile(ofDatabase: path)
                    if fileSalt == DatabaseHeader.magic { throw .failure(.plaintextFile) }
                    // A copy that is being created has another name, or none.
                    guard let status = try? SystemFile.status(path, followsLinks: true), status.isRegular
                    else {
                        throw file.problem(.noPlace)
                    }
                    try secret.check(file)
                    let document =
                        try fileSalt.isEmpty ? file.trustedDocument() : file.document().document
                    let unlocked = try UnlockedKeyring.unlock(document, by: secret, file)
                    let epoch =
                        fileSalt.isEmpty
                        ? unlocked.document.epochs[0] : try unlocked.epoch(ofSalt: fileSalt, file)
                    guard let key = unlocked.dataKey(epoch) else { throw file.problem(.ofAnotherFile) }
                    let salt = try cryptographically { () throws(CryptographyFailure) in
                        try KeyringCode.salt(id: unlocked.document.id, epoch: epoch)
                    }
                    return (key, salt)
                }))
    }
}
