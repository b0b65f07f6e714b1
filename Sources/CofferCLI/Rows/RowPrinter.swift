internal import Coffer

/// Prints the rows of successive results as they arrive. Every command that prints rows uses it.
final class RowPrinter {
    private let style: RowStyle
    private let reporter: Reporter
    /// True if each row is a line of the tool's own JSON.
    private let isReport: Bool
    /// The number of the statement that produced the rows, if there are several statements.
    var statement: Int?

    /// True if the next result may be that of EXPLAIN QUERY PLAN, which is a tree in tables.
    var mayBePlan = false
    private var plan: PlanTree?

    private var columns: [String] = []
    /// The form of the rows in JSON, in formats of JSON.
    private var json: JSONRow?
    private var rowCount = 0
    /// True if a text that is not UTF-8 was reported.
    private var hasWarned = false
    private var resultCount = 0

    /// The rows of a table that are held back until the column widths are known.
    private var waiting: [[String]] = []
    private var widths: [Int] = []
    private static let rowsThatDecide = 500

    /// The rows of a result that are not written yet.
    private var held = HeldRows()
    /// True if rows are written together. Otherwise, each row is written immediately.
    private var holdsRows = false

    /// The path of the file that the rows come from, if there are several files. It becomes the first column.
    private let path: String?
    /// The header that was printed last, if the rows of several files form one table.
    private let header: SharedHeader?

    /// - Parameters:
    ///   - path: the path of the file, or nil if there is only one.
    ///   - header: the header that the printers of all files share.
    init(_ style: RowStyle, reporter: Reporter, path: String? = nil, header: SharedHeader? = nil) {
        self.path = path
        self.header = header
        self.style = style
        self.reporter = reporter
        isReport = reporter.style.isJSON
    }

    /// Prints the rows of a statement, up to the last one or until the output is closed.
    func print(_ statement: Statement, _ arguments: StatementArguments) throws {
        begin(Array(statement.columnNames))
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        do {
            // The rows of a change cannot be fetched again, so a killed process must not lose them.
            holdsRows = statement.isReadonly && !reporter.isOutputShown
            defer {
                writeHeldRows()
                holdsRows = false
            }
            while let row = try rows.next(), !reporter.isOutputClosed {
                let values = Array(row.values)
                try add(values, invalid: InvalidText.all(in: row, values))
            }
        }
        end()
    }

    private func write(_ row: [UInt8]) {
        if held.add(row) || !holdsRows { writeHeldRows() }
    }

    private func writeHeldRows() {
        guard !held.bytes.isEmpty else { return }
        if isReport {
            reporter.results(held.count, lines: held.bytes)
        } else {
            reporter.raw(bytes: held.bytes)
        }
        held.removeAll()
    }

    /// Begins a result.
    private func begin(_ columns: [String]) {
        let columns = isReport ? columns : path.map { _ in ["path"] + columns } ?? columns
        self.columns = RowPrinter.distinct(columns)
        (rowCount, waiting, widths) = (0, [], [])
        defer { resultCount += 1 }
        guard !isReport else {
            let line = reporter.resultLine(
                path.map { ["path": $0] } ?? [:], statement.map { ["statement": $0] } ?? [:],
                ["columns": self.columns])
            json = JSONRow(inResult: line)
            return
        }
        let isPlan = mayBePlan && style.format == .table && columns == PlanTree.columns
        plan = isPlan ? PlanTree() : nil
        var hasHeader: Bool { style.hasHeader && (header?.isNeeded(for: columns, reporter) ?? true) }
        switch style.format {
        case .table, .line: if resultCount > 0 { line("") }
        case .csv: if hasHeader { line(columns.map(RowText.csvField).joined(separator: ",")) }
        case .tsv: if hasHeader { line(columns.map(RowText.tsvField).joined(separator: "\t")) }
        case .quote: if hasHeader { line(columns.map(\.databaseValue.dumpLiteral).joined(separator: ",")) }
        case .json:
            reporter.raw("[")
            json = JSONRow(columns: self.columns, start: ",\n  ", end: "")
        case .markdown:
            if resultCount > 0 { line("") }
            // A Markdown table must have a header.
            line("| " + columns.map(RowText.markdown).joined(separator: " | ") + " |")
            line("|" + columns.map { _ in "---|" }.joined())
        case .jsonl: json = JSONRow(columns: self.columns, start: "", end: "\n")
        }
    }

