internal import ArgumentParser

/// The format for printing rows. In every format, NULL, infinities and blobs differ from any text that looks
/// like them.
enum RowFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Aligned columns, cut to the width of the terminal.
    case table
    /// One line for each value, with the name of its column.
    case line
    /// CSV as defined by RFC 4180.
    case csv
    /// Tab-separated values, with the escapes of PostgreSQL's COPY.
    case tsv
    /// A JSON array of objects for each result.
    case json
    /// One JSON object a line for each row.
    case jsonl
    /// A Markdown table.
    case markdown
    /// SQL literals.
    case quote
}

/// A format and its options.
struct RowStyle: Sendable, Hashable {
    var format = RowFormat.table

    /// True to print the column names, in formats where they are optional.
    var hasHeader = true

    /// The text for NULL in CSV. An identical text value is quoted.
    var nullText = ""

    /// Returns the reason why NULL cannot have a text in CSV; nil if it can.
    static func objection(toNullText text: String) -> String? {
        if text.unicodeScalars.contains(where: { "\",\n\r".unicodeScalars.contains($0) }) {
            return "cannot contain quotes, commas or line breaks, which have a meaning in CSV."
        }
        return RowText.isOfValue(text) ? "cannot be the text of a number or a blob." : nil
    }
}
