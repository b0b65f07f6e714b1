extension Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// The columns and their values.
    public var description: String {
        "[" + map { "\($0.0):\($0.1)" }.joined(separator: " ") + "]"
    }

    /// The columns and their values, the row without its adapter, the scopes, and the number of prefetched
    /// rows, one per line.
    public var debugDescription: String {
        let details = details(indentation: "  ")
        let isAdapted = unadapted !== self
        guard isAdapted || !details.isEmpty else { return description }
        return (["▿ " + description] + (isAdapted ? ["  unadapted: " + unadapted.description] : []) + details)
            .joined(separator: "\n")
    }

    private func details(indentation: String) -> [String] {
        var lines: [String] = []
        for name in scopes.names.sorted() {
            guard let scope = scopes[name] else { continue }
            lines.append("\(indentation)- \(name): \(scope.description)")
            lines += scope.details(indentation: indentation + "  ")
        }
        for key in prefetchedRows.keys.sorted() {
            guard let rows = prefetchedRows[key] else { continue }
            lines.append("\(indentation)+ \(key): \(rows.count) \(rows.count > 1 ? "rows" : "row")")
        }
        return lines
    }
}
