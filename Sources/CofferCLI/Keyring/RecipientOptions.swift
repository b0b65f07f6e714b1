internal import ArgumentParser
internal import Coffer
internal import KeyMaterial
internal import SystemCalls

/// The recipients of a copy. A recipient alone is enough to make the copy, but not to read it.
struct RecipientOptions: ParsableArguments {
    @Option(
        name: .customLong("recipient"),
        help: .value(
            "recipient",
            "A recipient, or a file with one, whose identity is to open the file (repeatable)."))
    var texts: [String] = []

    var isGiven: Bool { !texts.isEmpty }

    /// - Throws: `ValidationError` if recipients conflict with another option.
    func checkFits(_ newKey: NewKeyOptions) throws {
        if try isGiven && newKey.isGiven {
            throw ValidationError(
                "A copy for recipients gets a random key. Omit --new-key.")
        }
    }

    /// Returns one slot for each recipient.
    func slots() throws -> [DatabaseKeyring.NewSlot] {
        try texts.map { text in
            if let recipient = try? DatabaseKeyring.Recipient(text) { return .recipient(recipient) }
            if text.hasPrefix("coffer-") {
                // The text may be an identity, which is a secret, and messages are stored and forwarded.
                throw Failure.usage(
                    "The recipient that begins with 'coffer-' is not valid: it has a wrong character, or is "
                        + "an identity. An identity given as an argument is no longer secret: create "
                        + "another one.")
            }
            guard let file = try? Descriptor.reading(text, name: "The recipient") else {
                throw Failure.usage(
                    "'\(text)' is not a recipient or a file with one: see 'coffer keygen --recipient'.")
            }
            let content = try SecretInput.readAll(file, name: "'\(text)'").withUnsafeBytes {
                unsafe String(decoding: $0, as: UTF8.self)
            }
            guard let recipient = try? DatabaseKeyring.Recipient(content) else {
                throw Failure(
                    .keyRejected, "invalid_recipient",
                    "'\(text)' contains no recipient. 'coffer keygen --recipient' creates one.")
            }
            return .recipient(recipient)
        }
    }
}