    /// - Parameter invalid: the texts that are not UTF-8. Only SQL literals can contain their bytes.
    private func add(_ values: [DatabaseValue], invalid: [InvalidText]) {
        defer { rowCount += 1 }
        if style.format == .quote && !isReport && !invalid.isEmpty { return addLiterals(values, invalid) }
        if !invalid.isEmpty && !hasWarned {
            let place = path.map { "\(harmless: $0): " } ?? ""
            reporter.warning(
                "\(place)Text that is not valid UTF-8 is written with U+FFFD in place of its invalid bytes. "
                    + "'coffer dump' and --format quote keep them.")
            hasWarned = true
        }
        let values = isReport ? values : path.map { [$0.databaseValue] + values } ?? values
        if let bytes = json?.bytes(values) { return addJSON(bytes) }
        switch style.format {
        case .table where plan != nil: plan?.add(values)
        case .table: addToTable(values.map { TextLayout.harmless(RowText.plain($0)) })
        case .line: addLines(values)
        case .csv: line(values.map { RowText.csv($0, null: style.nullText) }.joined(separator: ","))
        case .tsv: line(values.map(RowText.tsv).joined(separator: "\t"))
        case .json, .jsonl: break
        case .markdown:
            line("| " + values.map { RowText.markdown(RowText.plain($0)) }.joined(separator: " | ") + " |")
        case .quote: line(values.map(\.dumpLiteral).joined(separator: ","))
        }
    }

    private func addLiterals(_ values: [DatabaseValue], _ invalid: [InvalidText]) {
        var literals = values.map(\.dumpLiteral)
        for text in invalid { literals[text.index] = text.literal }
        line(((path.map { [$0.databaseValue.dumpLiteral] } ?? []) + literals).joined(separator: ","))
    }

    private func end() {
        guard !isReport else { return }
        switch style.format {
        case .json: reporter.raw(rowCount == 0 ? "]\n" : "\n]\n")
        case .table:
            if let plan { return plan.lines.forEach(line) }
            if widths.isEmpty { startTable() }
            reporter.note(TextLayout.counted(rowCount, "row"))
        case .line, .csv, .tsv, .jsonl, .markdown, .quote: break
        }
    }

    private func line(_ text: String) { write(Array((text + "\n").utf8)) }

    private func addJSON(_ bytes: [UInt8]) {
        // The comma before the first row of an array is omitted.
        write(rowCount == 0 && style.format == .json && !isReport ? Array(bytes.dropFirst()) : bytes)
    }

    private func addLines(_ values: [DatabaseValue]) {
        if rowCount > 0 { line("") }
        let names = columns.map { TextLayout.harmless($0) }
        let width = names.map(TextLayout.columns).max() ?? 0
        for (name, value) in zip(names, values) {
            let indent = String(repeating: " ", count: width - TextLayout.columns(name))
            line("\(indent)\(name) = \(harmless: RowText.plain(value))")
        }
    }

    /// Makes names unique, as the members of a JSON object must be. It compares bytes, like JSON and SQLite:
    /// an accented letter and the same letter with a combining accent are different names.
    private static func distinct(_ names: [String]) -> [String] {
        let taken = Set(names.map(ExactText.init))
        var seen: [ExactText: Int] = [:]
        return names.map { name in
            var number = seen[ExactText(name), default: 0] + 1
            // Another column may already have the numbered name.
            while number > 1, taken.contains(ExactText("\(name):\(number)")) { number += 1 }
            seen[ExactText(name)] = number
            return number == 1 ? name : "\(name):\(number)"
        }
    }

    // MARK: Tables

    private func addToTable(_ cells: [String]) {
        guard widths.isEmpty else { return line(tableLine(cells)) }
        waiting.append(cells)
        if waiting.count == RowPrinter.rowsThatDecide { startTable() }
    }

    private func startTable() {
        let header = columns.map { TextLayout.harmless($0) }
        widths = header.indices.map { index in
            max(1, ([header] + waiting).map { TextLayout.columns($0[index]) }.max() ?? 1)
        }
        fit()
        if style.hasHeader {
            line(tableLine(header))
            line(tableLine(widths.map { String(repeating: "-", count: $0) }))
        }
        for row in waiting { line(tableLine(row)) }
        waiting = []
    }

    /// Narrows the widest columns until a row fits the terminal.
    private func fit() {
        guard let width = reporter.outputWidth else { return }
        while widths.reduce(0, +) + 2 * (widths.count - 1) > width, let most = widths.max(), most > 8 {
            if let index = widths.firstIndex(of: most) { widths[index] = most - 1 }
        }
    }

    private func tableLine(_ cells: [String]) -> String {
        let whole = tableLine(cells, isCut: false)
        guard let limit = reporter.outputWidth, TextLayout.columns(whole) > limit else { return whole }
        let text = tableLine(cells, isCut: true)
        // There are too many columns even at minimum width, so the last ones are not shown.
        return TextLayout.columns(text) > limit ? TextLayout.start(of: text, columns: limit - 1) + "…" : text
    }

    /// - Parameter isCut: true to shorten cells that are wider than their column.
    private func tableLine(_ cells: [String], isCut: Bool) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let width = widths[index]
            let isLast = index == cells.count - 1
            let shown =
                isCut && TextLayout.columns(cell) > width
                ? TextLayout.start(of: cell, columns: width - 1) + "…" : cell
            text +=
                isLast
                ? shown
                : shown + String(repeating: " ", count: max(0, width - TextLayout.columns(shown))) + "  "
        }
        return text
    }
}
