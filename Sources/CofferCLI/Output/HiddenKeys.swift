/// Messages without what stands there by mistake: who gives a key where a file or a variable is named has it
/// on the screen, but not in the logs that keep what programs say.
enum HiddenKeys {
    /// The text with words that are exactly as long as a raw key, with or without its salt, and consist of
    /// hexadecimal digits, replaced. A file whose name has so many digits in it has a folder or an ending as
    /// well, mostly, and is shown.
    static func hiding(in text: String) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func isKey(_ word: [UInt8]) -> Bool {
            [64, 96].contains(word.count) && word.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        func end() {
            result += isKey(word) ? Array("(\(word.count) digits that look like a key)".utf8) : word
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

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...: true
        default: false
        }
    }
}
