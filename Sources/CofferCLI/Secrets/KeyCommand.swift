internal import Glibc
internal import KeyMaterial
internal import Synchronization

/// A program that prints a key, such as the client of a secret store.
enum KeyCommand {
    private static let turn = Mutex(())

    /// Runs a program without a shell, and takes what it prints. Its standard input is empty; what it says goes to the standard error.
    static func read(_ words: [String]) throws(Failure) -> SecretBytes {
        // One at a time: a program that starts at the same moment could inherit the pipe of another and keep it open.
        let secret = try turn.withLock { _ throws(Failure) in SharedSecret(try run(words)) }
        return secret.bytes.copy()
    }

    private static func run(_ words: [String]) throws(Failure) -> SecretBytes {
        guard let program = words.first else { throw Failure.usage("The command is empty.") }
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(SystemError.last, "No pipe for the key command") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = Descriptor(owning: ends[0])
        let process: pid_t
        do {
            // Closed here once the program has it, so that its end is the end of the pipe.
            let writing = Descriptor(owning: ends[1])
            process = try start(program, words, output: writing.number)
        }
        let secret: SecretBytes
        do throws(Failure) {
            secret = try SecretInput.readAll(reading, name: "The key command '\(program)'")
        } catch {
            kill(process, SIGKILL)
            _ = waitForEnd(of: process)
            throw error
        }
        let status = waitForEnd(of: process)
        guard status == 0 else {
            let end = status & 0x7f == 0 ? "with exit code \((status >> 8) & 0xff)" : "by signal \(status & 0x7f)"
            throw Failure(.unavailable, "key_command", "The key command '\(program)' ended \(end).")
        }
        return secret
    }

    private static func start(_ program: String, _ words: [String], output: CInt) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Ctrl-C is for the program too: it must not inherit that this process blocks and ignores signals.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var ignored = sigset_t()
        unsafe sigemptyset(&ignored)
        unsafe sigaddset(&ignored, SIGPIPE)
        unsafe sigaddset(&ignored, SIGXFSZ)
        unsafe posix_spawnattr_setsigdefault(&attributes, &ignored)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in words.indices { unsafe free(arguments[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawnp(&process, program, &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            throw Failure(.unavailable, "key_command", "The key command '\(program)' cannot be run: \(SystemError.words(code)).")
        }
        return process
    }

    private static func waitForEnd(of process: pid_t) -> CInt {
        var status: CInt = 0
        _ = Retry.onInterrupt { unsafe waitpid(process, &status, 0) }
        return status
    }
}
