/// A line for each row, with values as SQL literals, like the mode "quote" of SQLite's shell.
///
///     try db.dumpRequest(Attachment.all(), format: .quote())  // 1,'deed.pdf',41920
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// A Boolean value that indicates whether the column names are written before the first row.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - header: if true, the column names are written before the first row.
    ///   - separator: the text between two values.
    public init(header: Bool = false, separator: String = ",") {
        self.header = header
        self.separator = separator
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if isFirstRow, header { stream.write(line: statement.allColumnNames.map(\.sqlLiteral), separator) }
        isFirstRow = false
        stream.write(line: statement.dumpedColumns.map { statement.value(at: $0).dumpLiteral }, separator)
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
}

extension DumpFormat where Self == QuoteDumpFormat {
    /// A line for each row, with values as SQL literals.
    ///
    /// - Parameters: see ``QuoteDumpFormat/init(header:separator:)``.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
