internal import Coffer
internal import Foundation

/// A text value whose bytes are not valid UTF-8. As a string, it has U+FFFD in place of the invalid ones.
struct InvalidText {
    /// The index of the column.
    let index: Int
    /// The value as SQL.
    let literal: String

    /// Returns the invalid texts of a row.
    static func all(in row: Row, _ values: [DatabaseValue]) throws -> [InvalidText] {
        var result: [InvalidText] = []
        for (index, value) in values.enumerated() {
            // The first byte of U+FFFD.
            guard case .string(let text) = value.storage, text.utf8.contains(0xef),
                text.unicodeScalars.contains("\u{fffd}")
            else { continue }
            try row.withUnsafeData(atIndex: index) { data in
                // The bytes of a database in UTF-16 are another encoding of the text.
                guard let data, String(validating: data, as: UTF8.self) == nil,
                    String(decoding: data, as: UTF8.self).hasSameBytes(as: text)
                else { return }
                result.append(InvalidText(index: index, literal: "CAST(X'\(Hex.digits(data))' AS TEXT)"))
            }
        }
        return result
    }
}
