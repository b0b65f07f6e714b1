/// A line of an audit log: a JSON object whose last members chain it to the previous line.
///
/// `prev` is the hash of the previous line. `hash` is the hash of this line up to the comma before `"hash"`,
/// as its ``AuditSeal`` computes it. If the log has a secret, `key` identifies it. The members for the chain
/// have fixed places at both ends of the line, so no other member can be mistaken for them.
struct AuditRecord {
    static let firstPrevious = String(repeating: "0", count: 64)

    /// The maximum length of a record, in bytes. It has room for a path of 4096 bytes in JSON.
    static let longestLine = 131_072

    /// Returns the text of a new line.
    static func line(
        _ members: JSONObject, sequence: Int, previous: String, followsTornLine: Bool, seal: AuditSeal
    ) throws(Failure) -> String {
        var all: JSONObject = ["schema": 1, "seq": sequence]
        if let key = seal.keyID { all += ["key": key] }
        all += members
        if followsTornLine { all += ["after_torn_line": true] }
        all += ["prev": previous]
        let body = String(all.text.dropLast())
        return "\(body),\"hash\":\"\(try seal.hash(Array(body.utf8)[...]))\"}"
    }

    let sequence: Int
    let previous: String
    let hash: String
    /// The identifier of the secret, or nil for a line chained without one.
    let keyID: String?
    /// True if the previous line was cut off by a crash.
    let followsTornLine: Bool
    private let body: ArraySlice<UInt8>

    /// Parses a line. Returns nil unless it has the form of a complete record. ``isSealed(by:)`` verifies its
    /// hash.
    init?(_ line: [UInt8]) {
        var rest = line[...]
        guard rest.drop(prefix: AuditRecord.start),
            let digits = rest.drop(while: { (0x30...0x39).contains($0) }),
            let sequence = Int(digits), rest.drop(prefix: ",")
        else { return nil }
        self.sequence = sequence
        if rest.drop(prefix: "\"key\":\"") {
            guard let key = rest.drop(hexadecimalDigits: 16), rest.drop(prefix: "\",") else { return nil }
            keyID = key
        } else {
            keyID = nil
        }
        // ,"prev":"64 digits","hash":"64 digits"}
        let (previousSize, hashSize) = (9 + 64 + 1, 9 + 64 + 2)
        guard rest.count >= previousSize + hashSize else { return nil }
        body = line[..<(line.count - hashSize)]
        var end = rest.suffix(previousSize + hashSize)
        followsTornLine = rest.dropLast(previousSize + hashSize).ends(with: ",\"after_torn_line\":true")
        guard end.drop(prefix: ",\"prev\":\""), let previous = end.drop(hexadecimalDigits: 64),
            end.drop(prefix: "\",\"hash\":\""),
            let hash = end.drop(hexadecimalDigits: 64), end.drop(prefix: "\"}"), end.isEmpty
        else { return nil }
        self.previous = previous
        self.hash = hash
    }

    /// Returns true if the hash matches the text.
    func isSealed(by seal: AuditSeal) throws(Failure) -> Bool { try seal.hash(body) == hash }

    /// Returns true if the bytes may be a record that a crash cut off: they begin like a record but do not
    /// end like one.
    static func mayBeTorn(_ line: [UInt8]) -> Bool {
        let start = Array(start.utf8)
        return line.prefix(start.count).elementsEqual(start.prefix(line.count)) && !line.isEmpty
            && line.last != UInt8(ascii: "}")
    }

    private static let start = "{\"schema\":1,\"seq\":"
}

extension ArraySlice<UInt8> {
    /// Drops `text` from the start. Returns false if the slice does not start with it.
    fileprivate mutating func drop(prefix text: String) -> Bool {
        guard starts(with: text.utf8) else { return false }
        removeFirst(text.utf8.count)
        return true
    }

    /// Drops the matching bytes from the start and returns them, or nil if there are none.
    fileprivate mutating func drop(while isPart: (UInt8) -> Bool) -> String? {
        let part = prefix(while: isPart)
        removeFirst(part.count)
        return part.isEmpty ? nil : String(decoding: part, as: UTF8.self)
    }

    fileprivate mutating func drop(hexadecimalDigits count: Int) -> String? {
        let digits = prefix(count)
        guard digits.count == count,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        removeFirst(count)
        return String(decoding: digits, as: UTF8.self)
    }

    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
