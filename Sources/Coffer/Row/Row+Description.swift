extension Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// The columns and their values.
    public var description: String {
        "[" + map { "\($0.0):\($0.1)" }.joined(separator: " ") + "]"
    }

    /// The columns and their values, the row without its adapter, and the scopes, one a line.
    public var debugDescription: String { describe(level: 0) }

    private func describe(level: Int) -> String {
        if level == 0 && self == unadapted { return description }
        let prefix = level == 0 ? "▿ " : ""
        var lines: [String] = []
        var head = prefix + description
        if level == 0 {
            lines.append(head)
            let unadapted = self.unadapted
            if self != unadapted || !scopes.names.isEmpty {
                lines.append("  unadapted: " + unadapted.description)
            }
        } else {
            head = description
            lines.append(head)
        }
        for name in scopes.names.sorted() {
            guard let scope = scopes[name] else { continue }
            let text = scope.describe(level: level + 1).split(separator: "\n", omittingEmptySubsequences: false)
            let indent = level == 0 ? "  " : "  "
            for (offset, line) in text.enumerated() {
                lines.append(offset == 0 ? "\(indent)- \(name): \(line)" : "\(indent)\(line)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
