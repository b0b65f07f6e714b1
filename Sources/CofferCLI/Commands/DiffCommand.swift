internal import ArgumentParser
internal import Coffer

struct DiffCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two databases by schema, tables and rows.",
        usage: "coffer diff <old> <new> [--rows] [options]",
        discussion: """
            Shows the content that is in only one of the databases. Rows are matched by row ID, or by \
            primary key in tables without row IDs; values are compared byte for byte. Both databases may be \
            in use, and may have different keys. Exit code 0 if the content is the same, 1 if it differs. \
            Encryption and page layout do not count.

            With --rows, prints each row that differs: - for a removed row, + for an added one, and ~ for a \
            changed one, with the values as SQL literals. This is content: protect the output.

            EXAMPLES
              coffer diff /backup/app.db app.db --key-file app.key
              coffer diff old.db new.db --rows --key-file old.key --new-key-file new.key
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
        let newRequest = try newKey.isGiven ? newKey.request(besides: key) : nil
        try FileNames.checkReadable(new)
        try FileNames.checkHasBytes(new)
        let keys = try session.keys(key, of: old)
        let given = try newRequest.map { request throws(Failure) in
            try session.keys.key(request, subject: new).database
        }
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
        if let lost = reporter.outputFailure { throw lost }
        guard !reporter.isOutputClosed else {
            throw Failure(.inputOutput, "io", "The output was closed early.")
        }
        var facts: [JSONValue.Member] = [
            .init("table", .string(row.table)), .init("change", .string(row.change.rawValue)),
            .init("columns", .strings(row.columns)),
        ]
        facts.append(.init("before", row.before.map { .strings($0) } ?? .null))
        facts.append(.init("after", row.after.map { .strings($0) } ?? .null))
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
                "\(TextLayout.grouped(table.rowCountBefore)) -> "
                + "\(TextLayout.counted(table.rowCountAfter, "row", "rows"))"
            let changes =
                table.isComparable
                ? "\(TextLayout.grouped(table.removedCount)) removed, "
                    + "\(TextLayout.grouped(table.addedCount)) added, "
                    + "\(TextLayout.grouped(table.changedCount)) changed"
                : "different, but not comparable row by row"
            lines.append("table \(SQLText.name(table.name)): \(counts) (\(changes))")
        }
        let count = TextLayout.counted(difference.tables.count, "table", "tables")
        let rows = TextLayout.counted(difference.tables.reduce(0) { $0 + $1.rowCountAfter }, "row", "rows")
        if difference.isEmpty { lines = ["\(new): the same content as \(old) (\(count), \(rows))"] }
        reporter.result(
            [
                .init("path", .string(old)), .init("other", .string(new)),
                .init("same", .bool(difference.isEmpty)),
                .init("settings", .array(difference.settings.map(json))),
                .init("objects", .array(difference.schema.map(json))),
                .init("tables", .array(difference.tables.map(json))),
                .init("code", .count(difference.isEmpty ? 0 : 1)),
            ], text: lines, isAnswer: !difference.isEmpty)
    }

    private func json(_ setting: DatabaseFile.SettingDifference) -> JSONValue {
        ["name": .string(setting.name), "before": .string(setting.before), "after": .string(setting.after)]
    }

    private func json(_ object: DatabaseFile.SchemaDifference) -> JSONValue {
        [
            "type": .string(object.type), "name": .string(object.name), "before": .optional(object.before),
            "after": .optional(object.after),
        ]
    }

    private func json(_ table: DatabaseFile.TableDifference) -> JSONValue {
        [
            "name": .string(table.name), "rows_before": .count(table.rowCountBefore),
            "rows_after": .count(table.rowCountAfter),
            "removed": .count(table.removedCount), "added": .count(table.addedCount),
            "changed": .count(table.changedCount),
            "comparable": .bool(table.isComparable),
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
