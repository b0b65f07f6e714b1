internal import ArgumentParser
internal import Coffer
internal import KeyMaterial
internal import SystemCalls

struct KeygenCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "keygen [options]", abstract: "Create a random key.",
        discussion: """
            A raw key has 256 bits, for programs; use it with --key file:PATH. Words are a passphrase for \
            people: each consists of syllables and has 16 bits of entropy. With --out the key goes to a new \
            file that only you can read; otherwise to the standard output.

            EXAMPLES
              coffer keygen --out app.key
              coffer keygen --words 8
              coffer keygen --recipient --out office.identity > office.pub
            """)

    @Option(help: .value("number", "Create a passphrase of so many words, from 5 to 32."))
    var words: Int?

    @Flag(help: "Create a raw key with a salt.")
    var withSalt = false

    @Flag(help: "Write a raw key as bytes, not as hexadecimal digits; needs --out.")
    var binary = false

    @Flag(
        help: """
            Create an identity, which opens files for its recipient; needs --out. \
            The recipient is not secret, and is printed.
            """)
    var recipient = false

    @Option(
        name: .customLong("out"), help: .value("file", "The file to create; never overwritten."),
        completion: .file())
    var file: String?

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let words, !(5...32).contains(words) {
            throw ValidationError("--words takes a number from 5 (80 bits) to 32.")
        }
        if words != nil && (withSalt || binary) {
            throw ValidationError("Words are a passphrase: --with-salt and --binary are for raw keys.")
        }
        if recipient && (words != nil || withSalt || binary || file == nil) {
            throw ValidationError(
                "--recipient creates an identity in a new file: give --out, and no other kind of key.")
        }
        if let file { try FileNames.checkIsNoDash(file, "the key file") }
        if file == nil && binary { throw ValidationError("--binary needs --out.") }
        // Programs store and forward JSON, so it must not contain a secret.
        if file == nil && output.json {
            throw ValidationError("With --json the key must go to a file: give --out.")
        }
    }

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([:])
        if recipient, let file { return try makeIdentity(file, session) }
        let key: SecretBytes
        do throws(RandomnessFailure) {
            key = try make()
        } catch {
            throw Failure(Errno(error.errno), "The system's random generator does not answer")
        }
        let (kind, bits) =
            words.map { ("passphrase", $0 * WordPassphrase.bitsPerWord) } ?? (
                withSalt ? "raw+salt" : "raw", 256
            )
        guard let file else {
            // Written directly from the wiped memory, without a copy in a string.
            do throws(Errno) {
                try key.withUnsafeBytes { bytes throws(Errno) in
                    try unsafe SecretOutput.write(bytes)
                }
            } catch {
                throw Failure(error, "The key cannot be written")
            }
            if let mode = SecretOutput.modeForOthers {
                session.reporter.warning(
                    "The key went to a file that others can read (mode \(mode)). Replace it: --out FILE "
                        + "creates one that only you can read.")
            }
            let use =
                kind == "passphrase"
                ? "" : "; put '\(kind):' before its source, as in --key \(kind):stdin"
            session.reporter.note("\(bits) bits\(use)")
            return .done
        }
        try NewFile.write(key, to: file)
        session.reporter.result(
            ["path": file, "key_type": kind, "bits": bits, "code": 0],
            text: [
                kind == "passphrase"
                    ? "\(file): a passphrase of \(bits) bits, readable by you only"
                    : "\(file): a \(kind) key of \(bits) bits, readable by you only; use it with "
                        + "--key \(binary ? kind + ":" : "")file:\(file)"
            ])
        return .done
    }

    /// Writes an identity to a new file and prints its recipient.
    private func makeIdentity(_ path: String, _ session: Session) throws -> ExitStatus {
        let identity = try DatabaseKeyring.Identity.random()
        let text = unsafe identity.withUnsafeText { unsafe SharedSecret(SecretBytes(copying: $0)) }
        try NewFile.write(text.bytes.line(), to: path)
        let recipient = identity.recipient.description
        session.reporter.result(
            ["path": path, "key_type": "identity", "recipient": recipient, "code": 0], text: [recipient],
            isAnswer: true)
        session.reporter.note(
            "\(path): the identity, readable by you only; use it with --unlock file:\(path)")
        return .done
    }

    private func make() throws(RandomnessFailure) -> SecretBytes {
        if let words {
            return WordPassphrase.text(from: try SecretBytes.random(count: 2 * words)).line()
        }
        let key = try SecretBytes.random(count: withSalt ? 48 : 32)
        if binary { return key }
        var digits = SecretBytes(count: 2 * key.count)
        key.withUnsafeBytes { key in digits.withUnsafeMutableBytes { unsafe SecretHex.write(key, to: $0) } }
        return digits.line()
    }
}
