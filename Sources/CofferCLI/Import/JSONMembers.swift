internal import Coffer

/// A JSON number together with its original spelling.
struct JSONNumber: Equatable {
    let text: String

    /// The integer or the real number, or nil if 64 bits cannot store it with all of its digits.
    var value: DatabaseValue? {
        let isInteger =
            text != "-0"
            && !text.utf8.contains { [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0) }
        guard !isInteger else { return Int64(text)?.databaseValue }
        guard let real = Double(text), SignificantDigits(text).fit(real) else { return nil }
        return real.databaseValue
    }

    func checked() throws(ImportRefusal) -> DatabaseValue {
        guard let value else {
            throw ImportRefusal(
                "the number \(text) would be another one in 64 bits, and the column is not a text column")
        }
        return value
    }
}

/// Parses a JSON object (RFC 8259) and keeps details that other parsers lose: the spelling of numbers and of
/// nested values, and duplicate members.
struct JSONMembers {
    struct Problem: Error {
        let reason: String
        static let syntax = Problem(reason: "it is not a JSON object")
    }

    private let bytes: [UInt8]
    private var index = 0
    private static let deepest = 512

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the members of an object in their order.
    static func members(of bytes: [UInt8]) throws(Problem) -> [ImportRecord.Member] {
        var result: [ImportRecord.Member] = []
        var names: Set<CaseInsensitiveName> = []
        var twice: String?
        try read(bytes) { name, value, text in
            if !names.insert(CaseInsensitiveName(name)).inserted { twice = twice ?? name }
            result.append(ImportRecord.Member(name: name, value: value ?? .value(text.databaseValue)))
        }
        if let twice { throw Problem(reason: "it has two members named '\(twice)'") }
        return result
    }

    /// Returns the names of the members of an object, with duplicates.
    static func names(of bytes: [UInt8]) throws(Problem) -> [String] {
        var names: [String] = []
        try read(bytes) { name, _, _ in names.append(name) }
        return names
    }

    private static func read(_ bytes: [UInt8], member: (String, ImportValue?, String) -> Void) throws(Problem)
    {
        var reader = JSONMembers(bytes)
        reader.skipSpace()
        guard reader.current == UInt8(ascii: "{") else { throw .syntax }
        try reader.readObject(depth: 0, member: member)
        reader.skipSpace()
        guard reader.index == bytes.count else { throw .syntax }
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) throws(Problem) {
        guard current == UInt8(ascii: character) else { throw .syntax }
        index += 1
    }

    /// Consumes the next character if it is `character`. Returns false otherwise.
    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    // MARK: Values

    /// - Parameter member: called with the name of each member, its value if a database can store it, and the
    ///   source text of the value.
    private mutating func readObject(depth: Int, member: (String, ImportValue?, String) -> Void)
        throws(Problem)
    {
        guard depth < JSONMembers.deepest else { throw .syntax }
        try take("{")
        skipSpace()
        guard !takes("}") else { return }
        repeat {
            skipSpace()
            let name = try readString()
            skipSpace()
            try take(":")
            skipSpace()
            let start = index
            let value = try readValue(depth: depth + 1)
            guard let text = String(validating: bytes[start..<index], as: UTF8.self) else { throw .syntax }
            member(name, value, text)
            skipSpace()
        } while takes(",")
        try take("}")
    }

    /// Reads a value. Returns nil for a list, and for an object that does not stand for a database value.
    private mutating func readValue(depth: Int) throws(Problem) -> ImportValue? {
        switch current {
        case UInt8(ascii: "\""): return .value(try readString().databaseValue)
        case UInt8(ascii: "{"):
            var count = 0
            var special: DatabaseValue?
            try readObject(depth: depth) { name, value, _ in
                count += 1
                special = value.flatMap { JSONMembers.special(name, $0) }
            }
            return count == 1 ? special.map { .value($0) } : nil
        case UInt8(ascii: "["):
            try readList(depth: depth)
            return nil
        case UInt8(ascii: "t"): return try readWord("true", true.databaseValue)
        case UInt8(ascii: "f"): return try readWord("false", false.databaseValue)
        case UInt8(ascii: "n"): return try readWord("null", .null)
        default: return .number(try readNumber())
        }
    }

    private mutating func readList(depth: Int) throws(Problem) {
        guard depth < JSONMembers.deepest else { throw .syntax }
        try take("[")
        skipSpace()
        guard !takes("]") else { return }
        repeat {
            skipSpace()
            _ = try readValue(depth: depth + 1)
            skipSpace()
        } while takes(",")
        try take("]")
    }

    /// Returns the value for one of the objects that `coffer query` writes.
    private static func special(_ name: String, _ value: ImportValue) -> DatabaseValue? {
        guard case .value(let value) = value, case .string(let text) = value.storage else { return nil }
        switch (name, text) {
        case ("blob", _): return Hex.bytes(text)?.databaseValue
        case ("real", "Infinity"): return Double.infinity.databaseValue
        case ("real", "-Infinity"): return (-Double.infinity).databaseValue
        default: return nil
        }
    }

    private mutating func readWord(_ word: String, _ value: DatabaseValue) throws(Problem) -> ImportValue {
        guard bytes[index...].starts(with: word.utf8) else { throw .syntax }
        index += word.utf8.count
        return .value(value)
    }

    private mutating func readNumber() throws(Problem) -> JSONNumber {
        let start = index
        _ = takes("-")
        if !takes("0") { try readDigits() }
        if takes(".") { try readDigits() }
        if takes("e") || takes("E") {
            if !takes("+") { _ = takes("-") }
            try readDigits()
        }
        return JSONNumber(text: String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func readDigits() throws(Problem) {
        let start = index
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw .syntax }
    }

    // MARK: Strings

    private mutating func readString() throws(Problem) -> String {
        try take("\"")
        var result: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: result, as: UTF8.self) else { throw .syntax }
                return text
            case UInt8(ascii: "\\"): result += try readEscape()
            case ..<0x20: throw .syntax
            default: result.append(byte)
            }
        }
        throw .syntax
    }

    private mutating func readEscape() throws(Problem) -> [UInt8] {
        guard let byte = current else { throw .syntax }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var units = [try readUnit()]
            if UTF16.isLeadSurrogate(units[0]) {
                try take("\\")
                try take("u")
                units.append(try readUnit())
            }
            guard let text = String(validating: units, as: UTF16.self) else { throw .syntax }
            return Array(text.utf8)
        default: throw .syntax
        }
    }

    private mutating func readUnit() throws(Problem) -> UInt16 {
        guard index + 4 <= bytes.count else { throw .syntax }
        let digits = bytes[index..<index + 4]
        guard digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .syntax }
        index += 4
        return unit
    }
}
