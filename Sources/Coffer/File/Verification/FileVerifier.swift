/// Verifies a file page by page, as a reader would see it, and its structure.
struct FileVerifier {
    let path: String
    let options: DatabaseFile.VerificationOptions
    let progress: ProgressReport

    func verify(key: DatabaseKey?) throws -> DatabaseFile.Verification {
        try DatabaseFileError.translated(path) {
            // This has to precede the first open of the file by this process.
            let log = try LogRecovery(path)
            var protection: FileProtection?
            let isSound = { (result: DatabaseFile.Verification) in
                result.isIntact && result.contentFindings.isEmpty
            }
            var result = try SteadyLook.look(into: path, isSound: isSound) {
                let opened = try OpenedView(
                    path, key: key, cipher: options.cipher, timeout: options.lockTimeout)
                protection = opened.protection
                return try verify(opened)
            }
            // Outside the repeated read, because this connection touches the log. Verification does not fail
            // if the log cannot be examined, because of permissions or of continuous commits.
            if let log, let protection,
                let lost = try? log.lostFrameCount(protection, timeout: options.lockTimeout), lost > 0
            {
                result.findings.append(.unrecoverable(frameCount: lost))
            }
            result.unreadCommitCount = (try? UnreadCommits.count(path)) ?? 0
            return result
        }
    }

    /// Returns the damaged pages, as a reader sees the file. The list is empty if the file is whole, or if
    /// only its structure is damaged.
    func damagedPages(_ protection: FileProtection) throws -> (isDamaged: Bool, pages: [Int]) {
        let result = try SteadyLook.look(into: path, isSound: \.isIntact) {
            try verify(OpenedView(path, protection, timeout: options.lockTimeout))
        }
        return (!result.isIntact, result.damagedPages)
    }

    private func verify(_ opened: OpenedView) throws -> DatabaseFile.Verification {
        let isAuthenticated = opened.protection.ring != nil && opened.settings.usesHMAC
        var result = DatabaseFile.Verification(
            findings: [], contentFindings: [], cipher: opened.settings, pageCount: opened.view.pageCount,
            pageCountFromLog: opened.view.overlaidPageCount, isAuthenticated: isAuthenticated)
        guard opened.view.size > 0 else {
            if !options.allowsEmptyFile { result.findings = [.empty] }
            return result
        }
        if opened.isSaltDamaged {
            result.findings = [.notAuthentic(page: 1)]
            return result
        }
        let file = try PageFile(opened.view, opened.protection)
        let declared = file.declaredPageCount
        result.pageCount = declared ?? file.pageCount + (file.excess > 0 ? 1 : 0)
        result.trailingByteCount = declared == file.pageCount ? file.excess : 0
        result.findings = try pageFindings(file)
        guard result.findings.isEmpty else { return result }
        if let handle = opened.handle {
            let found = try options.structure.check.map {
                // The engine reads rows twice, and would check the MAC of a page each time.
                isAuthenticated
                    ? try DecryptedContent(checkingCodesOf: opened.view, opened.protection)
                        .findings($0, progress: progress)
                    : try $0.findings(handle, progress: progress)
            }
            result.findings = found?.damage.map { .structure($0) } ?? []
            if isAuthenticated {
                result.contentFindings = found?.content ?? []
            } else {
                // Without MACs, nothing shows that a program wrote this.
                result.findings += found?.content.map { .structure($0) } ?? []
            }
            if result.findings.isEmpty, options.structure != .none {
                let found = try ExternalIndexCheck(opened.view, opened.protection).findings(progress)
                result.contentFindings += found.filter { !result.contentFindings.contains($0) }
            }
        } else {
            result.findings = [.structure("the engine cannot read the first page")]
        }
        return result
    }

    private func pageFindings(_ file: PageFile) throws -> [DatabaseFile.Verification.Finding] {
        let damaged = try file.damagedPages(threadCount: options.threadCount) {
            try progress(.verifying, $0, of: file.pageCount)
        }
        var findings: [DatabaseFile.Verification.Finding] = damaged.notAuthentic.map {
            .notAuthentic(page: $0)
        }
        findings += damaged.zeroed.map { .zeroed(page: $0) }
        let count = file.declaredPageCount ?? file.pageCount
        if count > file.pageCount {
            let missing = file.pageCount + 1..<count + 1
            // SQLite never uses the lock-byte page.
            let parts = [
                missing.clamped(to: 1..<file.lockPage), missing.clamped(to: file.lockPage + 1..<Int.max),
            ]
            findings += parts.filter { !$0.isEmpty }.map {
                .missing(pages: $0.lowerBound...$0.upperBound - 1)
            }
        }
        // If the header does not state the number of pages, SQLite counts a partial page as a whole one.
        if file.declaredPageCount == nil, file.excess > 0 {
            findings.append(.foreignBytes(count: file.excess))
        }
        return findings.sorted { $0.pages?.lowerBound ?? .max < $1.pages?.lowerBound ?? .max }
    }
}

extension DatabaseFile.VerificationOptions.StructureCheck {
    /// The engine's check; nil for none.
    fileprivate var check: StructureCheck? {
        switch self {
        case .none: nil
        case .quick: .quick
        case .full: .full
        }
    }
}
