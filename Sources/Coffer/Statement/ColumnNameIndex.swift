/// An index of column positions by name. If several columns have the name, it contains the leftmost one.
///
/// Names are compared like SQLite's, without ASCII case. If no column has the name, the case of other letters
/// is ignored too.
struct ColumnNameIndex: Sendable {
    private let names: [String]
    private let positions: [String: Int]

    init(_ names: some Sequence<String>) {
        self.names = Array(names)
        positions = Dictionary(
            self.names.enumerated().map { ($1.foldingASCIICase(), $0) },
            uniquingKeysWith: { leftmost, _ in leftmost })
    }

    /// True if all names are distinct.
    var hasUniqueNames: Bool { positions.count == names.count }

    subscript(name: String) -> Int? {
        // The name is usually spelled like the column, and short names are compared faster than they are
        // hashed. If two columns differ only in case, the column with the exact spelling may not be the
        // leftmost one.
        if hasUniqueNames, let position = names.firstIndex(of: name) { return position }
        let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
        if !hasUniqueNames, !isASCII, let position = positionOfSameBytes(name) { return position }
        if let position = positions[name.foldingASCIICase()] { return position }
        guard !isASCII else { return nil }
        let lowercased = name.lowercased()
        return names.firstIndex { $0.lowercased() == lowercased }
    }

    /// Returns the position of a column whose name differs at most in the case of ASCII letters. Other
    /// columns may have names that are equal in Swift: a composed and a decomposed letter.
    private func positionOfSameBytes(_ name: String) -> Int? {
        let name = CaseInsensitiveName(name)
        return names.firstIndex { CaseInsensitiveName($0) == name }
    }
}
