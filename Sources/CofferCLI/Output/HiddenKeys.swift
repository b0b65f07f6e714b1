/// Removes keys from messages. A key that was given by mistake as the name of a file or variable is on the
/// user's screen already, but must not reach the logs that store the program's output.
enum HiddenKeys {
    /// Returns the text with everything replaced that looks like a recovery key, in any of the forms in which
    /// one is accepted, like an identity, or like a raw key: hexadecimal digits, exactly as many as a raw key
    /// has with or without its salt. A file whose name looks like a raw key usually also has a folder or an
    /// extension, and is shown.
    static func hiding(in text: String) -> String {
        hidingWords(in: hidingRecoveryKeys(in: Array(text.utf8)))
    }

    /// Returns the name with a key in it replaced, unless a file has this name.
    ///
    /// - Parameter location: the path of the file, if it is not the name.
    static func hiding(inName name: String, at location: String? = nil) -> String {
        NewFile.exists(location ?? name) ? name : hiding(in: name)
    }

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

    /// Replaces groups of letters and digits that together look like a recovery key, however they are grouped
    /// and separated: a key with typing errors is almost as secret as one without.
    private static func hidingRecoveryKeys(in text: [UInt8]) -> [UInt8] {
        let groups = groups(of: text)
        var (result, end, index): ([UInt8], Int, Int) = ([], 0, 0)
        while index < groups.count {
            guard let next = endOfKey(in: groups, from: index) else {
                index += 1
                continue
            }
            result += text[end..<groups[index].range.lowerBound] + Array(recoveryKey.utf8)
            end = groups[next - 1].range.upperBound
            index = next
        }
        return result + text[end...]
    }

    /// Letters and digits without another character between them.
    private struct Group {
        var range: Range<Int>
        var facts = Facts()
        /// The characters between this group and the one before.
        let gap: Gap

        /// True if the group may be the beginning or the end of a key. Of the groups of four of a key, every
        /// fifth has no digit.
        var isLikeKey: Bool {
            facts.digits > 0 || facts.smallLetters == 0 || (3...5).contains(facts.count)
        }
    }

    private struct Facts {
        var (count, digits, smallLetters) = (0, 0, 0)
        /// The number of letters that are not hexadecimal digits.
        var otherLetters = 0
        /// The number of places at which a letter follows a digit, or a digit a letter.
        var changes = 0

        mutating func add(_ byte: UInt8, after last: UInt8?) {
            count += 1
            if isDigit(byte) { digits += 1 }
            if byte >= UInt8(ascii: "a") { smallLetters += 1 }
            if !Character(Unicode.Scalar(byte)).isHexDigit { otherLetters += 1 }
            if let last, isDigit(last) != isDigit(byte) { changes += 1 }
        }

        static func += (facts: inout Facts, others: Facts) {
            facts.count += others.count
            facts.digits += others.digits
            facts.smallLetters += others.smallLetters
            facts.otherLetters += others.otherLetters
            facts.changes += others.changes
        }

        /// True for about as many letters and digits as a key has, mixed as in random ones. Of the 56
        /// characters of a key, 17 are digits on average, and 28 are not hexadecimal digits.
        /// Words and numbers, hashes, dates and identifiers are not mixed in this way.
        var areOfKey: Bool {
            (50...62).contains(count) && digits >= 6 && otherLetters >= 6 && count - digits >= 12
                && (smallLetters == 0 || changes >= 8)
        }
    }

    private static func groups(of text: [UInt8]) -> [Group] {
        var groups: [Group] = []
        for (index, byte) in text.enumerated() where byte.isLetterOrDigit {
            let end = groups.last?.range.upperBound
            if let end, end == index {
                groups[groups.count - 1].range = groups[groups.count - 1].range.lowerBound..<(index + 1)
                groups[groups.count - 1].facts.add(byte, after: text[index - 1])
            } else {
                groups.append(Group(range: index..<(index + 1), gap: Gap(text[(end ?? 0)..<index])))
                groups[groups.count - 1].facts.add(byte, after: nil)
            }
        }
        return groups
    }

    /// Returns the index after the last group of a key that begins with one group; nil if none begins there.
    private static func endOfKey(in groups: [Group], from start: Int) -> Int? {
        guard groups[start].isLikeKey else { return nil }
        var (facts, end, mistakes): (Facts, Int?, Int) = (Facts(), nil, 0)
        for index in start..<groups.count where end == nil {
            if index > start {
                if groups[index].gap == .mistake { mistakes += 1 }
                guard groups[index].gap != .end, mistakes <= 2, facts.count <= 62 else { return nil }
            }
            facts += groups[index].facts
            if facts.areOfKey { end = index + 1 }
        }
        guard var end else { return nil }
        while end < groups.count, groups[end].gap == .separator, groups[end].isLikeKey { end += 1 }
        return end
    }

    private enum Gap {
        /// Spaces, hyphens and line breaks, and the dashes that a word processor makes of hyphens.
        case separator
        /// Another character, which may be a typing error.
        case mistake
        case end

        init(_ bytes: ArraySlice<UInt8>) {
            let others = bytes.filter { !" -\t\r\n".utf8.contains($0) && $0 < 0x80 }
            guard let other = others.first else {
                self = .separator
                return
            }
            // A quotation mark or a colon with a space ends a word of the message.
            let isMistake =
                bytes.count == 1
                ? other != UInt8(ascii: "/") : bytes.count == 2 && !"/'\"`:;,.()[]{}".utf8.contains(other)
            self = isMistake ? .mistake : .end
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    // MARK: Raw keys and identities

    private static func hidingWords(in text: [UInt8]) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func isKey(_ word: some Collection<UInt8>) -> Bool {
            [64, 96].contains(word.count) && word.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        func end() {
            if let start = identityStart(word) {
                word.replaceSubrange(start..., with: "(characters that look like an identity)".utf8)
            }
            // An option with its value, as in "-k" for "-k <key>".
            if word.first == UInt8(ascii: "-") {
                for count in [96, 64] where word.count > count && isKey(word.suffix(count)) {
                    word.replaceSubrange(
                        (word.count - count)..., with: "(\(count) digits that look like a key)".utf8)
                }
            }
            // Hyphens begin an option, "0x" a number, and a point ends a sentence.
            let start = word.prefix { $0 == UInt8(ascii: "-") }.count
            let prefix = word.dropFirst(start).starts(with: "0x".utf8) ? start + 2 : start
            let suffix = word.dropFirst(prefix).reversed().prefix { "-.".utf8.contains($0) }.count
            let digits = word.dropFirst(prefix).dropLast(suffix)
            if isKey(digits) {
                word.replaceSubrange(
                    digits.indices, with: "(\(digits.count) digits that look like a key)".utf8)
            }
            result += word
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

    /// Returns the index at which an identity begins, which is a private key; nil if there is none.
    private static func identityStart(_ word: [UInt8]) -> Int? {
        let beginning = Array("coffer-identity-".utf8)
        let letters = word.map { UInt8(ascii: "A") <= $0 && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        return word.indices.first {
            letters[$0...].starts(with: beginning) && word.count - $0 > beginning.count + 20
        }
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
