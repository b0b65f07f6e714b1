internal import ArgumentParser
internal import Coffer

struct DiffCommand: RecordedOperation {
    static let configuration = CommandConfiguration.coffer(
        "diff <old> <new> [--rows] [options]", abstract: "Compare two databases by schema, tables and rows.",
        discussion: """
            Shows the content that is in only one of the databases. Rows are matched by row ID, or by \
            primary key in tables without row IDs; values are compared byte for byte. Both databases may be \
            in use, and may have different keys. Exit code 0 if the content is the same, 1 if it differs. \
            Encryption and page layout do not count.

            With --rows, prints each row that differs: - for a removed row, + for an added one, and ~ for a \
            changed one, with the values as SQL literals. This is content: protect the output.

            EXAMPLES
              coffer diff /backup/app.db app.db --key file:app.key
              coffer diff old.db new.db --rows --key file:old.key --new-key file:new.key
            """)

    @Argument(help: "The old database.", completion: .file())
    var old: String

    @Argument(help: "The new database.", completion: .file())
    var new: String

    @Flag(help: "Print each row that differs.")
    var rows = false

    @OptionGroup(title: "The key of both, or of the first")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the second, if different")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        for path in [old, new] { try FileNames.checkIsNoDash(path, "a database") }
    }

    var names: [String] { [old, new] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        var newRequest = try newKey.requestIfGiven(besides: key, for: [new])
        newRequest?.isInUse = true
        try FileNames.checkHasContent(new)
        let keys = try session.keys(key, of: old)
        let given = try session.keys.key(ifGiven: newRequest, subject: new)?.database
        return try keys.open(old, cipher: cipher.settings) { first in
            if let given { return try compare(first.database, given, in: session, trail) }
            return try keys.open(new, cipher: cipher.settings) {
                try compare(first.database, $0.database, in: session, trail)
            }
        }
    }

    private func compare(
        _ oldKey: DatabaseKey, _ newKey: DatabaseKey, in session: Session, _ trail: AuditTrail
    ) throws -> ExitStatus {
        var options = DatabaseFile.ConversionOptions()
        options.cipher = cipher.settings
        options.lockTimeout = session.lockTimeout
        let printer = DifferencePrinter(session.reporter)
        var isSame = false
        try trail.record(old) { _ in
            try trail.record(new) { [options] _ in
                let difference = try session.work(new) { progress in
                    try DatabaseFile(path: new).difference(
                        from: DatabaseFile(path: old), key: newKey, oldKey: oldKey, options: options,
                        progress: progress,
                        row: rows ? { try printer.print($0) } : nil)
                }
                printer.print(difference, old, new)
                if !rows, !output.json, difference.tables.contains(where: \.isComparablyDifferent) {
                    session.reporter.note("--rows prints the rows that differ.")
                }
                isSame = difference.isEmpty
                return false
            }
            return false
        }
        return isSame ? .done : .answerIsNo
    }
}

/// Reports differences.
private struct DifferencePrinter {
    private let reporter: Reporter

    init(_ reporter: Reporter) { self.reporter = reporter }

    func print(_ row: DatabaseFile.RowDifference) throws {
        try reporter.checkOutput()
        guard !reporter.isOutputClosed else {
            throw Failure(.inputOutput, "io", "The output was closed early.")
        }
        let facts: JSONObject = [
            "table": row.table, "change": row.change.rawValue, "columns": row.columns, "before": row.before,
            "after": row.after,
        ]
        let sign =
            switch row.change {
            case .added: "+"
            case .removed: "-"
            case .changed: "~"
            }
        reporter.result(facts, text: ["\(sign) \(SQLText.name(row.table)) \(values(row))"], isAnswer: true)
    }

    /// Returns the columns to print: the first one, which identifies the row, and for a change only those
    /// that differ.
    private func values(_ row: DatabaseFile.RowDifference) -> String {
        row.columns.indices.compactMap { index in
            let name = SQLText.name(row.columns[index])
            let (before, after) = (
                row.before.map { SQLText.literal($0[index]) }, row.after.map { SQLText.literal($0[index]) }
            )
            if let before, let after, before != after { return "\(name) = \(before) -> \(after)" }
            guard index == 0 || row.change != .changed else { return nil }
            return "\(name) = \(before ?? after ?? "")"
        }.joined(separator: ", ")
    }

