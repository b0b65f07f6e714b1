internal import Coffer

/// Prints rows while they come, in one of several layouts.
final class RowPrinter {
    enum Layout {
        case table, csv
        /// One JSON array of objects.
        case array
        /// A result line of the tool's own JSON for each row.
        case lines
    }

    private let layout: Layout
    private let hasHeader: Bool
    private let reporter: Reporter
    private var columns: [String] = []
    private var rowCount = 0

    /// Rows of a table that wait until the widths of its columns are known.
    private var waiting: [[String]] = []
    private var widths: [Int] = []
    private static let rowsThatDecide = 500

    init(format layout: Layout, hasHeader: Bool, reporter: Reporter) {
        self.layout = layout
        self.hasHeader = hasHeader
        self.reporter = reporter
    }

    func begin(_ columns: [String]) {
        self.columns = RowPrinter.distinct(columns)
        switch layout {
        case .csv:
            if hasHeader { line(columns.map(RowPrinter.csv).joined(separator: ",")) }
        case .array: reporter.raw("[")
        case .table, .lines: break
        }
    }

    func add(_ values: [DatabaseValue]) {
        defer { rowCount += 1 }
        switch layout {
        case .csv: line(values.map { RowPrinter.csv(RowPrinter.text($0, null: "")) }.joined(separator: ","))
        case .array:
            let row = JSONValue.object(zip(columns, values).map { .init($0, RowPrinter.json($1)) })
            reporter.raw((rowCount == 0 ? "\n  " : ",\n  ") + row.text)
        case .lines:
            reporter.result([.init("columns", .strings(columns)), .init("values", .array(values.map(RowPrinter.json)))], text: [])
        case .table:
            let cells = values.map { TextLayout.harmless(RowPrinter.text($0, null: "NULL")) }
            if widths.isEmpty {
                waiting.append(cells)
                if waiting.count == RowPrinter.rowsThatDecide { startTable() }
            } else {
                line(tableLine(cells))
            }
        }
    }

    func end() {
        switch layout {
        case .array: reporter.raw(rowCount == 0 ? "]\n" : "\n]\n")
        case .table:
            if widths.isEmpty { startTable() }
            reporter.note(TextLayout.counted(rowCount, "row", "rows"))
        case .csv, .lines: break
        }
    }

    private func line(_ text: String) { reporter.raw(text + "\n") }

    // MARK: Tables

    private func startTable() {
        let header = columns.map { TextLayout.harmless($0) }
        widths = header.indices.map { index in max(1, ([header] + waiting).map { TextLayout.columns($0[index]) }.max() ?? 1) }
        fit()
        if hasHeader {
            line(tableLine(header))
            line(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
        }
        for row in waiting { line(tableLine(row)) }
        waiting = []
    }

    /// On a terminal the widest columns give way until a row fits.
    private func fit() {
        guard let width = reporter.outputWidth else { return }
        while widths.reduce(0, +) + 2 * (widths.count - 1) > width, let most = widths.max(), most > 8 {
            if let index = widths.firstIndex(of: most) { widths[index] = most - 1 }
        }
    }

    private func tableLine(_ cells: [String]) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let width = widths[index]
            let isLast = index == cells.count - 1
            let isCut = reporter.outputWidth != nil && TextLayout.columns(cell) > width
            let shown = isCut ? TextLayout.start(of: cell, columns: width - 1) + "…" : cell
            text += isLast ? shown : shown + String(repeating: " ", count: max(0, width - TextLayout.columns(shown))) + "  "
        }
        return text
    }

    // MARK: Values

    private static func text(_ value: DatabaseValue, null: String) -> String {
        switch value.storage {
        case .null: null
        case .int64(let number): String(number)
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): "x'\(Hex.digits(data))'"
        }
    }

    private static func json(_ value: DatabaseValue) -> JSONValue {
        switch value.storage {
        case .null: .null
        case .int64(let number): .int(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .blob(let data): .string("x'\(Hex.digits(data))'")
        }
    }

    /// RFC 4180: quoted where a reader could be mistaken.
    private static func csv(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" || $0 == "\n" || $0 == "\r" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Members of a JSON object need names of their own.
    private static func distinct(_ names: [String]) -> [String] {
        let taken = Set(names)
        var seen: [String: Int] = [:]
        return names.map { name in
            var number = seen[name, default: 0] + 1
            // Another column may have the name with the number.
            while number > 1, taken.contains("\(name):\(number)") { number += 1 }
            seen[name] = number
            return number == 1 ? name : "\(name):\(number)"
        }
    }
}
