internal import ArgumentParser
internal import Coffer

struct RecoverCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Make a new database of what can be read of a damaged one.",
        usage: "coffer recover <damaged> <destination> [options]",
        discussion: """
            Reads every page that carries the right code, with the write-ahead log, and never writes to the \
            damaged file. Rows come back into their tables, with their row IDs. Rows of which the table is \
            not certain, or which break a constraint, are in tables named lost_and_found_N, with the page, \
            the reason and the row ID. The new file is encrypted with the key of the damaged one, or with a \
            new one, and gets its name when it is complete. Never overwrites. Try the last backup first, and \
            compare: what is lost here may be there.

            Exit code 0 means that nothing was lost; 65 that something was, and that the new file has the \
            rest; 75 that others have written to the file meanwhile, and nothing was made: stop them, or use \
            'coffer backup'.

            EXAMPLES
              coffer recover app.db salvaged.db --key-file app.key
              coffer recover app.db salvaged.db --key-file app.key --salt 000102030405060708090a0b0c0d0e0f
            """)

    @Argument(help: "The damaged database.", completion: .file())
    var source: String

    @Argument(help: "The file to make.", completion: .file())
    var destination: String

    @Option(
        help: ArgumentHelp(
            "The salt of the damaged file, where its own is lost: the first 16 bytes of it, as hexadecimal "
                + "digits.",
            valueName: "hex"),
        transform: RecoverCommand.salt)
    var salt: [UInt8]?

    @Option(
        help: ArgumentHelp(
            "A file that begins with the salt of the damaged one: another copy of it, or a backup made with "
                + "--same-pages.",
            valueName: "file"),
        completion: .file())
    var saltFrom: String?

    @Flag(help: "Look for rows on free pages, too: those were deleted. They go to lost_and_found_N.")
    var freePages = false

    @Flag(
        help: """
            Look for rows on pages that are not authentic, too: they may say anything. \
            They go to lost_and_found_N.
            """)
    var damagedPages = false

    @Flag(
        help: """
            Look for rows behind a damaged frame of the write-ahead log, too: they may not fit to others. \
            They go to lost_and_found_N.
            """)
    var damagedLog = false

    @Flag(
        help: """
            Read the file although others write to it. A whole file may look damaged then, and what is made \
            may never have been together.
            """)
    var allowWriters = false

    @Option(help: ArgumentHelp("How many threads look at pages at once, from 1 to 64.", valueName: "number"))
    var threads = ThreadCount.usual

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the new file, where it is another one")
    var newKey: NewKeyOptions

    @OptionGroup(title: "Who opens the new file, where nobody else is to")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the damaged file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(destination, "the new file")
        try recipients.checkFits(newKey, keeps: false)
        guard salt == nil || saltFrom == nil else {
            throw ValidationError("Give --salt or --salt-from, not both.")
        }
    }

    /// The salt of a file is what it begins with.
    private func givenSalt() throws -> [UInt8]? {
        guard let saltFrom else { return salt }
        guard let salt = try DatabaseFile(path: saltFrom).inspect().salt else {
            throw Failure(
                .badData, "no_salt", "\(saltFrom): begins with no salt: it is not encrypted, or too short.")
        }
        return salt
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
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        let keys = try session.keys(key, of: source)
        let newKey = try new.map { request throws(Failure) in
            try session.keys.key(request, subject: destination)
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
                    try entry.end(isChanged: true, Self.facts(result))
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

    private static func facts(_ result: DatabaseFile.Salvage) -> [JSONValue.Member] {
        [
            .init("damaged_pages", .count(result.damagedPages.count)),
            .init("rows", .count(result.tables.reduce(0) { $0 + $1.rowCount })),
            .init("lost_rows", .count(result.lostRowCount)),
        ]
    }

    private func tell(_ result: DatabaseFile.Salvage, _ reporter: Reporter) {
        let status: ExitStatus = result.isComplete ? .done : .badData
        reporter.result(
            [
                .init("path", .string(source)), .init("destination", .string(destination)),
                .init("changed", true),
                .init("complete", .bool(result.isComplete)), .init("pages", .count(result.pageCount)),
                .init("damaged_pages", .array(result.damagedPages.map { .count($0) })),
                .init("missing_pages", .count(result.missingPageCount)),
                .init("tables", .array(result.tables.map(RecoverCommand.object))),
                .init("lost_and_found_rows", .count(result.lostRowCount)),
                .init("unassigned_pages", .array(result.unassignedPages.map { .count($0) })),
                .init("problems", .strings(result.problems)),
                .init("code", .count(status.rawValue)),
            ],
            text: lines(result), isAnswer: true)
    }

    private static func object(_ table: DatabaseFile.Salvage.Table) -> JSONValue {
        .object([
            .init("name", .string(table.name)), .init("rows", .count(table.rowCount)),
            .init("refused_rows", .count(table.refusedRowCount)),
            .init("unreadable_rows", .count(table.unreadableRowCount)),
            .init("missing_pages", .count(table.missingPageCount)),
            .init("estimated_lost_rows", table.estimatedLostRowCount.map { .count($0) } ?? .null),
            .init(
                "missing_row_ids",
                .array(table.missingRowIDs.map { .array([.int($0.lowerBound), .int($0.upperBound)]) })),
        ])
    }

    private func lines(_ result: DatabaseFile.Salvage) -> [String] {
        let rows = result.tables.reduce(0) { $0 + $1.rowCount }
        let counts =
            "\(TextLayout.counted(result.tables.count, "table", "tables")), "
            + "\(TextLayout.counted(rows, "row", "rows"))"
        guard !result.isComplete else {
            return ["\(destination): has everything that \(source) has (\(counts))"]
        }
        var lines = [
            "\(destination): has what could be read of \(source) (\(counts))",
            "  \(TextLayout.counted(result.damagedPages.count, "page", "pages")) of \(result.pageCount) not "
                + "authentic",
        ]
        if result.missingPageCount > 0 {
            lines.append(
                "  \(TextLayout.counted(result.missingPageCount, "page", "pages")) missing at the end: the "
                    + "file was cut off"
            )
        }
        for table in result.tables
        where table.missingPageCount + table.unreadableRowCount + table.refusedRowCount > 0 {
            var losses: [String] = []
            if table.missingPageCount > 0 {
                let rows = table.estimatedLostRowCount.map {
                    "about \(TextLayout.counted($0, "row", "rows"))"
                }
                let estimate = rows ?? "an unknown number of rows"
                losses.append(
                    "\(TextLayout.counted(table.missingPageCount, "page", "pages")) missing, with \(estimate)"
                )
            }
            if table.unreadableRowCount > 0 {
                losses.append("\(TextLayout.counted(table.unreadableRowCount, "row", "rows")) unreadable")
            }
            if table.refusedRowCount > 0 {
                losses.append(
                    "\(TextLayout.counted(table.refusedRowCount, "row", "rows")) in lost_and_found, as they "
                        + "break a constraint or are cut off"
                )
            }
            lines.append(
                "  \(table.name): \(TextLayout.counted(table.rowCount, "row", "rows")); "
                    + losses.joined(separator: ", "))
            for range in table.missingRowIDs.prefix(20) {
                lines.append("    row IDs that may be missing: \(RecoverCommand.words(for: range))")
            }
            if table.missingRowIDs.count > 20 {
                lines.append("    and \(table.missingRowIDs.count - 20) other ranges")
            }
        }
        if result.lostRowCount > 0 {
            lines.append(
                "  \(TextLayout.counted(result.lostRowCount, "row", "rows")) in lost_and_found tables: look "
                    + "through them"
            )
        }
        lines += result.problems.map { "  " + $0 }
        lines.append("  compare it with the last backup: what is lost here may be there")
        return lines
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
