internal import ArgumentParser

/// How rows are printed. In each format NULL, infinities and blobs differ from every text that looks like
/// them.
enum RowFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Columns that line up, cut to the width of a terminal.
    case table
    /// A line for each value, with the name of its column.
    case line
    /// As RFC 4180 has it.
    case csv
    /// Values between tabs, with the escapes of PostgreSQL's COPY.
    case tsv
    /// An array of objects for each result.
    case json
    /// An object on a line for each row.
    case jsonl
    /// A table of Markdown.
    case markdown
    /// Literals of SQL.
    case quote
}

/// A format and what was chosen for it.
struct RowStyle: Sendable, Hashable {
    var format = RowFormat.table

    /// Whether the names of the columns are printed, where the format can do without.
    var hasHeader = true

    /// What stands for NULL in CSV. A text that is the same is in quotes there.
    var nullText = ""
}
