internal import ArgumentParser
internal import Coffer

/// A command that works on the keyring of one file.
protocol KeyringOperation: FileOperation {}

extension KeyringOperation {
    var keyring: DatabaseKeyring { DatabaseKeyring(databasePath: file) }

    /// Returns the secret that opens the keyring. Checks that the keyring exists before it is read.
    func secret(_ unlock: UnlockOptions, _ session: Session) throws -> DatabaseKeyring.Secret {
        _ = try keyring.inspect()
        return try session.keys.unlocking(unlock, file)
    }

    /// Makes a change, records it in the audit log, and reports it.
    func change(
        _ session: Session, _ trail: AuditTrail, _ words: String,
        _ body: () throws -> Void
    ) throws -> ExitStatus {
        try trail.record(file) { _ in
            try body()
            return true
        }
        session.reporter.result(
            ["path": file, "keyring": keyring.path, "changed": true, "code": 0], text: ["\(file): \(words)"])
        return .done
    }
}
