internal import Glibc
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

/// A program that prints a key, such as the client of a secret store.
///
/// It inherits only the standard error of the tool: no other descriptors, and none of the variables that
/// contain secrets.
enum KeyCommand {
    private static let turn = Mutex(())

    /// Runs a program without a shell and returns its output. The program's standard input is empty, and its
    /// messages go to standard error.
    ///
    /// - Parameter timeout: the time after which the program is ended and no key is returned, in seconds.
    static func read(_ words: [String], timeout: Double) throws(Failure) -> SecretBytes {
        guard let program = words.first else { throw Failure.usage("The command is empty.") }
        // The parent process may have set SIGCHLD to be ignored, which would hide the exit status of the
        // program.
        _ = signal(SIGCHLD, SIG_DFL)
        // One at a time: clients of secret stores may prompt at the same terminal.
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
        case .notStarted(let error): words = "cannot be run: \(error.words)."
        case .notRead(let error): words = "cannot be read from: \(error.words)."
        case .tooLong:
            let limit = TextLayout.grouped(SecretFile.limit)
            return Failure(
                .keyRejected, "invalid_key",
                "The key command '\(program)' printed more than \(limit) bytes, the key limit.")
        case .outOfTime:
            let seconds = TextLayout.seconds(.seconds(timeout))
            words = "gave no key within \(seconds) and was stopped. Allow more time with --key-timeout."
        case .failed(let code): words = "ended with exit code \(code)."
        case .killed(let signal): words = "ended by signal \(signal)."
        case .endUnknown:
            words = "ended with an unknown exit code, because SIGCHLD is ignored. Start coffer without that."
        }
        return Failure(.unavailable, "key_command", "The key command '\(program)' \(words)")
    }
}
