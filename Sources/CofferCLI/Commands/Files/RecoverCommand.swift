internal import ArgumentParser
internal import Coffer
internal import Glibc
internal import SystemCalls

struct RecoverCommand: RecordedOperation {
    static let configuration = CommandConfiguration.coffer(
        "recover <source> <destination> [options]",
        abstract: "Copy the readable content of a damaged database to a new one.",
        discussion: """
            Reads every page with a correct MAC, also in the write-ahead log, and never writes to the \
            damaged file. Rows return to their tables, with their row IDs. Rows whose table is uncertain, or \
            that break a constraint, go to tables named lost_and_found_N, with the page, the reason and the \
            row ID. The new file is encrypted with the key of the damaged one, or with a new one, and gets \
            its name when it is complete. Never overwrites. Try the last backup first, and compare: it may \
            have the lost rows.

            Exit code 0 means that nothing was lost; 65 that something was, and the new file has the rest; \
            75 that another process wrote to the file, and nothing was created: stop it, or use 'coffer \
            backup'.

            EXAMPLES
              coffer recover app.db salvaged.db --key file:app.key
              coffer recover app.db salvaged.db --key file:app.key --salt 000102030405060708090a0b0c0d0e0f
            """)

    @Argument(help: "The damaged database.", completion: .file())
    var source: String

    @Argument(help: "The file to create.", completion: .file())
    var destination: String

    @Option(
        help: .value(
            "hex",
            "The salt of the damaged file, if it is lost there: its first 16 bytes, as hexadecimal "
                + "digits."), transform: RecoverCommand.salt)
    var salt: [UInt8]?

    @Option(
        help: .value(
            "file",
            "A file that begins with the salt of the damaged one: another copy, or a backup made with "
                + "--same-pages."), completion: .file())
    var saltFrom: String?

    @Flag(help: "Also look for deleted rows on free pages. They go to lost_and_found_N.")
    var freePages = false

    @Flag(
        help: """
            Also look for rows on pages that are not authentic, which may contain anything. \
            They go to lost_and_found_N.
            """)
    var damagedPages = false

    @Flag(
        help: """
            Also look for rows after a damaged frame of the write-ahead log, which may not fit the others. \
            They go to lost_and_found_N.
            """)
    var damagedLog = false

    @Flag(
        help: """
            Read the file while other processes write to it. An intact file may then look damaged, and the \
            result may mix different states.
            """)
    var allowWriters = false

    @Option(help: .value("number", "The number of threads that read pages, from 1 to 64."))
    var threads = ThreadCount.usual

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the new file, if different")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The recipients of the new file")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the damaged file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(destination, "the new file")
        try recipients.checkFits(newKey)
        guard salt == nil || saltFrom == nil else {
            throw ValidationError("Give --salt or --salt-from, not both.")
        }
    }

    /// Returns the given salt, or the one at the start of the given file.
    private func givenSalt() throws -> [UInt8]? {
        guard let saltFrom else { return salt }
        guard let salt = try DatabaseFile(path: saltFrom).inspect().salt else {
            throw Failure(.badData, "no_salt", "\(saltFrom): has no salt: it is not encrypted, or too short.")
        }
        return salt
    }

    /// True if the file has zeros in the place of its salt.
    private var isSaltLost: Bool {
        let start = try? Descriptor.reading(source, name: "The file", flags: O_NONBLOCK).readAll(upTo: 16)
        return start?.count == 16 && start?.allSatisfy { $0 == 0 } == true
    }

    private static func salt(_ text: String) throws -> [UInt8] {
        guard let bytes = Hex.bytes(text), bytes.count == 16 else {
            throw ValidationError("A salt has 32 hexadecimal digits.")
        }
        return Array(bytes)
    }

    var subject: String? { source }
    var names: [String] { [source, destination] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        var options = DatabaseFile.SalvageOptions()
        options.cipher = cipher.given
        options.salt = try givenSalt()
        options.includesFreePages = freePages
        options.includesDamagedPages = damagedPages
        options.includesDamagedLog = damagedLog
        options.allowsWriters = allowWriters
        options.threadCount = threads.number
        options.lockTimeout = session.lockTimeout
        let new = try newKey.requestIfGiven(besides: key, for: [source])
        let keys = try session.keys(key, of: source)
        let newKey = try session.keys.key(ifGiven: new, subject: destination)
        if options.salt == nil, isSaltLost {
            session.reporter.warning(
                "\(source): begins with zeros, so its salt is lost, and no key opens it without. Give the "
                    + "salt with --salt or --salt-from.")
        }
        return try keys.open(source, cipher: options.cipher) { opening in
            var isComplete = false
            func salvage(
                _ newKey: DatabaseKey?, _ passage: KeyPassage, _ keyring: KeyringOfCopy? = nil
            ) throws {
                var options = options
                options.companion = keyring
                try trail.record(destination, passage) { entry in
                    let result = try session.work(source) { [options] progress in
                        try DatabaseFile(path: source).salvage(
                            key: opening.database, to: destination, newKey: newKey, options: options,
                            progress: progress)
                    }
                    isComplete = result.isComplete
                    tell(result, session.reporter)
                    try entry.end(isChanged: true, result.facts)
                    return true
                }
            }
            let slots = newKey == nil ? try recipients.slotsOfCopy(of: source, opening.key) : []
            if slots.isEmpty {
                try salvage(newKey?.database, .changed(from: nil, to: newKey ?? opening.key))
            } else {
                try recipients.copying(to: destination, slots, isDryRun: false, session) {
                    try salvage($0, .unknown, $1)
                }
            }
            return isComplete ? .done : .badData
        }
    }

    private func tell(_ result: DatabaseFile.Salvage, _ reporter: Reporter) {
        let counts =
            "\(counted: result.tables.count, "table"), \(counted: result.rowCount, "row")"
        let lines =
            result.isComplete
            ? ["\(destination): has all content of \(source) (\(counts))"]
            : ["\(destination): has the readable content of \(source) (\(counts))"] + result.losses
                + ["  compare it with the last backup, which may have the lost rows"]
        reporter.result(
            ["path": source, "destination": destination, "changed": true], result.json,
            ["code": result.isComplete ? 0 : ExitStatus.badData.rawValue], text: lines, isAnswer: true)
    }
}

