internal import SQLCipherBridge

internal import Glibc

/// How rows are written by the methods that dump a database, such as ``Database/dumpSQL(_:format:to:)``.
///
/// The formats of the library are ``DebugDumpFormat``, ``JSONDumpFormat``, ``LineDumpFormat``,
/// ``ListDumpFormat`` and ``QuoteDumpFormat``. This one only counts:
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
/// Each statement gets a copy of the format as the caller gave it.
public protocol DumpFormat {
    /// Writes the current row of a statement.
    ///
    /// - Parameters:
    ///   - db: the connection.
    ///   - statement: the statement, whose current row is read with its `sqliteStatement`.
    ///   - stream: where the text goes.
    /// - Throws: a ``DatabaseError`` if a statement fails.
    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws

    /// Writes what comes after the last row of a statement.
    ///
    /// - Parameters: as those of ``writeRow(_:statement:to:)``.
    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream)
}

/// Where the text of a dump goes.
public struct DumpStream {
    private var base: any TextOutputStream
    private var needsMargin = false

    /// - Parameter base: where the text goes; nil is the standard output.
    init(_ base: (any TextOutputStream)?) {
        self.base = base ?? StandardOutput()
    }

    /// Has an empty line come before the next text, if the text so far ends with a line.
    ///
    /// It is written with the next text, if there is one, and if that does not begin with a new line itself.
    public mutating func margin() { needsMargin = true }

    /// Writes the values of a row as a line.
    mutating func write(line values: [String], _ separator: String) {
        write(values.joined(separator: separator) + "\n")
    }
}

extension DumpStream: TextOutputStream {
    /// Writes a text, after the margin that was asked for.
    public mutating func write(_ string: String) {
        guard let first = string.unicodeScalars.first else { return }
        if needsMargin, first != "\n" { base.write("\n") }
        needsMargin = false
        base.write(string)
    }
}

@available(*, unavailable)
extension DumpStream: Sendable {}

/// The standard output, by the buffer that `print` uses too.
private struct StandardOutput: TextOutputStream {
    mutating func write(_ string: String) {
        for byte in string.utf8 { putchar(CInt(byte)) }
    }
}

// MARK: - The columns of a row

extension Statement {
    /// The columns that a dump shows: those that the library has added for itself are left out.
    var dumpedColumns: [CInt] {
        (0..<CInt(columnCount)).filter { !HelperName.isHelper(handle.columnName(at: $0)) }
    }

    /// The names of all columns.
    var allColumnNames: [String] { (0..<CInt(columnCount)).map(handle.columnName(at:)) }

    /// A value of the current row.
    func value(at index: CInt) -> DatabaseValue {
        unsafe DatabaseValue(sqliteStatement: sqliteStatement, index: index)
    }
}
