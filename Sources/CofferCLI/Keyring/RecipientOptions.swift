internal import ArgumentParser
internal import Coffer
internal import KeyMaterial

/// For whom a copy is made: who has only this can make it, and not read it.
struct RecipientOptions: ParsableArguments {
    @Option(
        name: .customLong("recipient"),
        help: ArgumentHelp(
            "Give the result a keyring that the identity of this recipient opens (repeatable): its text, or "
                + "a file with it.",
            valueName: "recipient"))
    var texts: [String] = []

    var isGiven: Bool { !texts.isEmpty }

    /// - Throws: what recipients cannot be given with.
    func checkFits(_ newKey: NewKeyOptions, keeps: Bool) throws {
        guard isGiven else { return }
        if try newKey.isGiven {
            throw ValidationError(
                "A copy for recipients has a key that nobody is told: give no --new-key-....")
        }
        if keeps {
            throw ValidationError(
                "Backups that only recipients open are proved by nobody here, and so not removed: give no "
                    + "--keep."
            )
        }
    }

    /// One slot for each.
    func slots() throws -> [DatabaseKeyring.NewSlot] {
        try texts.map { text in
            if let recipient = try? DatabaseKeyring.Recipient(text) { return .recipient(recipient) }
            if text.hasPrefix("coffer-") {
                // It may be an identity, which is a secret: messages are kept and forwarded.
                throw Failure.usage(
                    "A text beginning with 'coffer-' was given for a recipient, and is none: a character is "
                        + "wrong, or it is an identity. If it is one, it is no secret any more: make "
                        + "another one.")
            }
            guard let file = try? Descriptor.reading(text, name: "The recipient") else {
                throw Failure.usage(
                    "'\(text)' is no recipient, and no file of one. 'coffer keygen --recipient' makes one.")
            }
            let content = try SecretInput.readAll(file, name: "'\(text)'").withUnsafeBytes {
                unsafe String(decoding: $0, as: UTF8.self)
            }
            guard let recipient = try? DatabaseKeyring.Recipient(content) else {
                throw Failure(
                    .keyRejected, "invalid_recipient",
                    "'\(text)' holds no recipient. 'coffer keygen --recipient' makes one.")
            }
            return .recipient(recipient)
        }
    }
}
