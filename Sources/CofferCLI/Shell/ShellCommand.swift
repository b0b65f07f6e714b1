internal import Coffer
internal import Foundation
internal import Glibc
internal import SystemCalls

/// The shell's commands, which begin with a dot and are familiar from SQLite's own shell.
enum ShellCommand {
    private struct Command {
        let name: String
        let usage: String
        let words: String
        let perform: (_ arguments: [String], ShellSession) throws -> Void
    }

    static var names: [String] { commands.map(\.name) }

    private static var commands: [Command] {
        [
            Command(
                name: ".bind", usage: "name=value | clear",
                words: "set a value for a parameter, or show all", perform: bind),
            Command(name: ".dump", usage: "", words: "print the database as a script", perform: dump),
            Command(name: ".exit", usage: "", words: "end the shell") { _, shell in shell.quit() },
            Command(name: ".headers", usage: "on | off", words: "show the column names") {
                arguments, shell in
                shell.style.hasHeader = try flag(arguments, ".headers")
            },
            Command(name: ".help", usage: "", words: "this list", perform: help),
            Command(
                name: ".import", usage: "file table",
                words: "import rows of CSV, TSV or JSON; a missing table is created", perform: importRows),
            Command(
                name: ".mode", usage: "format",
                words: RowFormat.allCases.map(\.rawValue).joined(separator: ", "), perform: mode),
            Command(name: ".nullvalue", usage: "text", words: "set the text for NULL in CSV") {
                arguments, shell in
                shell.style.nullText = try one(arguments, ".nullvalue")
            },
            Command(name: ".quit", usage: "", words: "end the shell") { _, shell in shell.quit() },
            Command(name: ".read", usage: "file", words: "run the statements and commands of a file") {
                arguments, shell in
                try shell.read(one(arguments, ".read"))
            },
            Command(
                name: ".schema", usage: "[name]", words: "show the CREATE statements", perform: schema),
            Command(
                name: ".tables", usage: "[pattern]", words: "list the tables and views", perform: tables),
            Command(name: ".timer", usage: "on | off", words: "show the time of each statement") {
                arguments, shell in
                shell.timesStatements = try flag(arguments, ".timer")
            },
        ]
    }

    static func perform(_ line: String, in shell: ShellSession) throws {
        let words = try CommandWords.split(line.trimmingCharacters(in: CharacterSet(charactersIn: "; \t")))
        guard let name = words.first else { return }
        guard let command = commands.first(where: { $0.name == name }) else {
            throw Failure.usage("There is no command '\(name)'; .help lists them.")
        }
        try command.perform(Array(words.dropFirst()), shell)
    }

    private static func one(_ arguments: [String], _ name: String) throws(Failure) -> String {
        guard arguments.count == 1 else { throw Failure.usage("\(name) takes one argument.") }
        return arguments[0]
    }

    private static func flag(_ arguments: [String], _ name: String) throws(Failure) -> Bool {
        switch arguments {
        case ["on"]: return true
        case ["off"]: return false
        default: throw Failure.usage("\(name) takes 'on' or 'off'.")
        }
    }

    private static func answer(_ text: String, _ shell: ShellSession) {
        shell.reporter.raw(TextLayout.harmless(text, keepingLines: true) + "\n")
    }

    // MARK: Implementations

    private static func help(_ arguments: [String], _ shell: ShellSession) {
        let pairs = commands.map { ("\($0.name) \($0.usage)", $0.words) }
        answer(TextLayout.pairs(pairs, indent: "").joined(separator: "\n"), shell)
    }

    private static func mode(_ arguments: [String], _ shell: ShellSession) throws {
        guard !arguments.isEmpty else { return answer(shell.style.format.rawValue, shell) }
        guard let format = RowFormat(rawValue: try one(arguments, ".mode")) else {
            throw Failure.usage(
                "The modes are \(RowFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        shell.style.format = format
    }

    private static func bind(_ arguments: [String], _ shell: ShellSession) throws {
        switch arguments {
        case []: for value in shell.values { answer("\(value.name) = \(value.value.dumpLiteral)", shell) }
        case ["clear"]: shell.values = []
        default:
            let value = try BoundValue(one(arguments, ".bind"))
            shell.values.removeAll { $0.name == value.name }
            shell.values.append(value)
        }
    }

    private static func tables(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count <= 1 else { throw Failure.usage(".tables takes one pattern at most.") }
        let names = try shell.access { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', \
                    'virtual')
                    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name LIKE ? ORDER BY name
                    """, arguments: [arguments.first ?? "%"])
        }
        if !names.isEmpty {
            shell.reporter.raw(LineEditor.columns(names, width: shell.reporter.outputWidth ?? 80))
        }
    }

    private static func schema(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count <= 1 else { throw Failure.usage(".schema takes one name at most.") }
        let objects = try shell.access { db in try SchemaText(db, includesInternal: false).objects }
        for object in objects where arguments.first.map(object.isOf) ?? true {
            answer(object.statement, shell)
        }
    }

    private static func dump(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.isEmpty else {
            throw Failure.usage(
                ".dump prints the whole database. For a file: coffer dump --out FILE --yes-plaintext.")
        }
        try shell.access { db in
            let summary = try db.writeScript {
                shell.reporter.raw(bytes: $0)
            } checkpoint: {
                try shell.checkNotInterrupted()
            }
            shell.reporter.raw(ScriptProof.line(summary.digest) + "\n")
        }
    }

    private static func importRows(_ arguments: [String], _ shell: ShellSession) throws {
        guard arguments.count == 2 else { throw Failure.usage(".import takes a file and a table.") }
        try shell.checkMayWrite()
        let (path, table) = (arguments[0], arguments[1])
        let name = "The input '\(path)'"
        let input = try Descriptor.reading(path, name: name, flags: O_NONBLOCK)
        let form = ImportCommand.Format(ofFile: path)
        let number = input.number
        let source = ByteSource(number, name: name) { () throws(Failure) in try shell.wait(for: number) }
        let reader = form.reader(source, nullText: shell.style.nullText)
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
        // Keep the input open until it has been read.
        _ = input.number
        shell.reporter.note(
            "\(TextLayout.counted(work.importedCount, "row", "rows")) imported into \(table)"
                + (isNew ? ", which is new" : ""))
    }
}
