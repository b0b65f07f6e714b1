internal import CSQLCipher
internal import Glibc
package import KeyMaterial

/// A program that prints a secret, such as the client of a secret store.
///
/// No shell takes part. The program gets the standard error and the environment of this process, a request on
/// its standard input, and no descriptor that is closed on `exec`. What is secret goes through the pipes
/// only: arguments and the environment can be read by others.
package enum SecretProgram {
    package enum Problem: Error, Hashable {
        /// The number of the failed system call.
        case notStarted(CInt)
        case notRead(CInt)
        /// It printed more than ``SecretFile/limit`` bytes.
        case tooLong
        /// It had not ended in time, and was ended.
        case outOfTime
        case failed(exitCode: CInt)
        case killed(signal: CInt)
        /// This process ignores the ends of its children, so that nobody knows whether it has failed.
        case endUnknown
    }

    /// What the pipe takes before anybody reads.
    package static let requestLimit = 4096

    /// Runs a program to its end, and takes what it prints.
    ///
    /// A program that it has left behind may keep the pipe open: nobody waits for that one.
    /// - Parameters:
    ///   - words: the program, looked for in `PATH` where its name has no slash, and its arguments.
    ///   - request: what it can read, up to ``requestLimit`` bytes; where it is empty, the standard input is.
    ///   - timeout: after so many seconds it is ended, with the programs that it has started.
    package static func run(_ words: [String], request: [UInt8] = [], timeout: Double) throws(Problem)
        -> SecretBytes
    {
        precondition(request.count <= requestLimit)
        let deadline = ContinuousClock.now + .seconds(timeout)
        let reading: PipeEnd
        let process: Process
        do {
            // The ends of the program are closed here once it has them, so that its end is the end of the
            // pipe.
            let output = try Pipe()
            reading = output.reading
            process = try start(words, input: input(request), output: output.writing)
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

    /// A pipe that has the request in it; nil for an empty one.
    private static func input(_ request: [UInt8]) throws(Problem) -> PipeEnd? {
        guard !request.isEmpty else { return nil }
        let input = try Pipe()
        let count = retrying { unsafe write(input.writing.number, request, request.count) }
        guard count == request.count else { throw .notStarted(count < 0 ? errno : EIO) }
        return input.reading
    }

    private static func output(
        of process: Process, from pipe: PipeEnd, until deadline: ContinuousClock.Instant
    ) throws(Problem) -> SecretBytes {
        var buffer = SecretBytes(count: SecretFile.limit + 1)
        var count = 0
        var isAtEnd = false
        while true {
            let hasEnded = process.hasEnded
            if isAtEnd {
                if hasEnded { return buffer.prefix(count) }
                usleep(5000)
            } else {
                var request = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
                // What it has printed before its end is there by now.
                let ready = unsafe poll(&request, 1, hasEnded ? 0 : 50)
                if ready > 0 {
                    let part = buffer.withUnsafeMutableBytes { bytes in
                        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
                        return retrying { unsafe read(pipe.number, rest.baseAddress, rest.count) }
                    }
                    guard part >= 0 else { throw .notRead(errno) }
                    isAtEnd = part == 0
                    count += part
                    guard count <= SecretFile.limit else { throw .tooLong }
                } else if hasEnded {
                    return buffer.prefix(count)
                }
            }
            guard ContinuousClock.now < deadline else { throw .outOfTime }
        }
    }

    private static func start(_ words: [String], input: PipeEnd?, output: PipeEnd) throws(Problem) -> Process
    {
        guard let program = words.first, !program.isEmpty else { throw .notStarted(ENOENT) }
        // What follows a zero would be lost without a word.
        guard !words.contains(where: { $0.utf8.contains(0) }) else { throw .notStarted(EINVAL) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
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
        guard code == 0 else { throw .notStarted(code) }
        return Process(process)
    }

    fileprivate static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }
}

/// One end of a pipe, closed at the end of its life, and above the numbers that a program gets.
private final class PipeEnd {
    let number: CInt

    init(_ number: CInt) {
        self.number = number
    }

    deinit { close(number) }
}

private struct Pipe {
    let reading: PipeEnd
    let writing: PipeEnd

    init() throws(SecretProgram.Problem) {
        var numbers: [CInt] = [-1, -1]
        // In one step: a program that another thread starts meanwhile would have the ends, and could read a
        // secret, or keep the pipe from ending.
        guard unsafe coffer_private_pipe(&numbers) == 0 else { throw .notStarted(errno) }
        (reading, writing) = (
            try Pipe.above(numbers[0], else: numbers[1]), try Pipe.above(numbers[1], else: -1)
        )
    }

    /// Where the standard descriptors of this process are closed, a pipe gets their numbers.
    private static func above(_ number: CInt, else other: CInt) throws(SecretProgram.Problem) -> PipeEnd {
        guard number <= STDERR_FILENO else { return PipeEnd(number) }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let code = errno
        close(number)
        guard copy >= 0 else {
            if other >= 0 { close(other) }
            throw .notStarted(code)
        }
        return PipeEnd(copy)
    }
}

/// A program that was started, and whose end is taken note of once.
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
        switch SecretProgram.retrying({ unsafe Int(waitpid(id, &number, options)) }) {
        case 0: break
        case Int(id): status = number & 0x7f == 0 ? .exit((number >> 8) & 0xff) : .signal(number & 0x7f)
        default: status = .unknown
        }
    }

    /// Asks the program and the programs that it has started to end, which lets them clean up, and ends those
    /// that do not.
    ///
    /// They are in the process group of this process: so they can ask at its terminal, and a signal to the
    /// group reaches them too. One that has left its parent, as a daemon does, stays.
    func end() {
        guard !hasEnded else { return }
        let descendants = ProcessFamily.stopped(below: id)
        for process in descendants { process.send([SIGTERM, SIGCONT]) }
        kill(id, SIGTERM)
        kill(id, SIGCONT)
        for _ in 0..<100 where !hasEnded || descendants.contains(where: \.isAlive) { usleep(10_000) }
        for process in descendants { process.send([SIGKILL]) }
        guard !hasEnded else { return }
        // A program that ignores the request may have started others since.
        for process in ProcessFamily.stopped(below: id) { process.send([SIGKILL]) }
        kill(id, SIGKILL)
        look(0)
    }
}
