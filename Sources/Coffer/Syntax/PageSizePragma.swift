/// `PRAGMA page_size` in an encrypted database, rewritten to return what SQLite returns: an integer in a
/// column `page_size`.
///
/// SQLCipher returns text in a column `cipher_page_size` instead. Therefore, `PRAGMA page_size` is compiled
/// as `SELECT 4096 AS page_size`, with the size that the engine reports. Users see their original text, which
/// follows in a comment.
struct PageSizePragma {
    /// The pragma, without white space and comments around it.
    let sql: String

    /// The offset of the end of the statement in the original text, after its semicolon.
    let end: Int

    private static let start = "SELECT "
    // Like the text of the pragma, it makes `KeyRedaction` look at the whole statement.
    private static let mark = " AS page_size /*coffer_key:"
    private static let endMark = "*/"

    /// Returns nil if the first statement of the text does not ask for the page size.
    init?(_ text: [CChar], from offset: Int) {
        let bytes = text[offset...].dropLast().map(UInt8.init(bitPattern:))
        var scanner = SQLScanner(bytes)
        let (tokens, end) = scanner.nextStatement(limit: 5)
        guard let first = tokens.first, let last = tokens.last, tokens.count == 2 || tokens.count == 4,
            first.kind == .word, first.word == "pragma",
            last.kind == .word || last.kind == .quoted, last.word == "page_size",
            tokens.count == 2 || tokens[2].kind == .other && tokens[2].word == "."
        else { return nil }
        sql = String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
        // The comment would end too early.
        guard !sql.contains(PageSizePragma.endMark) else { return nil }
        self.end = offset + end
    }

    /// Returns the text that SQLite compiles, NUL-terminated.
    func query(returning pageSize: Int) -> [CChar] {
        Array(
            (PageSizePragma.start + "\(pageSize)" + PageSizePragma.mark + sql + PageSizePragma.endMark)
                .utf8CString)
    }

    /// Returns SQL in its original form, without the query.
    static func withoutQuery(_ sql: String) -> String {
        guard sql.hasPrefix(start), sql.hasSuffix(endMark), let mark = sql.firstRange(of: mark) else {
            return sql
        }
        let pageSize = sql[..<mark.lowerBound].dropFirst(start.count)
        let original = sql[mark.upperBound...].dropLast(endMark.count)
        return Int(pageSize) == nil || original.contains(endMark) ? sql : String(original)
    }
}
