internal import ArgumentParser
internal import Coffer

struct ImportCommand: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "import <file> <table> [--from <input>] [options]",
        abstract: "Import rows of CSV or JSON into a table.",
        discussion: """
            Reads the output of coffer query, with NULL, blobs and infinities unchanged, and of other \
            programs, from a file or the standard input. The first line of CSV names the columns; JSON has \
            one object a line, or an array of objects, whose members do. Texts get the types of the columns \
            of an existing table. With --create, the table is created: it is strict, with the types from \
            --types, or types that fit all of the first 1,000 rows. 007 and 1.10 are texts: no value is ever \
            stored as another, and a later row whose value would be is refused. A JSON number with more \
            digits than 64 bits can store needs a text column.
            With --primary-key, the created table has a key; with --on-conflict, the next import replaces or \
            ignores rows with a key that the table has.
            A row that does not fit the table ends the import, and nothing is kept; with --rejects it goes \
            to a new file, as JSON with its line and the reason, and the exit code is 1. With --batch-rows \
            there is a commit after so many rows, and committed rows stay.

            EXAMPLES
              coffer import app.db note --from notes.csv --key file:app.key
              coffer import app.db event --from events.jsonl --create --rejects bad.jsonl
              coffer import app.db price --from prices.csv --delimiter ';' --create
              coffer import app.db user --from users.json --create --primary-key id
              coffer import app.db user --from users.json --on-conflict replace
              coffer query app.db "SELECT * FROM note" --format tsv | coffer import b.db note --format tsv
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The table.")
    var table: String

    @Argument(help: .hidden, completion: .file())
    var source: String?

    @Option(help: .value("input", "Read the rows from a file."), completion: .file())
    var from: String?

    @Option(help: .value("format", "The format of the rows: by the extension of the file, or csv."))
    var format: ImportFormat?

    @Option(
        help: .value(
            "character",
            "The character between the fields of CSV: a comma by default, ';' in some countries, or tab."))
    var delimiter: ImportDelimiter?

    @Option(help: .value("names", "The columns of the fields, separated by commas."))
    var columns: String?

    @Flag(help: "The first line has no column names.")
    var noHeader = false

    @Option(help: .value("text", "The unquoted text for NULL in CSV: empty by default."))
    var nullText = ""

    @Flag(help: "Create the table.")
    var create = false

    @Option(
        help: .value("types", "The types of the created table's columns, such as 'id:integer,text:text'."))
    var types: String?

    @Option(
        help: .value("names", "The columns of the created table's primary key, separated by commas."))
    var primaryKey: String?

    @Option(
        help: .value(
            "rule",
            "For a row whose key is in the table already: replace the whole row, or ignore the new one."))
    var onConflict: RowImport.OnConflict?

    @Option(help: .value("number", "Commit after so many rows, not only at the end."))
    var batchRows: Int?

    @Option(help: .value("file", "Write refused rows to a new file, and continue."), completion: .file())
    var rejects: String?

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if source != nil, from != nil { throw ValidationError("Give the input once, with --from.") }
        if from == nil, tableOfInput == nil, table.contains("."), NewFile.exists(table) {
            throw ValidationError(
                "'\(table)' is a file. Give the table before it: coffer import \(file) TABLE --from \(table)")
        }
        if delimiter != nil, form != .csv { throw ValidationError("--delimiter is for CSV.") }
        if let batchRows, batchRows < 1 { throw ValidationError("--batch-rows takes a positive number.") }
        if types != nil, !create {
            throw ValidationError("--types needs --create.")
        }
        if primaryKey != nil, !create { throw ValidationError("--primary-key needs --create.") }
        if let rejects { try FileNames.checkIsNoDash(rejects, "the file of refused rows") }
        if form.isJSON, columns != nil || noHeader {
            throw ValidationError("JSON objects name their own columns. Omit --columns and --no-header.")
        }
        if create, noHeader, columns == nil {
            throw ValidationError("The new table needs column names. Give --columns.")
        }
    }

    var inputUse: String? { input == nil || input == "-" ? "The rows" : nil }

    private var input: String? { from ?? source ?? (tableOfInput == nil ? nil : table) }

    /// The table with the name of the input, if the input is given in the place of the table.
    private var tableOfInput: String? {
        guard source == nil, from == nil, ImportFormat(extensionOf: table) != nil,
            FileNames.size(table) != nil
        else { return nil }
        let name = FileNames.name(of: table)
        let stem = name[..<(name.lastIndex(of: ".") ?? name.endIndex)]
        return stem.isEmpty ? nil : String(stem)
    }

    var names: [String] { [file] + (input.map { [$0] } ?? []) }

    private var form: ImportFormat { format ?? ImportFormat(ofFile: input ?? "") }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let table = tableOfInput ?? table
        if tableOfInput != nil {
            session.reporter.note("The rows of '\(self.table)' go to the table '\(table)'.")
        }
        var options = RowImport.Options(
            table: table,
            columns: columns?.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            hasHeader: !form.isJSON && !noHeader, creates: create, types: try declaredTypes(),
            putsRefusedAside: rejects != nil,
            batchRows: batchRows,
            primaryKey: primaryKey?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                ?? [], onConflict: onConflict, creation: creation(of: table))
        if let columns = options.columns, Set(columns.map(CaseInsensitiveName.init)).count < columns.count {
            throw Failure.usage("--columns has a column twice.")
        }
        // If the options name the columns, the header line, if any, is skipped.
        let skipsHeader = options.columns != nil && options.hasHeader
        if options.columns != nil { options.hasHeader = false }
        if let rejects { try NewFile.checkIsNew(rejects) }
        let input = try InputFile(self.input, "input") { () throws(Failure) in
            try session.interruption.check()
        }
        let keys = try session.keys(key, of: file)
        let reader = form.reader(ByteSource(input), nullText: nullText, delimiter: delimiter)
        if skipsHeader { try reader.skipNames() }
        let total = input.size
        let refusals = Refusals(rejects, name: input.name)
        let work = RowImport(reader, options) { record, reason in
            try refusals.add(record, reason)
        } checkpoint: { bytes in
            try session.interruption.check()
            session.reporter.progress(
                ProgressState(path: file, phase: "importing", completed: bytes, total: total, unit: "bytes"))
        }
        try keys.open(file, cipher: cipher.settings) { opening in
            var configuration = session.configuration(opening.database, cipher.settings)
            configuration.allowsUnsafeTransactions = true
            try trail.record(file, .kept(opening.key)) { entry in
                try bring(work, configuration, refusals, in: session)
                try entry.end(isChanged: work.isChanged, ["rows": work.importedCount])
                return work.isChanged
            }
        }
        return tell(work, table, session.reporter)
    }

    /// The command that creates the table.
    private func creation(of table: String) -> String {
        let words = [file, table] + (input.map { $0 == "-" ? [] : ["--from", $0] } ?? [])
        return "coffer import \(words.map(CommandWords.quoted).joined(separator: " ")) --create"
    }

    private func bring(
        _ work: RowImport, _ configuration: Configuration, _ refusals: Refusals, in session: Session
    ) throws {
        do {
            let queue = try DatabaseQueue(path: file, configuration: configuration)
            try session.interruption.cooperatively(onSignal: { queue.interrupt() }) {
                try queue.writeWithoutTransaction { db in try work.run(db) }
            }
            try queue.close()
        } catch {
            refusals.remove(ifNothingWasKept: batchRows == nil)
            throw error
        }
        try refusals.publish()
    }

    private func declaredTypes() throws -> [CaseInsensitiveName: ColumnType] {
        var result: [CaseInsensitiveName: ColumnType] = [:]
        for part in (types ?? "").split(separator: ",") {
            guard let colon = part.lastIndex(of: ":"),
                let type = ColumnType(rawValue: part[part.index(after: colon)...].uppercased())
            else {
                let known = ColumnType.allCases.map { $0.rawValue.lowercased() }.joined(separator: ", ")
                throw Failure.usage("--types takes name:type, not '\(part)'; the types are \(known).")
            }
            guard result.updateValue(type, forKey: CaseInsensitiveName(String(part[..<colon]))) == nil else {
                throw Failure.usage("--types has two types for the column '\(part[..<colon])'.")
            }
        }
        return result
    }

    private func tell(_ work: RowImport, _ table: String, _ reporter: Reporter) -> ExitStatus {
        let isWhole = work.refusedCount == 0
        let refused =
            isWhole
            ? "" : ", \(counted: work.refusedCount, "row") refused: see '\(rejects ?? "")'"
        let ignored =
            work.ignoredCount == 0
            ? "" : ", \(counted: work.ignoredCount, "row") ignored by the table"
        reporter.result(
            [
                "path": file, "table": table, "changed": work.isChanged, "rows": work.importedCount,
                "ignored": work.ignoredCount, "refused": work.refusedCount, "code": isWhole ? 0 : 1,
            ],
            text: [
                "\(file): \(counted: work.importedCount, "row") imported into \(table)\(ignored)\(refused)"
            ])
        return isWhole ? .done : .answerIsNo
    }
}

extension RowImport.OnConflict: ExpressibleByArgument {}
