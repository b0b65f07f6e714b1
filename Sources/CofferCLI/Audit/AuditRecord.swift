internal import Foundation
internal import SQLCipherBridge

/// One line of an audit log: a JSON object whose last members chain it to the line before.
///
/// `prev` is the hash of the line before, and `hash` the SHA-256 of this line up to the comma before `"hash"`. Who changes, adds or removes a
/// line within the log breaks the chain; only the removal of its last lines needs the last hash kept elsewhere to be seen.
struct AuditRecord {
    static let firstPrevious = String(repeating: "0", count: 64)

    let sequence: Int
    let previous: String
    let hash: String
    /// Whether the line before is the rest of one that was not written to its end.
    let followsTornLine: Bool

    /// The text of a new line.
    static func line(_ members: [JSONValue.Member], sequence: Int, previous: String, followsTornLine: Bool) throws(Failure) -> String {
        var all: [JSONValue.Member] = [.init("schema", 1), .init("seq", .count(sequence))] + members
        if followsTornLine { all.append(.init("after_torn_line", true)) }
        all.append(.init("prev", .string(previous)))
        let body = String(JSONValue.object(all).text.dropLast())
        return "\(body),\"hash\":\"\(try digest(body))\"}"
    }

    /// Reads a line back; nil unless it is a whole record with the hash that its text has.
    init?(line: Substring) throws(Failure) {
        guard let mark = line.range(of: ",\"hash\":\"", options: .backwards), line.hasSuffix("\"}"),
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let sequence = object["seq"] as? Int, let previous = object["prev"] as? String, let hash = object["hash"] as? String,
            hash.count == 64, line[mark.upperBound...] == "\(hash)\"}"
        else { return nil }
        guard try AuditRecord.digest(line[..<mark.lowerBound]) == hash else { return nil }
        self.sequence = sequence
        self.previous = previous
        self.hash = hash
        followsTornLine = object["after_torn_line"] as? Bool ?? false
    }

    static func digest(_ text: some StringProtocol) throws(Failure) -> String {
        do throws(CryptographyFailure) {
            return try Hex.digits(Digest.sha256(Array(text.utf8)))
        } catch {
            throw Failure(.unavailable, "engine", "The cryptographic library does not compute SHA-256.")
        }
    }
}