    func print(_ difference: DatabaseFile.Difference, _ old: String, _ new: String) {
        var lines: [String] = []
        for setting in difference.settings {
            lines.append("\(setting.name): \(setting.before) -> \(setting.after)")
        }
        for object in difference.schema {
            let name = "\(object.type) \(SQLText.name(object.name))"
            switch (object.before, object.after) {
            case (nil, let sql?): lines.append("+ \(name)\(SQLText.remark(sql))")
            case (let sql?, nil): lines.append("- \(name)\(SQLText.remark(sql))")
            default:
                lines.append("~ \(name)")
                lines.append("    -\(SQLText.remark(object.before ?? ""))")
                lines.append("    +\(SQLText.remark(object.after ?? ""))")
            }
        }
        for table in difference.tables where table.isDifferent {
            let counts =
                "\(grouped: table.rowCountBefore) -> \(counted: table.rowCountAfter, "row")"
            let changes =
                table.isComparable
                ? "\(grouped: table.removedCount) removed, \(grouped: table.addedCount) added, "
                    + "\(grouped: table.changedCount) changed"
                : "different, but not comparable row by row"
            lines.append("table \(SQLText.name(table.name)): \(counts) (\(changes))")
        }
        let count = TextLayout.counted(difference.tables.count, "table")
        let rows = TextLayout.counted(difference.tables.reduce(0) { $0 + $1.rowCountAfter }, "row")
        if difference.isEmpty { lines = ["\(new): the same content as \(old) (\(count), \(rows))"] }
        reporter.result(
            [
                "path": old, "other": new, "same": difference.isEmpty,
                "settings": difference.settings.map(json), "objects": difference.schema.map(json),
                "tables": difference.tables.map(json), "code": difference.isEmpty ? 0 : 1,
            ], text: lines, isAnswer: !difference.isEmpty)
    }

    private func json(_ setting: DatabaseFile.SettingDifference) -> JSONObject {
        ["name": setting.name, "before": setting.before, "after": setting.after]
    }

    private func json(_ object: DatabaseFile.SchemaDifference) -> JSONObject {
        ["type": object.type, "name": object.name, "before": object.before, "after": object.after]
    }

    private func json(_ table: DatabaseFile.TableDifference) -> JSONObject {
        [
            "name": table.name, "rows_before": table.rowCountBefore, "rows_after": table.rowCountAfter,
            "removed": table.removedCount, "added": table.addedCount, "changed": table.changedCount,
            "comparable": table.isComparable,
        ]
    }
}

/// Formats names and values of a database for people, so that no two can be confused.
private enum SQLText {
    /// Returns the name verbatim if it can only be a name, and in quotes otherwise.
    static func name(_ name: String) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8
        let isPlain = !name.isEmpty && name.utf8.allSatisfy(plain.contains)
        return isPlain ? name : "\"\(visible(name.replacing("\"", with: "\"\""), quote: "\""))\""
    }

    /// Returns a literal in which every invisible character is a call of `char`.
    static func literal(_ literal: String) -> String {
        guard literal.hasPrefix("'"), TextLayout.harmless(literal) != literal else { return literal }
        return "'\(visible(String(literal.dropFirst().dropLast()), quote: "'"))'".replacing(
            "'' || ", with: ""
        ).replacing(
            " || ''", with: "")
    }

    static func remark(_ sql: String) -> String { sql.isEmpty ? "" : " \(visible(sql, quote: nil))" }

    private static func visible(_ text: String, quote: String?) -> String {
        text.unicodeScalars.map { scalar in
            let one = String(scalar)
            guard TextLayout.harmless(one) != one else { return one }
            guard let quote, quote == "'" else { return TextLayout.harmless(one) }
            return "' || char(\(scalar.value)) || '"
        }.joined()
    }
}

extension DatabaseFile.TableDifference {
    fileprivate var isComparablyDifferent: Bool { isDifferent && isComparable }
}
