internal import Glibc
internal import Synchronization
internal import SystemCalls

/// Standard output or standard error, unbuffered so that no output is lost if the process is killed.
final class OutputFile: Sendable {
    static let output = OutputFile(STDOUT_FILENO)
    static let errors = OutputFile(STDERR_FILENO)

    private let descriptor: CInt
    /// The text that the output becomes part of, or nil for the descriptor itself.
    private let pages: PagedText?

    /// The first write error. Later text is dropped.
    private let failure = Mutex(Errno?.none)

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        pages = nil
    }

    /// Output to the terminal, page by page.
    init(_ pages: PagedText) {
        descriptor = STDOUT_FILENO
        self.pages = pages
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// True for output to a terminal, directly or page by page.
    var isShown: Bool { pages != nil || isTerminal }

    /// The error that lost text, unless the reader closed the output.
    var lostText: Errno? {
        failure.withLock(\.self).flatMap { $0.code == EPIPE ? nil : $0 }
    }

    /// True if the reader has closed the output, as `head` does.
    var isClosed: Bool { failure.withLock(\.self)?.code == EPIPE }

    func write(_ text: String) { write(bytes: Array(text.utf8)) }

    func write(bytes: [UInt8]) {
        failure.withLock { failure in
            guard failure == nil else { return }
            do throws(Errno) {
                if let pages {
                    try pages.write(bytes)
                } else {
                    try Descriptor.write(bytes.span, to: descriptor)
                }
            } catch {
                failure = error
            }
        }
    }

    func writeLine(_ text: String) { write(text + "\n") }

    /// The width of the terminal in columns, or nil if there is no terminal or it does not report a width.
    var terminalWidth: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

/// Thrown if the reader has closed the output, as `head` does. This is not a failure.
struct OutputClosed: Error {}