extension DatabaseFile.Salvage {
    fileprivate var rowCount: Int { tables.reduce(0) { $0 + $1.rowCount } }

    /// The members of the audit record.
    fileprivate var facts: JSONObject {
        ["damaged_pages": damagedPages.count, "rows": rowCount, "lost_rows": lostRowCount]
    }

    fileprivate var json: JSONObject {
        [
            "complete": isComplete, "pages": pageCount, "damaged_pages": damagedPages,
            "missing_pages": missingPageCount, "tables": tables.map(\.json),
            "lost_and_found_rows": lostRowCount,
            "unassigned_pages": unassignedPages, "problems": problems,
        ]
    }

    /// The losses as lines of text.
    fileprivate var losses: [String] {
        var lines = ["\(counted: damagedPages.count, "page") of \(pageCount) not authentic"]
        if missingPageCount > 0 {
            let pages = TextLayout.counted(missingPageCount, "page")
            lines.append("\(pages) missing at the end: the file was truncated")
        }
        lines += tables.flatMap(\.losses)
        if lostRowCount > 0 {
            let rows = TextLayout.counted(lostRowCount, "row")
            lines.append("\(rows) in lost_and_found tables: look through them")
        }
        return (lines + problems).map { "  " + $0 }
    }
}

extension DatabaseFile.Salvage.Table {
    fileprivate var json: JSONObject {
        [
            "name": name, "rows": rowCount, "refused_rows": refusedRowCount,
            "unreadable_rows": unreadableRowCount, "missing_pages": missingPageCount,
            "estimated_lost_rows": estimatedLostRowCount,
            "missing_row_ids": missingRowIDs.map { [$0.lowerBound, $0.upperBound] },
        ]
    }

    /// The losses as lines of text. The result is empty for a complete table.
    fileprivate var losses: [String] {
        var losses: [String] = []
        if missingPageCount > 0 {
            let rows =
                switch estimatedLostRowCount {
                case nil: "with an unknown number of rows"
                case 0?: "probably without rows"
                case let count?: "with about \(counted: count, "row")"
                }
            losses.append("\(counted: missingPageCount, "page") missing, \(rows)")
        }
        if unreadableRowCount > 0 {
            losses.append("\(counted: unreadableRowCount, "row") unreadable")
        }
        if refusedRowCount > 0 {
            losses.append(
                "\(counted: refusedRowCount, "row") in lost_and_found, because they break a "
                    + "constraint or are cut off")
        }
        guard !losses.isEmpty else { return [] }
        let ranges = missingRowIDs.prefix(20).map { "  row IDs that may be missing: \(Self.words(for: $0))" }
        let more = missingRowIDs.count > 20 ? ["  and \(missingRowIDs.count - 20) other ranges"] : []
        return ["\(name): \(counted: rowCount, "row"); \(losses.joined(separator: ", "))"] + ranges
            + more
    }

    private static func words(for range: ClosedRange<Int64>) -> String {
        switch (range.lowerBound, range.upperBound) {
        case (.min, .max): "any"
        case (.min, let last): "up to \(last)"
        case (let first, .max): "from \(first) on"
        case (let first, let last): first == last ? "\(first)" : "\(first) to \(last)"
        }
    }
}
