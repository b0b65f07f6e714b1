internal import CSQLCipher
internal import Glibc
package import KeyMaterial
package import SystemCalls

/// A program that prints a secret, such as the client of a secret store.
///
/// It runs without a shell. The program inherits standard error and the environment of this process, gets a
/// request on its standard input, and inherits no descriptor that is closed on `exec`. Secrets only pass
/// through pipes, because other processes can read arguments and environments.
package enum SecretProgram {
    package enum Problem: Error, Hashable {
        case notStarted(Errno)
        case notRead(Errno)
        /// The program printed more than ``SecretFile/limit`` bytes.
        case tooLong
        /// The program did not end in time, and was terminated.
        case outOfTime
        case failed(exitCode: CInt)
        case killed(signal: CInt)
        /// This process ignores the exit statuses of its children, so a failure of the program would not be
        /// noticed.
        case endUnknown
    }

    /// The number of bytes that a pipe accepts before they are read.
    package static let requestLimit = 4096

    /// Runs a program to its end, and returns its output.
    ///
    /// Another program that it leaves running may keep the pipe open. The call does not wait for it.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments. A program name without a slash is searched for in `PATH`.
    ///   - request: the program's standard input, up to ``requestLimit`` bytes. It may be empty.
    ///   - timeout: the time in seconds after which the program and its descendants are terminated.
    package static func run(_ words: [String], request: [UInt8] = [], timeout: Double) throws(Problem)
        -> SecretBytes
    {
        precondition(request.count <= requestLimit)
        let deadline = ContinuousClock.now + .seconds(timeout)
        let reading: Descriptor
        let process: Process
        do {
            // The program's ends are closed in this process once the program has them, so that the pipe ends
            // with the program.
            let output = try Pipe()
            process = try start(words, input: input(request), output: output.writing)
            reading = output.reading
        }
        let secret: SecretBytes
        do throws(Problem) {
            secret = try SecretProgram.output(of: process, from: reading, until: deadline)
        } catch {
            process.end()
            throw error
        }
        switch process.status {
        case .exit(0): return secret
        case .exit(let code): throw .failed(exitCode: code)
        case .signal(let number): throw .killed(signal: number)
        case .unknown, nil: throw .endUnknown
        }
    }

    /// Returns a pipe that contains the request; nil for an empty one.
    private static func input(_ request: [UInt8]) throws(Problem) -> Descriptor? {
        guard !request.isEmpty else { return nil }
        let input = try Pipe()
        do throws(Errno) { try Descriptor.write(request.span, to: input.writing.number) } catch {
            throw .notStarted(error)
        }
        return input.reading
    }

    private static func output(
        of process: Process, from pipe: borrowing Descriptor, until deadline: ContinuousClock.Instant
    ) throws(Problem) -> SecretBytes {
        var buffer = SecretBuffer()
        var isAtEnd = false
        while true {
            let hasEnded = process.hasEnded
            if isAtEnd {
                if hasEnded { return buffer.secret }
                usleep(5000)
            } else {
                var request = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
                // All output from before the end of the program is available by now.
                let ready = unsafe poll(&request, 1, hasEnded ? 0 : 50)
                if ready > 0 {
                    do throws(SecretFile.Problem) { isAtEnd = try !buffer.read(from: pipe) } catch {
                        if case .notRead(let error) = error { throw .notRead(error) }
                        throw .tooLong
                    }
                } else if hasEnded {
                    return buffer.secret
                }
            }
            guard ContinuousClock.now < deadline else { throw .outOfTime }
        }
    }

    private static func start(_ words: [String], input: borrowing Descriptor?, output: borrowing Descriptor)
        throws(Problem) -> Process
    {
        guard let program = words.first, !program.isEmpty else { throw .notStarted(Errno(ENOENT)) }
        // C would silently cut a word at a zero byte.
        guard !words.contains(where: { $0.utf8.contains(0) }) else { throw .notStarted(Errno(EINVAL)) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        switch input {
        case .some(let input):
            unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        case .none: unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Ctrl-C is meant for the program, too, so it must not inherit blocked signals. Nor must it inherit
        // ignored SIGPIPE and SIGXFSZ.
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
        guard code == 0 else { throw .notStarted(Errno(code)) }
        return Process(process)
    }
}

/// The ends have numbers above those of the standard descriptors.
private struct Pipe: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SecretProgram.Problem) {
        var numbers: [CInt] = [-1, -1]
        // Create it with close-on-exec in one step: otherwise, a program that another thread starts at the
        // same time would inherit the ends, and could read a secret or keep the pipe open.
        guard unsafe coffer_private_pipe(&numbers) == 0 else { throw .notStarted(.last) }
        let first = Descriptor(owning: numbers[0])
        let second = Descriptor(owning: numbers[1])
        let reading = try Pipe.above(first)
        writing = try Pipe.above(second)
        self.reading = reading
    }

    /// Moves a descriptor above the standard ones, whose numbers a pipe gets if they are closed in this
    /// process.
    private static func above(_ end: consuming Descriptor) throws(SecretProgram.Problem) -> Descriptor {
        guard end.number <= STDERR_FILENO else { return end }
        do throws(Errno) { return try Descriptor(duplicating: end.number) } catch { throw .notStarted(error) }
    }
}

/// A started program, whose exit status is collected once.
private final class Process {
    enum Status {
        case exit(CInt)
        case signal(CInt)
        case unknown
    }

    private let id: pid_t
    private(set) var status: Status?

    init(_ id: pid_t) {
        self.id = id
    }

    var hasEnded: Bool {
        guard status == nil else { return true }
        look(WNOHANG)
        return status != nil
    }

    private func look(_ options: CInt) {
        var number: CInt = 0
        switch try? systemCall("waitpid", { unsafe waitpid(id, &number, options) }) {
        case 0: break
        case id: status = number & 0x7f == 0 ? .exit((number >> 8) & 0xff) : .signal(number & 0x7f)
        default: status = .unknown
        }
    }

    /// Terminates the program and its descendants: asks them to end, which lets them clean up, and kills
    /// those that do not.
    ///
    /// They are in the process group of this process, so that they can use its terminal, and signals to the
    /// group reach them too. A process that has detached from its parent, such as a daemon, keeps running.
    func end() {
        guard !hasEnded else { return }
        let descendants = ProcessFamily.stopped(below: id)
        for process in descendants { process.send([SIGTERM, SIGCONT]) }
        kill(id, SIGTERM)
        kill(id, SIGCONT)
        for _ in 0..<100 where !hasEnded || descendants.contains(where: \.isAlive) { usleep(10_000) }
        for process in descendants { process.send([SIGKILL]) }
        guard !hasEnded else { return }
        // A program that ignores the request may have started others in the meantime.
        for process in ProcessFamily.stopped(below: id) { process.send([SIGKILL]) }
        kill(id, SIGKILL)
        look(0)
    }
}
