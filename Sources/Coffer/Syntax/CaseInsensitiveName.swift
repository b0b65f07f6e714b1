internal import Glibc

/// The name of a table or a column, compared as SQLite compares it: without regard to the case of ASCII
/// letters.
struct CaseInsensitiveName: Hashable, Sendable {
    /// The name as it was written first.
    let spelling: String

    private let folded: String

    init(_ spelling: String) {
        self.spelling = spelling
        self.folded = spelling.foldingASCIICase()
    }

    // Bytes are compared, not characters: to Swift a composed and a decomposed letter are equal, to SQLite
    // they are not.
    static func == (lhs: CaseInsensitiveName, rhs: CaseInsensitiveName) -> Bool {
        lhs.folded.hasSameBytes(as: rhs.folded)
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
    /// Whether another string has the same bytes of UTF-8. Strings are equal when they look the same, which
    /// is less.
    func hasSameBytes(as other: String) -> Bool {
        let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                guard bytes.count == others.count else { return false }
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
                return unsafe memcmp(start, otherStart, bytes.count) == 0
            }
        }
        return (result ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// The string with ASCII capitals made small; other characters stay as they are, as in SQLite.
    func foldingASCIICase() -> String {
        guard utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }) else {
            return self
        }
        let bytes = utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
