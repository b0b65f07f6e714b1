internal import Glibc
internal import KeyMaterial
internal import Synchronization

/// A program that prints a key, such as the client of a secret store.
///
/// It gets nothing of the tool's but its standard error: no other descriptor, and none of the variables that hold secrets.
enum KeyCommand {
    private static let turn = Mutex(())

    /// Runs a program without a shell, and takes what it prints. Its standard input is empty; what it says goes to the standard error.
    ///
    /// - Parameter timeout: after so many seconds it is ended, and there is no key.
    static func read(_ words: [String], timeout: Double) throws(Failure) -> SecretBytes {
        // One at a time: programs of secret stores may ask at the same terminal.
        let secret = try turn.withLock { _ throws(Failure) in SharedSecret(try run(words, timeout: timeout)) }
        return secret.bytes.copy()
    }

    private static func run(_ words: [String], timeout: Double) throws(Failure) -> SecretBytes {
        guard let program = words.first else { throw Failure.usage("The command is empty.") }
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(SystemError.last, "No pipe for the key command") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = Descriptor(owning: ends[0])
        let process: ChildProcess
        do {
            // Closed here once the program has it, so that its end is the end of the pipe.
            let writing = Descriptor(owning: ends[1])
            process = try start(program, words, output: writing.number)
        }
        let secret: SecretBytes
        do throws(Failure) {
            secret = try output(of: process, from: reading, program, timeout: timeout)
        } catch {
            process.end()
            throw error
        }
        let status = process.wait()
        guard status == 0 else {
            let end = status & 0x7f == 0 ? "with exit code \((status >> 8) & 0xff)" : "by signal \(status & 0x7f)"
            throw Failure(.unavailable, "key_command", "The key command '\(program)' ended \(end).")
        }
        return secret
    }

    /// What the program prints until it ends. A program that it has left behind may keep the pipe open: nobody waits for that one.
    private static func output(
        of process: ChildProcess, from pipe: borrowing Descriptor, _ program: String, timeout: Double
    ) throws(Failure) -> SecretBytes {
        let deadline = ContinuousClock.now + .seconds(timeout)
        var input = SecretInput.Buffer(name: "The key command '\(program)'")
        while true {
            let hasEnded = process.hasEnded
            var request = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
            // What it has printed before its end is there by now.
            let ready = unsafe poll(&request, 1, hasEnded ? 0 : 50)
            if ready > 0 {
                guard try input.read(pipe) else { return input.secret }
            } else if hasEnded {
                return input.secret
            }
            guard ContinuousClock.now < deadline else {
                let seconds = TextLayout.seconds(.seconds(timeout))
                throw Failure(
                    .unavailable, "key_command",
                    "The key command '\(program)' gave no key in \(seconds), and was ended. Give it more time with --key-timeout.")
            }
        }
    }

    private static func start(_ program: String, _ words: [String], output: CInt) throws(Failure) -> ChildProcess {
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
        return ChildProcess(process)
    }
}

/// A program that was started, and whose end is taken note of once.
private final class ChildProcess {
    private let id: pid_t
    private var status: CInt?

    init(_ id: pid_t) {
        self.id = id
    }

    var hasEnded: Bool {
        var status: CInt = 0
        if self.status == nil, Retry.onInterrupt({ unsafe waitpid(id, &status, WNOHANG) }) == id { self.status = status }
        return self.status != nil
    }

    func wait() -> CInt {
        var status: CInt = 0
        if let known = self.status { return known }
        _ = Retry.onInterrupt { unsafe waitpid(id, &status, 0) }
        self.status = status
        return status
    }

    /// Asks the program to end, which lets it clean up, and ends it if it does not.
    func end() {
        guard !hasEnded else { return }
        kill(id, SIGTERM)
        for _ in 0..<100 where !hasEnded { usleep(10_000) }
        guard !hasEnded else { return }
        kill(id, SIGKILL)
        _ = wait()
    }
}
