internal import KeyMaterial

/// Passphrases that people can read, say and type, made of words with two syllables.
///
/// A syllable consists of one of 16 consonants, one of 4 vowels, and one of 4 endings, which is 8 random
/// bits. No ending can be confused with the consonant of the next syllable, so different bits always give
/// different texts.
/// never give the same text.
enum WordPassphrase {
    static let bitsPerWord = 16
    static let separator = UInt8(ascii: "-")

    private static let consonants = Array("bdfghjklmnprstvz".utf8)
    private static let vowels = Array("aiou".utf8)
    private static let endings: [UInt8?] = [nil, UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "l")]

    /// Converts random bytes to words, two bytes for each word.
    static func text(from random: borrowing SecretBytes) -> SecretBytes {
        // The longest syllable has three letters.
        var buffer = SecretBytes(count: random.count * 3 + random.count / 2)
        var count = 0
        random.withUnsafeBytes { random in
            buffer.withUnsafeMutableBytes { buffer in
                for unsafe(index, byte) in unsafe random.enumerated() {
                    if index > 0 && index.isMultiple(of: 2) {
                        unsafe buffer[count] = separator
                        count += 1
                    }
                    unsafe buffer[count] = consonants[Int(byte >> 4)]
                    unsafe buffer[count + 1] = vowels[Int(byte >> 2 & 3)]
                    count += 2
                    if let ending = endings[Int(byte & 3)] {
                        unsafe buffer[count] = ending
                        count += 1
                    }
                }
            }
        }
        return buffer.prefix(count)
    }
}
