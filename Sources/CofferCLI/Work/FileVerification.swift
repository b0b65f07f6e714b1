internal import Coffer

/// The verification of one file, together with its report.
struct FileVerification {
    let path: String
    /// The file, as the user named it.
    let name: String
    let key: FileKey
    let options: DatabaseFile.VerificationOptions
    /// True to show people which key opened the file.
    var isKeyTold = false
    /// True if an empty file passes.
    var allowsEmpty = false
    /// True to checkpoint first those commits that would be lost when the processes that use the file end.
    var healsLog = false

    /// - Throws: ``Failure`` if the file is damaged, after the findings have been reported.
    func run(in session: Session, _ trail: AuditTrail) throws {
        try trail.record(path, .kept(key.key)) { entry in
            let result = try verify(in: session, trail.site)
            try entry.end(isChanged: false, ["pages": result.pageCount])
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
                session.reporter.note("\(name): \(counted: count, "frame") of the log saved")
            }
        }
        let result = try session.work(name) { [options] progress in
            try DatabaseFile(path: path).verify(key: key.database, options: options, progress: progress)
        }
        guard result.isIntact else {
            let words = result.findings.prefix(20).map { "  " + $0.words }
            let more = result.findings.count > 20 ? ["  and \(result.findings.count - 20) more"] : []
            try session.reporter.result(
                json(result), key.json(site), ["code": 65], text: ["\(name): DAMAGED"] + words + more,
                isAnswer: true)
            guard result.findings != [.empty] else { throw FileNames.emptyFile }
            if result.findings.contains(where: \.isUnrecoverable) {
                throw Failure(
                    .badData, "unrecoverable",
                    "Commits in the log will be lost when the processes that use the file end. Save them "
                        + "first, with coffer verify --heal-log.")
            }
            if let mismatch = IndexMismatch(result.findings) {
                throw Failure(.badData, "index-mismatch", mismatch.advice)
            }
            let place =
                result.damagedPageCount == 0
                ? "its structure"
                : TextLayout.counted(result.damagedPageCount, "page")
                    + " of \(grouped: result.pageCount)"
            throw Failure(
                .badData, "damaged",
                "The file is damaged: \(place). Restore it from a backup. \(Failure.salvage)")
        }
        let keyring = KeyringFacts(of: path)
        if let keyring, let damage = keyring.damage {
            session.reporter.warning("\(name): its keyring (\(keyring.name)) \(damage). \(keyring.advice)")
        }
        let fromLog =
            result.pageCountFromLog == 0
            ? "" : ", \(grouped: result.pageCountFromLog) of them in the log"
        let trailingBytes = TextLayout.counted(Int(result.trailingByteCount), "byte")
        let trailing =
            result.trailingByteCount == 0
            ? []
            : [
                "  \(trailingBytes) after the database, which SQLite does not read: no damage"
            ]
        let weak =
            result.isAuthenticated
            ? "" : "; format 1 has no MACs, so only the structure was checked"
        let opening = isKeyTold || site != nil ? ", opened by \(try key.words(site))" : ""
        try session.reporter.result(
            json(result), keyring?.json ?? [:], key.json(site), ["code": 0],
            text: [
                "\(name): intact (\(counted: result.pageCount, "page")\(fromLog), "
                    + "\(seconds: ContinuousClock.now - began))\(opening)\(weak)"
            ] + trailing + unreadCommits(result.unreadCommitCount) + remarks(result))
        return result
    }

    private func unreadCommits(_ count: Int) -> [String] {
        count == 0
            ? []
            : [
                "  \(counted: count, "transaction") after a damaged frame of the log, as after a loss of "
                    + "power.",
                "  SQLite does not read them, and the next commit deletes them. To save them: "
                    + "'coffer recover --damaged-log'",
            ]
    }

    /// Returns remarks about the content of an intact file.
    private func remarks(_ result: DatabaseFile.Verification) -> [String] {
        let found = result.contentFindings
        guard !found.isEmpty else { return [] }
        let more = found.count > 20 ? ["  and \(found.count - 20) more"] : []
        return ["  authentic, but inconsistent with the schema:"] + found.prefix(20).map { "  \($0)" }
            + more
    }

    private func json(_ result: DatabaseFile.Verification) -> JSONObject {
        [
            "path": name, "intact": result.isIntact, "changed": false, "pages": result.pageCount,
            "pages_from_log": result.pageCountFromLog, "trailing_bytes": result.trailingByteCount,
            "unread_transactions": result.unreadCommitCount,
            "authenticated": result.isAuthenticated,
            "damaged_pages": Array(result.damagedPages.prefix(1000)),
            "findings": result.findings.prefix(1000).map(\.words), "content_findings": result.contentFindings,
        ]
    }
}

extension DatabaseFile.Verification.Finding {
    fileprivate var isUnrecoverable: Bool {
        if case .unrecoverable = self { true } else { false }
    }

    fileprivate var words: String {
        switch self {
        case .notAuthentic(let page): "page \(page): modified, moved or from another file"
        case .zeroed(let page): "page \(page): overwritten with zeros"
        case .missing(let pages) where pages.count == 1:
            "page \(pages.lowerBound): missing at the end of the file"
        case .missing(let pages):
            "pages \(pages.lowerBound) to \(pages.upperBound): missing at the end of the file"
        case .foreignBytes(let count): "\(grouped: count) bytes after the last page"
        case .empty: "the file is empty"
        case .structure(let words): "structure: \(words)"
        case .unrecoverable(let count):
            "log: \(counted: count, "frame") with commits that will be lost when "
                + "the process that uses the file ends"
        }
    }
}
