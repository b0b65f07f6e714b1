internal import Coffer

/// The verification of one file, and how it is reported.
struct FileVerification {
    let path: String
    /// The file, as the user named it.
    let name: String
    let key: FileKey
    let options: DatabaseFile.VerificationOptions
    /// Whether people are shown which key it is.
    var isKeyTold = false
    /// Whether a file of no bytes is good.
    var allowsEmpty = false
    /// Whether commits that would be lost with the processes that use the file are brought into it first.
    var healsLog = false

    /// Whether the key opens the file.
    var keyOpensFile: Bool {
        (try? DatabaseFile(path: path).inspect(key: key.database, cipher: options.cipher)) != nil
    }

    /// - Throws: a failure when the file is damaged, after the findings were reported.
    func run(in session: Session, _ trail: AuditTrail) throws {
        try trail.record(path, .kept(key.key)) { entry in
            let result = try verify(in: session, trail.site)
            try entry.end(isChanged: false, [.init("pages", .count(result.pageCount))])
            return false
        }
    }

    private func verify(in session: Session, _ site: SiteSecret?) throws -> DatabaseFile.Verification {
        let began = ContinuousClock.now
        var options = options
        options.allowsEmptyFile = allowsEmpty
        if healsLog {
            let count = try DatabaseFile(path: path).healLog(key: key.database, options: options)
            if count > 0 {
                session.reporter.note(
                    "\(name): \(TextLayout.counted(count, "frame", "frames")) of the log saved")
            }
        }
        let result = try session.work(name) { [options] progress in
            try DatabaseFile(path: path).verify(key: key.database, options: options, progress: progress)
        }
        guard result.isIntact else {
            let words = result.findings.prefix(20).map { "  " + $0.words }
            let more = result.findings.count > 20 ? ["  and \(result.findings.count - 20) more"] : []
            try session.reporter.result(
                json(result) + key.json(site) + [.init("code", 65)],
                text: ["\(name): DAMAGED"] + words + more, isAnswer: true)
            guard result.findings != [.empty] else { throw FileNames.emptyFile }
            if result.findings.contains(where: \.isUnrecoverable) {
                throw Failure(
                    .badData, "unrecoverable",
                    "Commits in the log of the file would be lost with the processes that use it. Save them "
                        + "with coffer verify --heal-log before these end.")
            }
            if let mismatch = IndexMismatch(result.findings) {
                throw Failure(.badData, "index-mismatch", mismatch.advice)
            }
            let place =
                result.damagedPageCount == 0
                ? "its structure"
                : TextLayout.counted(result.damagedPageCount, "page", "pages")
                    + " of \(TextLayout.grouped(result.pageCount))"
            throw Failure(.badData, "damaged", "The file is damaged: \(place). Restore it from a backup.")
        }
        let fromLog =
            result.pageCountFromLog == 0
            ? "" : ", \(TextLayout.grouped(result.pageCountFromLog)) of them in the log beside it"
        let trailing =
            result.trailingByteCount == 0
            ? []
            : [
                "  \(TextLayout.grouped(result.trailingByteCount)) bytes behind the database, which SQLite "
                    + "does not read: no damage"
            ]
        let weak =
            result.isAuthenticated
            ? "" : "; format 1 has no authentication, so that only the structure was checked"
        let opening = isKeyTold || site != nil ? ", opened by \(try key.words(site))" : ""
        try session.reporter.result(
            json(result) + key.json(site) + [.init("code", 0)],
            text: [
                "\(name): intact (\(TextLayout.counted(result.pageCount, "page", "pages"))\(fromLog), "
                    + "\(TextLayout.seconds(ContinuousClock.now - began)))\(opening)\(weak)"
            ] + trailing + remarks(result))
        return result
    }

    /// What the content of an intact file is said of.
    private func remarks(_ result: DatabaseFile.Verification) -> [String] {
        let found = result.contentFindings
        guard !found.isEmpty else { return [] }
        let more = found.count > 20 ? ["  and \(found.count - 20) more"] : []
        return ["  as it was written, but not as its schema says:"] + found.prefix(20).map { "  \($0)" }
            + more
    }

    private func json(_ result: DatabaseFile.Verification) -> [JSONValue.Member] {
        [
            .init("path", .string(name)), .init("intact", .bool(result.isIntact)), .init("changed", false),
            .init("pages", .count(result.pageCount)),
            .init("pages_from_log", .count(result.pageCountFromLog)),
            .init("trailing_bytes", .int(result.trailingByteCount)),
            .init("authenticated", .bool(result.isAuthenticated)),
            .init("damaged_pages", .array(result.damagedPages.prefix(1000).map { .count($0) })),
            .init("findings", .strings(result.findings.prefix(1000).map(\.words))),
            .init("content_findings", .strings(result.contentFindings)),
        ]
    }
}

extension DatabaseFile.Verification.Finding {
    fileprivate var isUnrecoverable: Bool {
        if case .unrecoverable = self { true } else { false }
    }

    fileprivate var words: String {
        switch self {
        case .notAuthentic(let page): "page \(page): changed, exchanged or from another file"
        case .zeroed(let page): "page \(page): overwritten with zeros"
        case .missing(let pages) where pages.count == 1:
            "page \(pages.lowerBound): missing at the end of the file"
        case .missing(let pages):
            "pages \(pages.lowerBound) to \(pages.upperBound): missing at the end of the file"
        case .foreignBytes(let count): "\(TextLayout.grouped(count)) bytes after the last page"
        case .empty: "the file has no bytes"
        case .structure(let words): "structure: \(words)"
        case .unrecoverable(let count):
            "log: \(TextLayout.counted(count, "frame", "frames")) with commits that end with the process "
                + "that uses the file"
        }
    }
}
