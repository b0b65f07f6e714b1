internal import Coffer
internal import KeyMaterial

/// The file that `coffer keygen --recipient` writes.
enum IdentityFile {
    /// Writes an identity to a new file and prints its recipient.
    static func make(_ path: String, _ session: Session) throws -> ExitStatus {
        let identity = try DatabaseKeyring.Identity.random()
        let text = unsafe identity.withUnsafeText { unsafe SharedSecret(SecretBytes(copying: $0)) }
        try NewFile.write(text.bytes.line(), to: path)
        session.reporter.result(
            ["path": path, "key_type": "identity", "recipient": identity.recipient.description, "code": 0],
            text: [identity.recipient.description], isAnswer: true)
        session.reporter.note(
            "\(path): the identity, readable by you only; use it with --unlock-type identity")
        return .done
    }
}
