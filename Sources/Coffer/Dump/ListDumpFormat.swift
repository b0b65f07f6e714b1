/// A line for each row, with blobs as text, like the mode "list" of SQLite's shell.
///
///     try db.dumpRequest(Attachment.all(), format: .list())  // 1|deed.pdf|41920
///
/// Text is written verbatim, including its line breaks.
public struct ListDumpFormat: DumpFormat, Sendable {
    /// A Boolean value that indicates whether the column names are written before the first row.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    /// The text written for NULL.
    public var nullValue: String

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - header: if true, the column names are written before the first row.
    ///   - separator: the text between two values.
    ///   - nullValue: the text written for NULL.
    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if isFirstRow, header { stream.write(line: statement.allColumnNames, separator) }
        isFirstRow = false
        stream.write(
            line: statement.dumpedColumns.map {
                statement.value(at: $0).dumpText(null: nullValue, blob: \.dumpText)
            }, separator)
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
}

extension DumpFormat where Self == ListDumpFormat {
    /// A line for each row, with blobs as text.
    ///
    /// - Parameters: see ``ListDumpFormat/init(header:separator:nullValue:)``.
    public static func list(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
