/// Removes keys from messages. A key that was given by mistake as the name of a file or variable is on the
/// user's screen already, but must not reach the logs that store the program's output.
enum HiddenKeys {
    /// Returns the text with everything replaced that looks like a recovery key, also one with spaces or
    /// without separators, or like a raw key: hexadecimal digits, exactly as many as a raw key has with or
    /// without its salt. A file with such a name usually also has a folder or an extension, and is shown.
    static func hiding(in text: String) -> String {
        let groups = #/\b([a-zA-Z0-9]{4} ){13}[a-zA-Z0-9]{4}\b/#.wordBoundaryKind(.simple)
        return hidingWords(
            in: text.replacing(groups) { match in
                hasFormOfRecoveryKey(match.0.utf8) ? HiddenKeys.recoveryKey : String(match.0)
            })
    }

    private static let recoveryKey = "(characters that look like a recovery key)"

    private static func hidingWords(in text: String) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func isKey(_ word: [UInt8]) -> Bool {
            [64, 96].contains(word.count) && word.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        func end() {
            result +=
                isKey(word)
                ? Array("(\(word.count) digits that look like a key)".utf8)
                : hasFormOfRecoveryKey(word) || isRecoveryKeyWithoutSeparators(word)
                    ? Array(recoveryKey.utf8) : word
            word = []
        }
        for byte in text.utf8 {
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
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { digits += 1 }
            count += 1
        }
        return count == 69 && digits > 0
    }

    private static func isRecoveryKeyWithoutSeparators(_ word: [UInt8]) -> Bool {
        word.count == 56 && word.allSatisfy(\.isLetterOrDigit)
            && word.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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
