internal import Glibc
internal import Synchronization
internal import SystemCalls

/// Standard output or standard error, unbuffered so that no output is lost if the process is killed. Only
/// rows are written in pieces.
final class OutputFile: Sendable {
    static let output = OutputFile(STDOUT_FILENO)
    static let errors = OutputFile(STDERR_FILENO)

    private let descriptor: CInt
    /// The text that the output becomes part of, or nil for the descriptor itself.
    private let pages: PagedText?

    private struct State {
        /// The first write error. Later text is dropped.
        var failure: Errno?
        /// The rows that are not written yet, or nil if each text is written at once.
        var rows: HeldRows?
    }

    private let state = Mutex(State())

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

    /// The error that lost text, unless the reader closed the output.
    var lostText: Errno? {
        state.withLock { $0.failure }.flatMap { $0.code == EPIPE ? nil : $0 }
    }

    /// True if the reader has closed the output, as `head` does.
    var isClosed: Bool { state.withLock { $0.failure }?.code == EPIPE }

    func write(_ text: String) { write(bytes: Array(text.utf8)) }

    func write(bytes: [UInt8]) {
        state.withLock { state in
            guard state.rows?.hold(bytes) != true else { return }
            let held = state.rows?.take() ?? []
            write(held.isEmpty ? bytes : held + bytes, &state)
        }
    }

    /// Runs `body`, and writes its rows in pieces, as a system call for each row takes longer than its text.
    /// While there are more rows, none waits for longer than a tenth of a second. On a terminal each row is
    /// written at once.
    func inPieces<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard pages == nil, !isTerminal, state.withLock({ $0.rows == nil }) else { return try body() }
        state.withLock { $0.rows = HeldRows() }
        defer {
            state.withLock { state in
                let held = state.rows?.take() ?? []
                state.rows = nil
                if !held.isEmpty { write(held, &state) }
            }
        }
        return try body()
    }

    private func write(_ bytes: [UInt8], _ state: inout State) {
        guard state.failure == nil else { return }
        do throws(Errno) {
            if let pages { try pages.write(bytes) } else { try Descriptor.write(bytes.span, to: descriptor) }
        } catch {
            state.failure = error
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

/// Rows that are written together.
private struct HeldRows {
    private var bytes: [UInt8] = []
    private var lastWrite = ContinuousClock.now

    /// Holds bytes. Returns false if it is time to write, and then holds nothing more.
    mutating func hold(_ new: [UInt8]) -> Bool {
        guard bytes.count + new.count < 1 << 16, ContinuousClock.now - lastWrite < .milliseconds(100) else {
            return false
        }
        bytes += new
        return true
    }

    mutating func take() -> [UInt8] {
        defer { (bytes, lastWrite) = ([], .now) }
        return bytes
    }
}

/// Thrown if the reader has closed the output, as `head` does. This is not a failure.
struct OutputClosed: Error {}
