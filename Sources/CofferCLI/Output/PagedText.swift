internal import Glibc
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

/// A text for the terminal, such as the rows of a statement. A text longer than the screen goes to a pager.
///
/// The text is collected until it is complete, so that no lock on a database is held while a page is read.
/// Only a text beyond ``limit`` goes to the pager earlier.
final class PagedText: Sendable {
    /// In bytes.
    private static let limit = 8 << 20

    private struct State {
        var collected: [UInt8] = []
        var isCollecting = true
        /// Nil if the text goes to the terminal.
        var pager: ReadingProgram?
        /// The reason that there is no pager.
        var problem: SecretProgram.Problem?
        /// The settings of the terminal, which a pager that is killed does not restore.
        var settings: termios
    }

    private let words: [String]
    private let rows: Int
    private let columns: Int
    private let state: Mutex<State>

    /// - Parameter words: the pager and its arguments.
    /// - Returns: nil if standard output is not a terminal with a known size.
    init?(pager words: [String]) {
        var size = winsize()
        var settings = termios()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0,
            unsafe tcgetattr(STDOUT_FILENO, &settings) == 0
        else { return nil }
        self.words = words
        rows = Int(size.ws_row)
        columns = Int(size.ws_col)
        state = Mutex(State(settings: settings))
    }

    /// - Throws: `EPIPE` if the person has quit the pager.
    func write(_ bytes: [UInt8]) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.isCollecting else { return try pass(bytes, to: state.pager) }
            state.collected += bytes
            if state.collected.count > PagedText.limit { try release(&state) }
        }
    }

    /// Shows the complete text, and waits until the person has read it.
    ///
    /// - Returns: the reason that a long text was shown without the pager, or nil.
    func finish() -> SecretProgram.Problem? {
        state.withLock { state in
            // A person may quit the pager at any time.
            if state.isCollecting { try? release(&state) }
            if let pager = state.pager {
                pager.finish()
                unsafe tcsetattr(STDOUT_FILENO, TCSADRAIN, &state.settings)
            }
            return state.problem
        }
    }

    private func release(_ state: inout State) throws(Errno) {
        let text = state.collected
        state.isCollecting = false
        state.collected = []
        if isLong(text) {
            do throws(SecretProgram.Problem) { state.pager = try ReadingProgram(words) } catch {
                state.problem = error
            }
        }
        try pass(text, to: state.pager)
    }

    private func pass(_ bytes: [UInt8], to pager: ReadingProgram?) throws(Errno) {
        if let pager { try pager.write(bytes) } else { OutputFile.output.write(bytes: bytes) }
    }

    /// Returns true if a text does not fit the screen together with the prompt after it.
    private func isLong(_ text: [UInt8]) -> Bool {
        // A character of one column may have more bytes, but then the text is long for its bytes.
        guard text.count <= rows * (4 * columns + 1) else { return true }
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let heights = lines.map { line in
            max(1, (TextLayout.columns(String(decoding: line, as: UTF8.self)) + columns - 1) / columns)
        }
        return heights.reduce(0, +) >= rows
    }
}
