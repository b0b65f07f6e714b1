internal import CEditLine
internal import Glibc

/// Reads lines from a terminal with libedit's key bindings, a history, and completion.
@safe
final class LineEditor {
    enum Line {
        case text(String)
        /// Ctrl-C, which discards the typed text.
        case cancelled
        case end
    }

    private var editor: OpaquePointer?
    private let entries: OpaquePointer?
    private var prompt: UnsafeMutablePointer<CChar>?
    private var isCancelled = false

    /// Returns the length of the word before the cursor and its possible completions.
    private let complete: (_ before: String) -> (length: Int, words: [String])

    private static let historyCount: CInt = 1000

    /// - Returns: nil if standard input or output is not a terminal.
    init?(complete: @escaping (_ before: String) -> (length: Int, words: [String])) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return nil }
        self.complete = complete
        LineEditor.useUnicode()
        TerminalEcho.remember(STDIN_FILENO)
        unsafe entries = history_init()
        unsafe editor = nil
        unsafe prompt = nil
        let data = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe editor = coffer_el_init(data) { unsafe LineEditor.of($0)?.prompt }
        guard let editor = unsafe editor, let entries = unsafe entries else { return nil }
        unsafe coffer_el_use_history(editor, entries, LineEditor.historyCount)
        unsafe coffer_el_bind(editor, "^C", "coffer-cancel") { editor, _ in
            unsafe LineEditor.of(editor)?.cancel() ?? 0
        }
        unsafe coffer_el_bind(editor, "^I", "coffer-complete") { editor, _ in
            unsafe LineEditor.of(editor)?.completeWord() ?? 0
        }
        unsafe coffer_el_bind_known(editor, "^R", "em-inc-search-prev")
    }

    deinit {
        if let editor = unsafe editor { unsafe el_end(editor) }
        if let entries = unsafe entries { unsafe history_end(entries) }
        unsafe free(prompt)
    }

    private static func of(_ editor: OpaquePointer?) -> LineEditor? {
        guard let editor = unsafe editor, let data = unsafe coffer_el_data(editor) else { return nil }
        return unsafe Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
    }

    /// Selects a UTF-8 locale. The editor counts columns according to the locale, which initially supports
    /// only ASCII.
    private static func useUnicode() {
        unsafe setlocale(LC_CTYPE, "")
        let codes = unsafe nl_langinfo(nl_item(CODESET)).map { unsafe String(cString: $0) }
        if codes != "UTF-8" { unsafe setlocale(LC_CTYPE, "C.UTF-8") }
    }

    func remember(_ statement: String) {
        guard let entries = unsafe entries else { return }
        unsafe coffer_history_add(entries, statement)
    }

    func read(prompt text: String) -> Line {
        guard let editor = unsafe editor else { return .end }
        unsafe free(prompt)
        unsafe prompt = strdup(text)
        isCancelled = false
        unsafe el_resize(editor)
        var count: CInt = 0
        guard let line = unsafe el_gets(editor, &count), count > 0 else {
            return isCancelled ? .cancelled : .end
        }
        guard !isCancelled else { return .cancelled }
        let text = unsafe String(cString: line)
        return .text(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    // MARK: Keys

    private func cancel() -> UInt8 {
        isCancelled = true
        OutputFile.output.write("^C\n")
        return UInt8(CC_NEWLINE)
    }

    private func completeWord() -> UInt8 {
        guard let editor = unsafe editor, let info = unsafe el_line(editor)?.pointee else {
            return UInt8(CC_ERROR)
        }
        let count = unsafe info.buffer.distance(to: info.cursor)
        let before = unsafe String(
            decoding: UnsafeRawBufferPointer(start: info.buffer, count: count), as: UTF8.self)
        let (length, words) = complete(before)
        guard let first = words.first else { return UInt8(CC_ERROR) }
        let common = words.dropFirst().reduce(first) { LineEditor.commonStart($0, $1) }
        if words.count == 1 || common.utf8.count > length {
            unsafe el_deletestr(editor, CInt(length))
            unsafe el_insertstr(editor, words.count == 1 ? first + " " : common)
            return UInt8(CC_REFRESH)
        }
        OutputFile.output.write(
            "\n" + LineEditor.columns(words, width: OutputFile.output.terminalWidth ?? 80))
        return UInt8(CC_REDISPLAY)
    }

    private static func commonStart(_ a: String, _ b: String) -> String {
        String(zip(a, b).prefix { $0.lowercased() == $1.lowercased() }.map(\.0))
    }

    /// Arranges words in as many columns as fit.
    static func columns(_ words: [String], width: Int) -> String {
        let shown = words.prefix(200).map { TextLayout.harmless($0) }
        let cell = (shown.map(TextLayout.columns).max() ?? 0) + 2
        let count = max(1, width / cell)
        var text = ""
        for start in stride(from: 0, to: shown.count, by: count) {
            let row = shown[start..<min(shown.count, start + count)]
            text += row.map { $0 + String(repeating: " ", count: cell - TextLayout.columns($0)) }.joined()
            while text.last == " " { text.removeLast() }
            text += "\n"
        }
        return words.count > shown.count ? text + "and \(words.count - shown.count) more\n" : text
    }
}
