internal import Coffer

/// The last line of a script, against which a database made from the script is verified.
enum ScriptProof {
    private static let start = "-- coffer content: "

    static func line(_ digest: String) -> String { start + digest }

    /// Returns the digest in the text after the last statement of a script, or nil if there is none.
    static func digest(in rest: [UInt8]) -> String? {
        let lines = String(decoding: rest, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.last { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }
}

extension ScriptSummary {
    /// The number of tables and rows, as part of a sentence.
    var counts: String {
        "\(counted: tableCount, "table"), \(counted: rowCount, "row")"
    }
    var facts: JSONObject { ["tables": tableCount, "rows": rowCount] }
}
