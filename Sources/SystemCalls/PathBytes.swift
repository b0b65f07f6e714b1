/// Parts of paths, by their bytes, as the system sees them.
///
/// Swift's functions compare characters instead. A character can consist of a slash, or of the hyphen of
/// `-journal`, and of a mark before or after it: such a path would have no slash and no ending.
extension String {
    /// The index of the last slash.
    package var lastSlash: Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The text after the last slash.
    package var lastComponent: String {
        lastSlash.map { String(self[utf8.index(after: $0)...]) } ?? self
    }

    /// The text before the last slash: `/` for a file in the root directory, and `.` without a slash.
    package var folder: String {
        guard let slash = lastSlash else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    package func begins(withBytesOf beginning: String) -> Bool { utf8.starts(with: beginning.utf8) }

    package func ends(inBytesOf ending: String) -> Bool {
        utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }

    /// Returns the text without an ending; nil if it has another one.
    package func without(ending: String) -> String? {
        guard ends(inBytesOf: ending) else { return nil }
        return String(self[..<utf8.index(endIndex, offsetBy: -ending.utf8.count)])
    }
}
