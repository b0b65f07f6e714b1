/// Removes keys from messages. A key that was given by mistake as the name of a file or variable is on the
/// user's screen already, but must not reach the logs that store the program's output.
enum HiddenKeys {
    /// Returns the text with everything replaced that looks like a recovery key, in any of the forms in which
    /// one is accepted, or like a raw key: hexadecimal digits, exactly as many as a raw key has with or
    /// without its salt. A file whose name looks like a raw key usually also has a folder or an extension,
    /// and is shown.
    static func hiding(in text: String) -> String {
        hidingWords(in: hidingRecoveryKeys(in: Array(text.utf8)))
    }

    /// Returns the name with a key in it replaced, unless there is such a file, which is then no key.
    static func hiding(inName name: String) -> String { NewFile.exists(name) ? name : hiding(in: name) }

    /// Returns the member with the keys in its strings replaced.
    static func hiding(in value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(hiding(inName: text))
        case .array(let values): .array(values.map(hiding))
        case .null, .bool, .int, .double, .object: value
        }
    }

    private static let recoveryKey = "(characters that look like a recovery key)"

    // MARK: Recovery keys

    /// Replaces groups of letters and digits, some of them digits, that are equally long, and together about
    /// as long as a recovery key. Spaces, hyphens and line breaks may separate them. One group may have
    /// another length: a key with a typing error is almost as secret as one without.
    private static func hidingRecoveryKeys(in text: [UInt8]) -> [UInt8] {
        let groups = groups(of: text)
        var (result, end, index): ([UInt8], Int, Int) = ([], 0, 0)
        while index < groups.count {
            let count = groupCount(ofKeyIn: groups[index...], text)
            if count > 0 {
                result += text[end..<groups[index].lowerBound] + Array(recoveryKey.utf8)
                end = groups[index + count - 1].upperBound
            }
            index += max(1, count)
        }
        return result + text[end...]
    }

    /// Returns the places of the longest sequences of letters and digits.
    private static func groups(of text: [UInt8]) -> [Range<Int>] {
        var groups: [Range<Int>] = []
        for (index, byte) in text.enumerated() where byte.isLetterOrDigit {
            if let last = groups.last, last.upperBound == index {
                groups[groups.count - 1] = last.lowerBound..<(index + 1)
            } else {
                groups.append(index..<(index + 1))
            }
        }
        return groups
    }

    /// Returns the number of groups, from the first one on, that look like a recovery key; 0 if they do not.
    private static func groupCount(ofKeyIn groups: ArraySlice<Range<Int>>, _ text: [UInt8]) -> Int {
        // A key has at most 14 groups of four characters. A few more may precede it.
        let adjacent = adjacentGroups(groups.prefix(20), text)
        let size = adjacent.prefix(2).map(\.count).max() ?? 0
        func isClose(_ group: Range<Int>) -> Bool { abs(group.count - size) <= 1 }
        guard size >= 4, isClose(adjacent[0]) else { return 0 }
        var (characters, others, count) = (0, 0, 0)
        for (index, group) in adjacent.enumerated() {
            if group.count != size { others += 1 }
            characters += group.count
            guard others <= 1, characters <= (size < 6 ? 64 : 60) else { break }
            if characters >= 50, group.count == size || isClose(group) && characters <= 58 {
                count = index + 1
            }
        }
        guard count > 0,
            text[adjacent[0].lowerBound..<adjacent[count - 1].upperBound].contains(where: isDigit)
        else { return 0 }
        return count
    }

    /// Returns the first groups, up to one that other characters than separators precede.
    private static func adjacentGroups(_ groups: ArraySlice<Range<Int>>, _ text: [UInt8]) -> [Range<Int>] {
        var adjacent: [Range<Int>] = []
        for group in groups {
            if let last = adjacent.last,
                !text[last.upperBound..<group.lowerBound].allSatisfy(isSeparator)
            {
                break
            }
            adjacent.append(group)
        }
        return adjacent
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { " -\t\r\n".utf8.contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    // MARK: Raw keys

    private static func hidingWords(in text: [UInt8]) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func isKey(_ word: [UInt8]) -> Bool {
            [64, 96].contains(word.count) && word.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        func end() {
            result += isKey(word) ? Array("(\(word.count) digits that look like a key)".utf8) : word
            word = []
        }
        for byte in text {
            if isPartOfWord(byte) {
                word.append(byte)
            } else {
                end()
                result.append(byte)
            }
        }
        end()
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns true for the form of a recovery key, which a chosen passphrase does not have: 14 groups of
    /// four letters or digits, some of them digits, that hyphens or spaces separate.
    static func hasFormOfRecoveryKey(_ bytes: some Sequence<UInt8>) -> Bool {
        var (count, digits) = (0, 0)
        for byte in bytes {
            if count == 69, [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte) { continue }
            let fits =
                count % 5 == 4 ? [UInt8(ascii: "-"), UInt8(ascii: " ")].contains(byte) : byte.isLetterOrDigit
            guard fits else { return false }
            if isDigit(byte) { digits += 1 }
            count += 1
        }
        return count == 69 && digits > 0
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || "./_-".utf8.contains(byte)
    }
}

extension UInt8 {
    /// True for a letter or a digit of ASCII.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
