/// A line for each row, with blobs as text: what the shell of SQLite calls the mode "list".
///
///     try db.dumpRequest(Attachment.all(), format: .list())  // 1|deed.pdf|41920
///
/// Texts are written as they are, with the new lines that they contain.
public struct ListDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come before the first row.
    public var header: Bool

    /// What stands between the values.
    public var separator: String

    /// What stands for NULL.
    public var nullValue: String

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - header: whether the names of the columns come before the first row.
    ///   - separator: what stands between the values.
    ///   - nullValue: what stands for NULL.
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
    /// - Parameters: as those of ``ListDumpFormat/init(header:separator:nullValue:)``.
    public static func list(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
