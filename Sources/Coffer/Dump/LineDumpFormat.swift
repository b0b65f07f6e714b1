/// A line for each value, with the name of its column, like the mode "line" of SQLite's shell.
///
///     try db.dumpRequest(Attachment.all(), format: .line())
///     //       id = 1
///     // fileName = deed.pdf
///     //     size = 41920
public struct LineDumpFormat: DumpFormat, Sendable {
    /// The text written for NULL.
    public var nullValue: String

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameter nullValue: the text written for NULL.
    public init(nullValue: String = "") {
        self.nullValue = nullValue
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        let columns = statement.dumpedColumns.map {
            (name: statement.allColumnNames[Int($0)], value: statement.value(at: $0))
        }
        guard let width = columns.map(\.name.count).max() else { return }
        if !isFirstRow { stream.write("\n") }
        isFirstRow = false
        for (name, value) in columns {
            let indentation = String(repeating: " ", count: width - name.count)
            stream.write("\(indentation)\(name) = \(value.dumpText(null: nullValue, blob: \.dumpText))\n")
        }
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if !isFirstRow { stream.margin() }
    }
}

extension DumpFormat where Self == LineDumpFormat {
    /// A line for each value, with the name of its column.
    ///
    /// - Parameter nullValue: the text written for NULL.
    public static func line(nullValue: String = "") -> Self { LineDumpFormat(nullValue: nullValue) }
}
