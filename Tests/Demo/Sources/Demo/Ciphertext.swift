import Foundation

/// The file as a thief would see it.
struct Ciphertext {
    let bytes: Data

    init(path: String) throws { bytes = try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// The first 16 bytes. In a plain SQLite file they are "SQLite format 3". In an encrypted file they are
    /// the salt.
    var header: String { bytes.prefix(16).map { String(format: "%02x", $0) }.joined(separator: " ") }

    /// The entropy in bits per byte. Random data has 8; text and plain databases have 4 to 6.
    var entropy: Double {
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        return counts.filter { $0 > 0 }.reduce(0) { sum, count in
            let share = Double(count) / Double(bytes.count)
            return sum - share * log2(share)
        }
    }

    /// Returns the texts that are readable in the file. Each should be long enough not to appear by chance: 8
    /// bytes or more.
    func readable(_ texts: [String]) -> [String] { texts.filter { bytes.range(of: Data($0.utf8)) != nil } }
}
