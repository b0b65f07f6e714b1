internal import ArgumentParser
internal import Coffer
internal import Glibc
internal import SystemCalls

struct ImportCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import rows of CSV or JSON into a table.",
        usage: "coffer import <file> <table> [--from <input>] [options]",
        discussion: """
            Reads the output of coffer query, with NULL, blobs and infinities unchanged, and of other \
            programs, from a file or the standard input. The first line of CSV names the columns; JSON has \
            one object a line, or an array of objects, whose members do. Texts get the types of the columns \
            of an existing table. With --create, the table is created: it is strict, with the types from \
            --types, or types that fit all of the first 1,000 rows. 007 and 1.10 are texts: no value is ever \
            stored as another, and a later row whose value would be is refused. A JSON integer beyond 64 \
            bits needs a text column.
            A row that does not fit the table ends the import, and nothing is kept; with --rejects it goes \
            to a new file, as JSON with its line and the reason, and the exit code is 1. With --batch-rows \
            there is a commit after so many rows, and committed rows stay.

            EXAMPLES
              coffer import app.db note --from notes.csv --key-file app.key
              coffer import app.db event --from events.jsonl --create --rejects bad.jsonl
              coffer import app.db price --from prices.csv --delimiter ';' --create
              coffer query app.db "SELECT * FROM note" --format tsv | coffer import b.db note --format tsv
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("Read the rows from a file.", valueName: "input"), completion: .file())
    var from: String?

    @Option(
        help: ArgumentHelp(
            "The format of the rows: by the extension of the file, or csv.", valueName: "format"))
    var format: Format?

    @Option(
        help: ArgumentHelp(
            "The character between the fields of CSV: a comma by default, ';' in some countries, or tab.",
            valueName: "character"))
    var delimiter: Delimiter?

    @Option(help: ArgumentHelp("The columns of the fields, separated by commas.", valueName: "names"))
    var columns: String?

    @Flag(help: "The first line has no column names.")
    var noHeader = false

    @Option(
        help: ArgumentHelp(
            "The unquoted text for NULL in CSV: empty by default.", valueName: "text"))
    var nullText = ""

    @Flag(help: "Create the table.")
    var create = false

    @Option(
        help: ArgumentHelp(
            "The types of the created table's columns, such as 'id:integer,text:text'.", valueName: "types"))
    var types: String?

    @Option(help: ArgumentHelp("Commit after so many rows, not only at the end.", valueName: "number"))
    var batchRows: Int?

    @Option(
        help: ArgumentHelp("Write refused rows to a new file, and continue.", valueName: "file"),
        completion: .file())
    var rejects: String?

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
        case csv, tsv, json, jsonl

        var isJSON: Bool { self == .json || self == .jsonl }

        /// Creates a format from the extension of a file name. The default is CSV.
        init(ofFile path: String) {
            self = Format.allCases.first { path.lowercased().hasSuffix(".\($0.rawValue)") } ?? .csv
        }

        func reader(_ source: ByteSource, nullText: String, delimiter: Delimiter? = nil) -> any RecordReader {
            switch self {
            case .csv: DelimitedReader(source, .csv, nullText: nullText, delimiter: delimiter?.byte)
            case .tsv: DelimitedReader(source, .tsv, nullText: nullText)
            case .json, .jsonl: JSONLinesReader(source)
            }
        }
    }

    /// The character between the fields of CSV.
    struct Delimiter: ExpressibleByArgument, Sendable {
        let byte: UInt8

        init?(argument: String) {
            let bytes = Array((argument == "tab" ? "\t" : argument).utf8)
            guard bytes.count == 1, bytes[0] < 0x80, ![0x0a, 0x0d, UInt8(ascii: "\"")].contains(bytes[0])
            else {
                return nil
            }
            byte = bytes[0]
        }
    }

    func validate() throws {
        if delimiter != nil, form != .csv { throw ValidationError("--delimiter is for CSV.") }
        if let batchRows, batchRows < 1 { throw ValidationError("--batch-rows takes a positive number.") }
        if types != nil, !create {
            throw ValidationError("--types needs --create.")
        }
        if let rejects { try FileNames.checkIsNoDash(rejects, "the file of refused rows") }
        if form.isJSON, columns != nil || noHeader {
            throw ValidationError("JSON objects name their own columns. Omit --columns and --no-header.")
        }
        if create, noHeader, columns == nil {
            throw ValidationError("The new table needs column names. Give --columns.")
        }
        if from == nil || from == "-", try key.request().source == .standardInput {
            throw ValidationError("The rows and the key cannot both come from the standard input.")
        }
    }

    var subject: String? { file }
    var names: [String] { [file] + (from.map { [$0] } ?? []) }

    private var form: Format { format ?? Format(ofFile: from ?? "") }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        var options = RowImport.Options(
            table: table,
            columns: columns?.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            hasHeader: !form.isJSON && !noHeader, creates: create, types: try declaredTypes(),
            putsRefusedAside: rejects != nil,
            batchRows: batchRows)
        if let columns = options.columns, Set(columns.map { $0.lowercased() }).count < columns.count {
            throw Failure.usage("--columns has a column twice.")
        }
        // If the options name the columns, the header line, if any, is skipped.
        let skipsHeader = options.columns != nil && options.hasHeader
        if options.columns != nil { options.hasHeader = false }
        if let rejects, NewFile.exists(rejects) {
            throw Failure(.outputExists, "output_exists", "'\(rejects)' exists, and is not overwritten.")
        }
        let path = from == "-" ? nil : from
        let name = path.map { "The input '\($0)'" } ?? "The standard input"
        let input =
            try path.map { path throws(Failure) in try Descriptor.reading(path, name: name) }
            ?? Descriptor(owning: dup(STDIN_FILENO))
        guard let status = try? input.status(), !status.isDirectory else {
            throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        let keys = try session.keys(key, of: file)
        let reader = form.reader(
            ByteSource(input.number, name: name), nullText: nullText, delimiter: delimiter)
        if skipsHeader { _ = try reader.next() }
        let total = status.isRegular ? status.size : 0
        let refusals = Refusals(rejects, name: name)
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
                try entry.end(isChanged: work.isChanged, [.init("rows", .count(work.importedCount))])
                return work.isChanged
            }
        }
        return tell(work, session.reporter)
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

    private func declaredTypes() throws -> [String: ColumnType] {
        var result: [String: ColumnType] = [:]
        for part in (types ?? "").split(separator: ",") {
            guard let colon = part.lastIndex(of: ":"),
                let type = ColumnType(rawValue: part[part.index(after: colon)...].uppercased())
            else {
                let known = ColumnType.allCases.map { $0.rawValue.lowercased() }.joined(separator: ", ")
                throw Failure.usage("--types takes name:type, not '\(part)'; the types are \(known).")
            }
            guard result.updateValue(type, forKey: part[..<colon].lowercased()) == nil else {
                throw Failure.usage("--types has two types for the column '\(part[..<colon])'.")
            }
        }
        return result
    }

    private func tell(_ work: RowImport, _ reporter: Reporter) -> ExitStatus {
        let isWhole = work.refusedCount == 0
        let refused =
            isWhole
            ? "" : ", \(TextLayout.counted(work.refusedCount, "row", "rows")) refused: see '\(rejects ?? "")'"
        let ignored =
            work.ignoredCount == 0
            ? "" : ", \(TextLayout.counted(work.ignoredCount, "row", "rows")) ignored by the table"
        reporter.result(
            [
                .init("path", .string(file)), .init("table", .string(table)),
                .init("changed", .bool(work.isChanged)),
                .init("rows", .count(work.importedCount)), .init("ignored", .count(work.ignoredCount)),
                .init("refused", .count(work.refusedCount)), .init("code", isWhole ? 0 : 1),
            ],
            text: [
                "\(file): \(TextLayout.counted(work.importedCount, "row", "rows")) imported into "
                    + "\(table)\(ignored)\(refused)"
            ])
        return isWhole ? .done : .answerIsNo
    }
}

/// Receives rejected rows and writes them to a file. Without a file, the first rejected row ends the import.
private final class Refusals {
    private let path: String?
    private let name: String
    private var file: Box?

    /// Wraps a noncopyable value.
    private final class Box {
        let file: NewFile

        init(_ path: String) throws(Failure) {
            file = try NewFile(path)
        }
    }

    init(_ path: String?, name: String) {
        self.path = path
        self.name = name
    }

    func add(_ record: ImportRecord, _ reason: String) throws {
        guard let path else {
            throw Failure(
                .badData, "refused",
                "\(name), line \(record.line): the row is refused: \(reason). --rejects sets such rows aside."
            )
        }
        let box = try file ?? Box(path)
        file = box
        let text = String(decoding: record.bytes, as: UTF8.self)
        let line = JSONValue.object([
            .init("line", .count(record.line)), .init("reason", .string(reason)), .init("row", .string(text)),
        ])
        .text
        try box.file.write(bytes: Array((line + "\n").utf8))
    }

    func publish() throws { try file?.file.publish() }

    func remove(ifNothingWasKept isRolledBack: Bool) {
        if isRolledBack { file?.file.remove() }
    }
}
