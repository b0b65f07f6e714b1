internal import Coffer
internal import Foundation
internal import Glibc
internal import SystemCalls

/// The shell's commands, which begin with a dot and are familiar from SQLite's own shell.
enum ShellCommand {
    private typealias Command = (
        name: String, usage: String, words: String,
        perform: (_ arguments: [String], _ shell: ShellSession) throws -> Void
    )

    static var names: [String] { commands.map(\.name) }

    private static var commands: [Command] {
        [
            (".bind", "name=value | clear", "set a value for a parameter, or show all", bind),
            (".databases", "", "list the databases of the connection", databases),
            (".dump", "[table ...]", "print the database, or tables of it, as a script", dump),
            (
                ".headers", "on | off", "show the column names",
                { $1.style.hasHeader = try flag($0, ".headers") }
            ),
            (".help", "", "this list", help),
            (
                ".import", "file table", "import rows of CSV, TSV or JSON; a missing table is created",
                importRows
            ),
            (".indexes", "[table]", "list the indexes", indexes),
            (".mode", "format", RowFormat.allCases.map(\.rawValue).joined(separator: ", "), mode),
            (
                ".nullvalue", "text", "set the text for NULL in CSV",
                { $1.style.nullText = try nullText($0) }
            ),
            (
                ".once", "file", "write the rows of the next statement to a new file, readable by you only",
                { $1.once = try RowFile(one($0, ".once"), command: $1.reporter.command) }
            ),
            (".pager", "[on | off | program]", "show long results page by page, or not", pager),
            (".quit", "", "end the shell", { $1.quit() }),
            (".read", "file", "run the statements and commands of a file", { try $1.read(one($0, ".read")) }),
            (".schema", "[name]", "show the CREATE statements", schema),
            (".tables", "[pattern]", "list the tables and views", tables),
            (
                ".timer", "on | off", "show the time of each statement",
                { $1.timesStatements = try flag($0, ".timer") }
            ),
        ]
    }

    static func perform(_ line: String, in shell: ShellSession) throws {
        let words = try CommandWords.split(line.trimmingCharacters(in: CharacterSet(charactersIn: "; \t")))
        guard let first = words.first else { return }
        // The older of two names for the same.
        let name = first == ".exit" ? ".quit" : first
        guard let command = commands.first(where: { $0.name == name }) else {
            throw Failure.usage("There is no command '\(name)'; .help lists them.")
        }
        try command.perform(Array(words.dropFirst()), shell)
    }

    private static func one(_ arguments: [String], _ name: String) throws(Failure) -> String {
        guard arguments.count == 1 else { throw Failure.usage("\(name) takes one argument.") }
        return arguments[0]
    }

    private static func nullText(_ arguments: [String]) throws(Failure) -> String {
        let text = try one(arguments, ".nullvalue")
        if let objection = RowStyle.objection(toNullText: text) {
            throw Failure.usage(".nullvalue \(objection)")
        }
        return text
    }

    private static func flag(_ arguments: [String], _ name: String) throws(Failure) -> Bool {
        switch arguments {
        case ["on"]: return true
        case ["off"]: return false
        default: throw Failure.usage("\(name) takes 'on' or 'off'.")
        }
    }

    private static func answer(_ text: String, _ shell: ShellSession) throws {
        try shell.paging { $0.raw(TextLayout.harmless(text, keepingLines: true) + "\n") }
    }

    private static func answer(names: [String], _ shell: ShellSession) throws {
        guard !names.isEmpty else { return }
        try shell.paging { $0.raw(LineEditor.columns(names, width: $0.outputWidth ?? 80)) }
    }

    // MARK: Implementations

    private static func help(_ arguments: [String], _ shell: ShellSession) throws {
        let pairs = commands.map { ("\($0.name) \($0.usage)", $0.words) }
        try answer(TextLayout.pairs(pairs, indent: "").joined(separator: "\n"), shell)
    }

