/// Formats help for a terminal of 80 columns.
struct HelpLayout {
    private static let width = 80
    /// The column of descriptions.
    private static let column = 26

    /// Breaks text into lines. An indented line, such as an example, stays as it is if it fits.
    func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            let indent = line.prefix { $0 == " " }.count
            return line.count <= HelpLayout.width
                ? [String(line)] : wrapped(String(line), first: indent, rest: indent == 0 ? 0 : indent + 5)
        }
    }

    /// Returns the lines that describe an argument.
    func lines(_ argument: CommandDescription.Argument) -> [String] {
        var words = argument.abstract ?? ""
        let values = argument.allValues.flatMap { $0.isEmpty ? nil : "values: \($0.joined(separator: ", "))" }
        let facts = [values, argument.defaultValue.map { "default: \($0)" }].compactMap { $0 }
        if !facts.isEmpty { words += " (\(facts.joined(separator: "; ")))" }
        let label = "  " + argument.label
        let description = wrapped(words, first: HelpLayout.column, rest: HelpLayout.column)
        guard label.count < HelpLayout.column, let first = description.first else {
            return [label] + description
        }
        return [label + first.dropFirst(label.count)] + description.dropFirst()
    }

    /// Breaks text at spaces.
    ///
    /// - Parameters:
    ///   - first: the indentation of the first line.
    ///   - rest: the indentation of the other lines.
    func wrapped(_ text: String, first: Int, rest: Int) -> [String] {
        var lines: [String] = []
        var line = String(repeating: " ", count: first)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > HelpLayout.width {
                lines.append(line)
                line = String(repeating: " ", count: rest)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }
}
