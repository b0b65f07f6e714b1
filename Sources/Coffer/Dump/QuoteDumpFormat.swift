/// A line for each row, with values as SQL literals: what the shell of SQLite calls the mode "quote".
///
///     try db.dumpRequest(Attachment.all(), format: .quote())  // 1,'deed.pdf',41920
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come before the first row.
    public var header: Bool

    /// What stands between the values.
    public var separator: String

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - header: whether the names of the columns come before the first row.
    ///   - separator: what stands between the values.
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
    /// - Parameters: as those of ``QuoteDumpFormat/init(header:separator:)``.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