    private static func mode(_ arguments: [String], _ shell: ShellSession) throws {
        guard !arguments.isEmpty else { return try answer(shell.style.format.rawValue, shell) }
        guard let format = RowFormat(rawValue: try one(arguments, ".mode")) else {
            throw Failure.usage(
                "The modes are \(RowFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        shell.style.format = format
    }

    private static func bind(_ arguments: [String], _ shell: ShellSession) throws {
        switch arguments {
        case []: for value in shell.values { try answer("\(value.name) = \(value.value.dumpLiteral)", shell) }
        case ["clear"]: shell.values = []
        default:
            let value = try BoundValue(one(arguments, ".bind"))
            shell.values.removeAll { $0.name == value.name }
            shell.values.append(value)
        }
    }

    private static func databases(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.isEmpty else { throw Failure.usage(".databases takes no argument.") }
        let lines = try shell.access { db in
            try Row.fetchAll(db, sql: "SELECT name, file FROM pragma_database_list ORDER BY seq").map { row in
                [row[0] as String, row[1] as String? ?? ""].map { TextLayout.harmless($0) }
            }
        }
        try answer(TextLayout.table(lines).joined(separator: "\n"), shell)
    }

    private static func indexes(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count <= 1 else { throw Failure.usage(".indexes takes one table at most.") }
        try list(
            """
            SELECT name FROM main.sqlite_master WHERE type = 'index'
            AND (?1 IS NULL OR tbl_name = ?1 COLLATE NOCASE) ORDER BY name
            """, arguments, shell)
    }

    private static func tables(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count <= 1 else { throw Failure.usage(".tables takes one pattern at most.") }
        try list(
            """
            SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name LIKE ifnull(?, '%') ORDER BY name
            """, arguments, shell)
    }

    /// Prints the names that a query finds for the argument, or for NULL.
    private static func list(_ sql: String, _ arguments: [String], _ shell: ShellSession) throws {
        let names = try shell.access { db in
            try String.fetchAll(db, sql: sql, arguments: [arguments.first])
        }
        try answer(names: names, shell)
    }

    private static func schema(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count <= 1 else { throw Failure.usage(".schema takes one name at most.") }
        let objects = try shell.access { db in try SchemaText(db, includesInternal: false).objects }
        let shown = objects.filter { arguments.first.map($0.isOf) ?? true }
        if !shown.isEmpty { try answer(shown.map(\.statement).joined(separator: "\n"), shell) }
    }

    private static func dump(_ arguments: [String], _ shell: ShellSession) throws {
        try shell.paging { output in
            try shell.access { db in
                do {
                    let summary = try db.writeScript(tables: arguments.isEmpty ? nil : arguments) {
                        output.raw(bytes: $0)
                    } checkpoint: {
                        try shell.checkNotInterrupted()
                        if output.isOutputClosed { throw OutputClosed() }
                    }
                    if arguments.isEmpty { output.raw(ScriptProof.line(summary.digest) + "\n") }
                } catch let error as NoSuchTable {
                    throw Failure.noSuchTable(error.name, in: nil)
                } catch is OutputClosed {
                }
            }
        }
    }

    private static func pager(_ arguments: [String], _ shell: ShellSession) throws {
        switch arguments {
        case []: try answer(shell.pager?.words.joined(separator: " ") ?? "off", shell)
        case ["on"]: shell.pager = try Pager.named(in: ProcessInfo.processInfo.environment) ?? .usual
        case ["off"]: shell.pager = nil
        default: shell.pager = Pager(arguments)
        }
    }

    private static func importRows(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count == 2 else { throw Failure.usage(".import takes a file and a table.") }
        try shell.checkMayWrite()
        let (path, table) = (arguments[0], arguments[1])
        let name = "The input '\(path)'"
        let input = InputFile(try Descriptor.reading(path, name: name, flags: O_NONBLOCK), name: name) {
            () throws(Failure) in try shell.checkNotInterrupted()
        }
        let form = ImportFormat(ofFile: path)
        let reader = form.reader(ByteSource(input), nullText: shell.style.nullText)
        // A missing table is created, as in SQLite's shell.
        let isNew = try shell.access { db in try !db.tableExists(table) && !db.viewExists(table) }
        let work = RowImport(
            reader,
            RowImport.Options(
                table: table, columns: nil, hasHeader: !form.isJSON, creates: isNew, types: [:],
                putsRefusedAside: false, batchRows: nil)
        ) { record, reason in
            throw Failure(.badData, "refused", "\(name), line \(record.line): the row is refused: \(reason).")
        } checkpoint: { _ in
            try shell.checkNotInterrupted()
        }
        shell.noteChange()
        try shell.access { db in try work.run(db) }
        shell.reporter.note(
            "\(counted: work.importedCount, "row") imported into \(table)\(isNew ? ", which is new" : "")")
    }
}
