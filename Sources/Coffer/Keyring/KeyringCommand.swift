internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

extension DatabaseKeyring {
    /// A program that opens slots, such as the client of a key service, of a TPM or of an HSM.
    ///
    /// ```swift
    /// let service = DatabaseKeyring.Command(programPath, ["--region", "eu-1"], timeout: 10)
    /// try keyring.add(.secret(.command(service), name: "key service"), unlockedBy: .passphrase(passphrase))
    /// config.key = .keyring(unlockedBy: .command(service))
    /// ```
    ///
    /// The keyring does not name the program, so write access to the keyring cannot cause any program to be
    /// run. A slot has a random challenge, and a token that the program returned when the slot was created,
    /// such as a key wrapped by a key service. The program gets both on its standard input, and answers with
    /// 32 secret bytes; the article <doc:KeyringFormat> describes the lines. No shell is involved, and no
    /// secret is passed in arguments or the environment.
    ///
    /// The program inherits the environment and the standard error of this process, and all descriptors that
    /// are not closed on `exec`.
    public struct Command: Sendable, Hashable {
        /// The path of the program. Without a slash, it is searched in `PATH`. Use an absolute path if others
        /// can set the environment.
        public var program: String

        /// The arguments. Other users can read them, so they must not contain secrets.
        public var arguments: [String]

        /// The number of seconds after which the program is killed.
        public var timeout: Double

        /// Creates a command.
        ///
        /// - Parameters:
        ///   - program: the path of the program.
        ///   - arguments: its arguments, which are passed without shell expansion.
        ///   - timeout: the limit in seconds.
        public init(_ program: String, _ arguments: [String] = [], timeout: Double = 60) {
            self.program = program
            self.arguments = arguments
            self.timeout = timeout
        }
    }
}

/// A program that opens slots, and its answers (invariant "Derived once"). One answer serves all queues and
/// pools of a configuration.
final class ProgramSecret: Sendable {
    private typealias Answer = (secret: SharedSecret, token: [UInt8])

    private let command: DatabaseKeyring.Command
    private let keys = Mutex<[(challenge: [UInt8], token: [UInt8], key: SharedSecret)]>([])

    init(_ command: DatabaseKeyring.Command) {
        self.command = command
    }

    /// Returns the private key of a slot. Other threads wait while the program runs.
    func privateKey(_ way: KeyringDocument.Way, challenge: [UInt8], token: [UInt8]) throws(KeyError)
        -> SharedSecret
    {
        try keys.withLock { keys throws(KeyError) in
            if let known = keys.first(where: { $0.challenge == challenge && $0.token == token }) {
                return known.key
            }
            let answer = try ask("open", challenge, token)
            let key = try cryptographically { () throws(CryptographyFailure) in
                SharedSecret(try KeyringCode.privateKey(answer.secret.bytes, way))
            }
            keys.append((challenge, token, key))
            if keys.count > KeyringDocument.slotLimit { keys.removeFirst() }
            return key
        }
    }

    /// Returns the contents of a new slot, after checking that the program can open it.
    func newWay() throws(KeyError) -> KeyringDocument.Way {
        let challenge = try SystemRandomness.bytesOfKey(count: KeyringDocument.challengeSize)
        let made = try ask("make", challenge, [])
        let opened = try ask("open", challenge, made.token)
        guard made.secret.bytes == opened.secret.bytes else { throw problem(.answersDiffer) }
        return .command(challenge: challenge, token: made.token)
    }

    private func ask(_ word: String, _ challenge: [UInt8], _ token: [UInt8]) throws(KeyError) -> Answer {
        var request = "coffer keyring command 1\n\(word)\nchallenge \(challenge.hexadecimal)\n"
        if !token.isEmpty { request += "token \(token.hexadecimal)\n" }
        let answer: SecretBytes
        do throws(SecretProgram.Problem) {
            answer = try SecretProgram.run(
                [command.program] + command.arguments, request: Array(request.utf8), timeout: command.timeout)
        } catch {
            switch error {
            case .notStarted(let error): throw problem(.notStarted(errno: error.code))
            case .notRead(let error): throw problem(.unreadable(errno: error.code))
            case .outOfTime: throw problem(.outOfTime(seconds: command.timeout))
            case .failed(let code): throw problem(.failed(exitCode: code))
            case .killed(let signal): throw problem(.killed(signal: signal))
            case .endUnknown: throw problem(.endUnknown)
            case .tooLong: throw problem(.noAnswer)
            }
        }
        guard let read = ProgramSecret.read(answer) else { throw problem(.noAnswer) }
        return read
    }

    private func problem(_ problem: EncryptionFailure.KeyCommandProblem) -> KeyError {
        .failure(.keyring(path: "", .command(program: command.program, problem)))
    }

    /// Parses a line `secret` and an optional line `token`; returns nil for anything else.
    private static func read(_ answer: borrowing SecretBytes) -> Answer? {
        let label = Array("secret ".utf8)
        var secret = SecretBytes(count: 32)
        let end = label.count + 2 * secret.count
        guard answer.count >= end else { return nil }
        let rest: [UInt8]? = answer.withUnsafeBytes { bytes in
            guard unsafe bytes.starts(with: label) else { return nil }
            let digits = unsafe UnsafeRawBufferPointer(rebasing: bytes[label.count..<end])
            guard secret.withUnsafeMutableBytes({ unsafe SecretHex.read(digits, to: $0) }) else { return nil }
            return unsafe Array(bytes[end...])
        }
        // A device that has failed may answer zeros, which are not a secret.
        guard let rest, !(secret == SecretBytes(count: 32)), let token = token(of: rest) else { return nil }
        return (SharedSecret(secret), token)
    }

    /// Parses the token after the secret; empty if there is none, nil if it is malformed.
    private static func token(of rest: [UInt8]) -> [UInt8]? {
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The text before the first newline is the rest of the secret's line. The last line may end with a
        // newline.
        guard let first = lines.first, first.isEmpty else { return nil }
        lines.removeFirst()
        if let last = lines.last, last.isEmpty { lines.removeLast() }
        guard let line = lines.first else { return [] }
        let label = Array("token ".utf8)
        guard lines.count == 1, line.starts(with: label) else { return nil }
        let digits = Array(line.dropFirst(label.count))
        guard digits.count.isMultiple(of: 2), (1...KeyringDocument.tokenLimit).contains(digits.count / 2)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: digits.count / 2)
        let isRead = unsafe digits.withUnsafeBytes { digits in
            unsafe bytes.withUnsafeMutableBytes { unsafe SecretHex.read(digits, to: $0) }
        }
        return isRead ? bytes : nil
    }
}
