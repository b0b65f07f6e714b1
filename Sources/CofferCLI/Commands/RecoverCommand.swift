internal import ArgumentParser
internal import Coffer
internal import Glibc
internal import SystemCalls

struct RecoverCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Copy the readable content of a damaged database to a new one.",
        usage: "coffer recover <damaged> <destination> [options]",
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
              coffer recover app.db salvaged.db --key-file app.key
              coffer recover app.db salvaged.db --key-file app.key --salt 000102030405060708090a0b0c0d0e0f
            """)

    @Argument(help: "The damaged database.", completion: .file())
    var source: String

    @Argument(help: "The file to create.", completion: .file())
    var destination: String

    @Option(
        help: ArgumentHelp(
            "The salt of the damaged file, if it is lost there: its first 16 bytes, as hexadecimal "
                + "digits.",
            valueName: "hex"),
        transform: RecoverCommand.salt)
    var salt: [UInt8]?

    @Option(
        help: ArgumentHelp(
            "A file that begins with the salt of the damaged one: another copy, or a backup made with "
                + "--same-pages.",
            valueName: "file"),
        completion: .file())
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

    @Option(help: ArgumentHelp("The number of threads that read pages, from 1 to 64.", valueName: "number"))
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
            throw Failure(
                .badData, "no_salt", "\(saltFrom): has no salt: it is not encrypted, or too short.")
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
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        let keys = try session.keys(key, of: source)
        let newKey = try new.map { request throws(Failure) in
            try session.keys.key(request, subject: destination)
        }
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
            return ["\(destination): has all content of \(source) (\(counts))"]
        }
        var lines = [
            "\(destination): has the readable content of \(source) (\(counts))",
            "  \(TextLayout.counted(result.damagedPages.count, "page", "pages")) of \(result.pageCount) not "
                + "authentic",
        ]
        if result.missingPageCount > 0 {
            lines.append(
                "  \(TextLayout.counted(result.missingPageCount, "page", "pages")) missing at the end: the "
                    + "file was truncated"
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
                    "\(TextLayout.counted(table.refusedRowCount, "row", "rows")) in lost_and_found, because "
                        + "they break a constraint or are cut off"
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
        lines.append("  compare it with the last backup, which may have the lost rows")
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
