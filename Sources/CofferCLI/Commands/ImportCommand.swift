internal import ArgumentParser
internal import Coffer
internal import Glibc

struct ImportCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring rows of CSV or JSON into a table.",
        usage: "coffer import <file> <table> [--from <input>] [options]",
        discussion: """
            Reads what coffer query writes, with NULL, blobs and infinities as they were, and what others \
            write, from a file or the standard input. The first line of CSV names the columns; each line of \
            JSON is an object, whose members do. A table that is there gives texts the types of its columns. \
            With --create the table is made: its types are those of --types, or what all of the first 1,000 \
            rows fit, and it is strict. 007 and 1.10 are texts: no value is ever stored as another, and a \
            later row whose value would be is refused. An integer of JSON beyond 64 bits is for a column of \
            texts only.
            A row that cannot be one of the table ends the import, and nothing of it is kept; with --rejects \
            it goes to a new file, as JSON with its line and the reason, and the exit code is 1. With \
            --batch-rows there is a commit after so many rows, which stay whatever comes later.

            EXAMPLES
              coffer import app.db note --from notes.csv --key-file app.key
              coffer import app.db event --from events.jsonl --create --rejects bad.jsonl
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
            "What the rows are written in: by the ending of the file, or csv.", valueName: "format"))
    var format: Format?

    @Option(help: ArgumentHelp("The columns that the fields are for, between commas.", valueName: "names"))
    var columns: String?

    @Flag(help: "The first line has no names of columns.")
    var noHeader = false

    @Option(
        help: ArgumentHelp(
            "What stands for NULL in CSV, outside of quotes: nothing by default.", valueName: "text"))
    var nullText = ""

    @Flag(help: "Make the table.")
    var create = false

    @Option(
        help: ArgumentHelp(
            "Types of columns of a table that is made, as in 'id:integer,text:text'.", valueName: "types"))
    var types: String?

    @Option(help: ArgumentHelp("Commit after so many rows, and not at the end only.", valueName: "number"))
    var batchRows: Int?

    @Option(
        help: ArgumentHelp("Write rows that were refused into a new file, and go on.", valueName: "file"),
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
        case csv, tsv, jsonl

        /// By the ending of a name: CSV, if it says nothing.
        init(ofFile path: String) {
            self = Format.allCases.first { path.lowercased().hasSuffix(".\($0.rawValue)") } ?? .csv
        }

        func reader(_ source: ByteSource, nullText: String) -> any RecordReader {
            switch self {
            case .csv: DelimitedReader(source, .csv, nullText: nullText)
            case .tsv: DelimitedReader(source, .tsv, nullText: nullText)
            case .jsonl: JSONLinesReader(source)
            }
        }
    }

    func validate() throws {
        if let batchRows, batchRows < 1 { throw ValidationError("--batch-rows takes a number from 1 on.") }
        if types != nil, !create {
            throw ValidationError("--types is for tables that are made: add --create.")
        }
        if let rejects { try FileNames.checkIsNoDash(rejects, "the file of refused rows") }
        if form == .jsonl, columns != nil || noHeader {
            throw ValidationError("Objects of JSON name their columns themselves.")
        }
        if create, noHeader, columns == nil {
            throw ValidationError("The new table needs names of columns: give --columns.")
        }
        if from == nil || from == "-", try key.request().source == .standardInput {
            throw ValidationError("The rows and the key cannot both come from the standard input.")
        }
    }

    var subject: String? { file }
    var names: [String] { [file] }

    private var form: Format { format ?? Format(ofFile: from ?? "") }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        var options = RowImport.Options(
            table: table,
            columns: columns?.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            hasHeader: form != .jsonl && !noHeader, creates: create, types: try declaredTypes(),
            putsRefusedAside: rejects != nil,
            batchRows: batchRows)
        if let columns = options.columns, Set(columns.map { $0.lowercased() }).count < columns.count {
            throw Failure.usage("--columns has a column twice.")
        }
        // With names of its own, the first line is left out where there is one.
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
        guard let status = try? input.status(), status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        let keys = try session.keys(key, of: file)
        let reader = form.reader(ByteSource(input.number, name: name), nullText: nullText)
        if skipsHeader { _ = try reader.next() }
        let total = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
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
                throw Failure.usage("--types takes name:type, and not '\(part)'; the types are \(known).")
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

/// Where rows go that were refused: a file, or nowhere, and then the first one ends the import.
private final class Refusals {
    private let path: String?
    private let name: String
    private var file: Box?

    /// Holds what cannot be copied.
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
                "\(name), line \(record.line): the row is refused: \(reason). --rejects puts such rows aside."
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
