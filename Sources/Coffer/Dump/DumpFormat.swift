internal import SQLCipherBridge

internal import Glibc

/// The format of the rows in a dump: see ``Database/dumpSQL(_:format:to:)``.
///
/// The library provides ``DebugDumpFormat``, ``JSONDumpFormat``, ``LineDumpFormat``, ``ListDumpFormat``, and
/// ``QuoteDumpFormat``. This format only counts rows:
///
/// ```swift
/// struct CountDumpFormat: DumpFormat {
///     private var count = 0
///
///     mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) { count += 1 }
///
///     mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
///         stream.write("\(count) rows\n")
///     }
/// }
/// ```
///
/// Each statement uses its own copy of the format passed by the caller.
public protocol DumpFormat {
    /// Writes the current row of a statement.
    ///
    /// - Parameters:
    ///   - statement: the statement. Read its current row through its `sqliteStatement`.
    ///   - stream: the destination of the text.
    /// - Throws: a ``DatabaseError`` if a statement fails.
    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws

    /// Writes the text after the last row of a statement.
    ///
    /// - Parameters: see ``writeRow(_:statement:to:)``.
    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream)
}

/// The output stream of a dump.
public struct DumpStream {
    private var base: any TextOutputStream
    private var needsMargin = false

    /// - Parameter base: the destination of the text; nil is the standard output.
    init(_ base: (any TextOutputStream)?) {
        self.base = base ?? StandardOutput()
    }

    /// Requests an empty line before the next text. The text so far must end with a line break.
    ///
    /// The line is written only if more text follows, and that text does not start with a line break itself.
    public mutating func margin() { needsMargin = true }

    /// Writes the values of a row as a line.
    mutating func write(line values: [String], _ separator: String) {
        write(values.joined(separator: separator) + "\n")
    }
}

extension DumpStream: TextOutputStream {
    /// Writes a text, after the margin if one was requested.
    public mutating func write(_ string: String) {
        guard let first = string.unicodeScalars.first else { return }
        if needsMargin, first != "\n" { base.write("\n") }
        needsMargin = false
        base.write(string)
    }
}

@available(*, unavailable)
extension DumpStream: Sendable {}

/// The standard output, through the same buffer as `print`.
private struct StandardOutput: TextOutputStream {
    mutating func write(_ string: String) {
        for byte in string.utf8 { putchar(CInt(byte)) }
    }
}

// MARK: - The columns of a row

extension Statement {
    /// The columns that a dump shows: all except the library's helper columns.
    var dumpedColumns: [CInt] {
        (0..<CInt(columnCount)).filter { !HelperName.isHelper(handle.columnName(at: $0)) }
    }

    /// The names of all columns.
    var allColumnNames: [String] { (0..<CInt(columnCount)).map(handle.columnName(at:)) }

    /// Returns a value of the current row.
    func value(at index: CInt) -> DatabaseValue {
        unsafe DatabaseValue(sqliteStatement: sqliteStatement, index: index)
    }
}
