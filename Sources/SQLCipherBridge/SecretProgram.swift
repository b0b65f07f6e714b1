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
        let process: StartedProgram
        do {
            // The program's ends are closed in this process once the program has them, so that the pipe ends
            // with the program.
            let output = try ProgramPipe()
            process = try StartedProgram.start(words, input: input(request), output: output.writing.number)
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
        let input = try ProgramPipe()
        do throws(Errno) { try Descriptor.write(request.span, to: input.writing.number) } catch {
            throw .notStarted(error)
        }
        return input.reading
    }

    private static func output(
        of process: StartedProgram, from pipe: borrowing Descriptor, until deadline: ContinuousClock.Instant
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
}
