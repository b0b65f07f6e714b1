/// The name of a table or a column, compared as SQLite compares it: without regard to the case of ASCII letters.
struct CaseInsensitiveName: Hashable, Sendable {
    /// The name as it was written first.
    let spelling: String

    private let folded: String

    init(_ spelling: String) {
        self.spelling = spelling
        self.folded = spelling.foldingASCIICase()
    }

    // Bytes are compared, not characters: to Swift a composed and a decomposed letter are equal, to SQLite they are not. Strings that
    // differ to Swift have other bytes, too, and that is found out at once.
    static func == (lhs: CaseInsensitiveName, rhs: CaseInsensitiveName) -> Bool {
        lhs.folded == rhs.folded && lhs.folded.utf8.elementsEqual(rhs.folded.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(folded)
    }
}

extension CaseInsensitiveName: Comparable {
    static func < (lhs: CaseInsensitiveName, rhs: CaseInsensitiveName) -> Bool {
        lhs.folded.utf8.lexicographicallyPrecedes(rhs.folded.utf8)
    }
}

extension String {
    /// The string with ASCII capitals made small; other characters stay as they are, as in SQLite.
    fileprivate func foldingASCIICase() -> String {
        guard utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }) else { return self }
        let bytes = utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
