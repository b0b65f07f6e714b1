internal import Glibc

/// The name of a table or column, compared without regard to the case of ASCII letters, as in SQLite.
package struct CaseInsensitiveName: Hashable, Sendable {
    /// The name in its original spelling.
    package let spelling: String

    private let folded: String

    package init(_ spelling: String) {
        self.spelling = spelling
        self.folded = spelling.foldingASCIICase()
    }

    // Compares bytes instead of characters: Swift considers a composed and a decomposed letter equal, SQLite
    // does not.
    package static func == (lhs: CaseInsensitiveName, rhs: CaseInsensitiveName) -> Bool {
        lhs.folded.hasSameBytes(as: rhs.folded)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(folded)
    }
}

extension CaseInsensitiveName: Comparable {
    package static func < (lhs: CaseInsensitiveName, rhs: CaseInsensitiveName) -> Bool {
        lhs.folded.utf8.lexicographicallyPrecedes(rhs.folded.utf8)
    }
}

extension String {
    /// Returns the name, with underscores at its end if others have it already.
    func unique(among names: Set<CaseInsensitiveName>) -> String {
        var name = self
        while names.contains(CaseInsensitiveName(name)) { name += "_" }
        return name
    }

    /// Returns true if another string has the same UTF-8 bytes. Swift's `==` is weaker: it compares by
    /// canonical equivalence.
    package func hasSameBytes(as other: String) -> Bool {
        let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                guard bytes.count == others.count else { return false }
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
                return unsafe memcmp(start, otherStart, bytes.count) == 0
            }
        }
        return (result ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Returns the string with ASCII letters in lower case. Other characters are unchanged, as in SQLite.
    func foldingASCIICase() -> String {
        guard utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }) else {
            return self
        }
        let bytes = utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
