internal import Foundation

/// The digits of a decimal number without zeros at either end, and their place.
struct SignificantDigits: Equatable {
    private var digits: [UInt8] = []

    /// The number of digits before the point, negative if zeros follow the point: 1 for 3.14, -1 for 0.01.
    private var magnitude = 0

    /// The largest number of digits that is compared. Programs write 17 for a real number, rarely more.
    private static let longest = 100

    /// - Parameter text: a number of JSON.
    init(_ text: String) {
        let parts = text.split { $0 == "e" || $0 == "E" }
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        var isFraction = false
        for byte in (parts.first ?? "").utf8 {
            switch byte {
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "-"): continue
            case UInt8(ascii: "0") where digits.isEmpty: magnitude -= isFraction ? 1 : 0
            default:
                digits.append(byte)
                magnitude += isFraction ? 0 : 1
            }
        }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        magnitude = digits.isEmpty ? 0 : magnitude &+ exponent
    }

    /// Returns true if a real number has these digits when it is rounded to as many: 0.1 has one digit, and
    /// 9007199254740993.0 has 16, of which the nearest real number changes the last.
    func fit(_ real: Double) -> Bool {
        // Up to 15 digits always survive.
        if real.isNormal, digits.count <= 15 { return true }
        guard real.isFinite, digits.count <= SignificantDigits.longest else { return false }
        return self == SignificantDigits(String(format: "%.\(max(0, digits.count - 1))e", real))
    }
}
