internal import Glibc
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// A program that prints a key, such as the client of a secret store.
///
/// It gets nothing of the tool's but its standard error: no other descriptor, and none of the variables that
/// hold secrets.
enum KeyCommand {
    private static let turn = Mutex(())

    /// Runs a program without a shell, and takes what it prints. Its standard input is empty; what it says
    /// goes to the standard error.
    ///
    /// - Parameter timeout: after so many seconds it is ended, and there is no key.
    static func read(_ words: [String], timeout: Double) throws(Failure) -> SecretBytes {
        guard let program = words.first else { throw Failure.usage("The command is empty.") }
        // Who has started the tool may ignore the ends of children, and then nobody would know whether a
        // program has failed.
        _ = signal(SIGCHLD, SIG_DFL)
        // One at a time: programs of secret stores may ask at the same terminal.
        let secret = try turn.withLock { _ throws(Failure) in
            do throws(SecretProgram.Problem) {
                return SharedSecret(try SecretProgram.run(words, timeout: timeout))
            } catch {
                throw failure(error, program, timeout)
            }
        }
        return secret.bytes.copy()
    }

    private static func failure(_ problem: SecretProgram.Problem, _ program: String, _ timeout: Double)
        -> Failure
    {
        let words: String
        switch problem {
        case .notStarted(let code): words = "cannot be run: \(SystemError.words(code))."
        case .notRead(let code): words = "cannot be read from: \(SystemError.words(code))."
        case .tooLong:
            let limit = TextLayout.grouped(SecretFile.limit)
            return Failure(
                .keyRejected, "invalid_key",
                "The key command '\(program)' has more than \(limit) bytes, which no key has.")
        case .outOfTime:
            let seconds = TextLayout.seconds(.seconds(timeout))
            words = "gave no key in \(seconds), and was ended. Give it more time with --key-timeout."
        case .failed(let code): words = "ended with exit code \(code)."
        case .killed(let signal): words = "ended by signal \(signal)."
        case .endUnknown:
            words = "has ended, and this process ignores how (SIGCHLD). Start coffer without that."
        }
        return Failure(.unavailable, "key_command", "The key command '\(program)' \(words)")
    }
}
