internal import Glibc
internal import Synchronization

/// The standard output or the standard error, written without a buffer, so that what was said is said when
/// the process is killed.
final class OutputFile: Sendable {
    static let output = OutputFile(STDOUT_FILENO)
    static let errors = OutputFile(STDERR_FILENO)

    private let descriptor: CInt

    /// The first error of writing. Later text is dropped.
    private let failure = Mutex<SystemError?>(nil)

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Why text was lost, other than because the reader had enough.
    var lostText: SystemError? {
        failure.withLock { $0 }.flatMap { $0.code == EPIPE ? nil : $0 }
    }

    /// Whether nobody reads any more, as behind `head`.
    var isClosed: Bool { failure.withLock { $0 }?.code == EPIPE }

    func write(_ text: String) {
        write { () throws(SystemError) in try Descriptor.write(text, to: descriptor) }
    }

    func write(bytes: [UInt8]) {
        write { () throws(SystemError) in try Descriptor.write(bytes, to: descriptor) }
    }

    private func write(_ body: () throws(SystemError) -> Void) {
        failure.withLock { failure in
            guard failure == nil else { return }
            do throws(SystemError) {
                try body()
            } catch {
                failure = error
            }
        }
    }

    func writeLine(_ text: String) { write(text + "\n") }

    /// The columns of the terminal, or nil when it is none, or does not say.
    var terminalWidth: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
