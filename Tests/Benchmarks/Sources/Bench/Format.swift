import Foundation

/// Formats rows of cells as lines of text, with the first column left-aligned and the others right-aligned.
func aligned(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        row.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            return column == 0 ? cell + padding : padding + cell
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}

/// Formats a number with three significant digits, but never rounds its integer part.
func decimal(_ value: Double) -> String {
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    return String(format: "%.\(digits)f", value)
}

func time(_ seconds: Double) -> String {
    if seconds < 1e-6 { return "\(decimal(seconds * 1e9)) ns" }
    if seconds < 1e-3 { return "\(decimal(seconds * 1e6)) us" }
    return "\(decimal(seconds * 1e3)) ms"
}

func megabytes(_ bytes: Double) -> String { "\(decimal(bytes / 1e6)) MB" }

/// Formats a number with commas between thousands: 10,000,000.
func grouped(_ number: Int) -> String {
    var text = "\(number)"
    var index = text.count - 3
    while index > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: index))
        index -= 3
    }
    return text
}
