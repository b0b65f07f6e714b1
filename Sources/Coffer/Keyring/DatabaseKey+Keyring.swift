internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseKey {
    /// The data key of the keyring beside the database: see ``DatabaseKeyring``.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.key = .keyring(unlockedBy: .passphrase(passphrase))
    /// let pool = try DatabasePool(path: path, configuration: config)
    /// ```
    ///
    /// The keyring is read, opened and proved when a database is opened for the first time: once for all
    /// queues and pools that are made from one configuration. A passphrase costs half a second then, a raw
    /// key or an identity one to two milliseconds. An empty file, or a new one, gets the data key and its
    /// salt. No page of it confirms the keyring, which therefore has to be a file of this user or of the
    /// superuser that no other user can write to: opening fails with
    /// ``EncryptionFailure/KeyringProblem/ofAnotherUser(userID:)`` otherwise.
    ///
    /// A key of a keyring belongs to one file. It is not the key of copies: give them one of their own. A
    /// database that is to leave its keyring is rotated from ``DatabaseKeyring/exportedKey(unlockedBy:)``;
    /// ``DatabaseFile/rotate(from:to:options:progress:)`` refuses to rotate from this key, and changes
    /// nothing.
    public static func keyring(unlockedBy secret: DatabaseKeyring.Secret) -> DatabaseKey {
        DatabaseKey(
            .located(
                LocatedKey { (path, fileSalt) throws(KeyError) in
                    let file = DatabaseKeyring(databasePath: path).file
                    if fileSalt == DatabaseHeader.magic { throw .failure(.plaintextFile) }
                    // A copy in the making has another name, or none.
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
