internal import CSQLCipher
internal import Glibc
package import SystemCalls

/// A program that reads text of this process, such as a pager. It writes to the output of this process.
package final class ReadingProgram {
    private var input: Descriptor?
    private let program: StartedProgram

    /// - Parameter words: the program and its arguments. A program name without a slash is searched for in
    ///   `PATH`.
    package init(_ words: [String]) throws(SecretProgram.Problem) {
        let pipe = try ProgramPipe()
        // The reading end is closed in this process once the program has it, so that writing fails when the
        // program ends.
        program = try StartedProgram.start(words, input: .some(pipe.reading), output: nil)
        input = .some(pipe.writing)
    }

    /// - Throws: `EPIPE` if the program has ended, as a pager that a person quits.
    package func write(_ bytes: [UInt8]) throws(Errno) {
        switch input {
        case .some(let input): try Descriptor.write(bytes.span, to: input.number)
        case .none: throw Errno(EPIPE)
        }
    }

    /// Ends the text, and waits for the end of the program.
    package func finish() {
        input = nil
        program.wait()
    }
}

/// A pipe to or from a program. Its ends have numbers above those of the standard descriptors.
struct ProgramPipe: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SecretProgram.Problem) {
        var numbers: [CInt] = [-1, -1]
        // Create it with close-on-exec in one step: otherwise, a program that another thread starts at the
        // same time would inherit the ends, and could read a secret or keep the pipe open.
        guard unsafe coffer_private_pipe(&numbers) == 0 else { throw .notStarted(.last) }
        let first = Descriptor(owning: numbers[0])
        let second = Descriptor(owning: numbers[1])
        let reading = try ProgramPipe.above(first)
        writing = try ProgramPipe.above(second)
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
///
/// It inherits standard error and the environment of this process, and no descriptor that is closed on
/// `exec`.
final class StartedProgram {
    enum Status {
        case exit(CInt)
        case signal(CInt)
        case unknown
    }

    private let id: pid_t
    private(set) var status: Status?

    private init(_ id: pid_t) {
        self.id = id
    }

    /// Starts a program without a shell.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments. A program name without a slash is searched for in `PATH`.
    ///   - input: the program's standard input, or nil for an empty one.
    ///   - output: the program's standard output, or nil for the one of this process.
    static func start(_ words: [String], input: borrowing Descriptor?, output: CInt?)
        throws(SecretProgram.Problem) -> StartedProgram
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
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
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
        return StartedProgram(process)
    }

    var hasEnded: Bool {
        guard status == nil else { return true }
        look(WNOHANG)
        return status != nil
    }

    /// Waits for the end of the program.
    func wait() { if !hasEnded { look(0) } }

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
