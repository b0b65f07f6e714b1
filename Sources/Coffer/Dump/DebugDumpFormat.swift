/// A line for each row, for debugging: blobs are written as text or UUIDs if possible.
///
///     try db.dumpRequest(Attachment.all())  // 1|deed.pdf|41920
///
/// Text is written verbatim, including its line breaks.
public struct DebugDumpFormat: DumpFormat, Sendable {
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
        let values = statement.dumpedColumns.map {
            statement.value(at: $0).dumpText(null: nullValue, blob: \.debugDumpText)
        }
        stream.write(line: values, separator)
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
}

extension DumpFormat where Self == DebugDumpFormat {
    /// A line for each row, for debugging.
    ///
    /// - Parameters: see ``DebugDumpFormat/init(header:separator:nullValue:)``.
    public static func debug(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        DebugDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
