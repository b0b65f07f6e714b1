internal import SQLCipherBridge

/// Checks a file page by page, as a reader would see it, and its structure.
struct FileVerifier {
    let path: String
    let options: DatabaseFile.VerificationOptions
    let progress: ProgressReport

    func verify(key: DatabaseKey?) throws -> DatabaseFile.Verification {
        try DatabaseFileError.translated(path) {
            try SteadyLook.look(into: path, isSound: \.isIntact) {
                try verify(OpenedView(path, key: key, cipher: options.cipher, timeout: options.lockTimeout))
            }
        }
    }

    /// The pages that are damaged, as a reader sees the file; none when it is whole, or only its structure is
    /// not.
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
        let declared = try declaredPageCount(file)
        result.pageCount = declared ?? file.pageCount + (file.excess > 0 ? 1 : 0)
        result.findings = try pageFindings(file, declared: declared, opened.view)
        guard result.findings.isEmpty else { return result }
        if let handle = opened.handle {
            let found = try options.structure.check.map {
                // The engine reads rows twice, and would look at the code of a page each time.
                isAuthenticated
                    ? try DecryptedContent(checkingCodesOf: opened.view, opened.protection)
                        .findings($0, progress: progress)
                    : try $0.findings(handle, progress: progress)
            }
            result.findings = found?.damage.map { .structure($0) } ?? []
            if isAuthenticated {
                result.contentFindings = found?.content ?? []
            } else {
                // Without codes, nothing says that a program wrote it so.
                result.findings += found?.content.map { .structure($0) } ?? []
            }
        } else {
            result.findings = [.structure("the engine cannot read the first page")]
        }
        return result
    }

    /// What the database says of its size; nil when it does not, or its first page cannot be trusted.
    private func declaredPageCount(_ file: PageFile) throws -> Int? {
        guard file.pageCount > 0 else { return nil }
        var run = PageRun(file)
        try run.read(1..<2, from: file)
        guard try run.authenticates(1) else { return nil }
        return try file.header()?.pageCount
    }

    private func pageFindings(
        _ file: PageFile, declared: Int?, _ view: StoredView
    ) throws -> [DatabaseFile.Verification.Finding] {
        let damaged = try file.damagedPages(upTo: declared ?? .max, threadCount: options.threadCount) {
            try progress(.verifying, $0, of: file.pageCount)
        }
        var findings: [DatabaseFile.Verification.Finding] = damaged.notAuthentic.map {
            .notAuthentic(page: $0)
        }
        findings += damaged.zeroed.map { .zeroed(page: $0) }
        let count = declared ?? file.pageCount
        if count > file.pageCount {
            let missing = file.pageCount + 1..<count + 1
            // SQLite never uses this one.
            let parts = [
                missing.clamped(to: 1..<file.lockPage), missing.clamped(to: file.lockPage + 1..<Int.max),
            ]
            findings += parts.filter { !$0.isEmpty }.map {
                .missing(pages: $0.lowerBound...$0.upperBound - 1)
            }
        }
        let excess = view.size - Int64(count) * Int64(file.pageSize)
        // A log may shorten the database, and the file only later on.
        if excess > 0 { findings.append(.foreignBytes(count: excess)) }
        return findings.sorted { $0.pages?.lowerBound ?? .max < $1.pages?.lowerBound ?? .max }
    }
}

extension DatabaseFile.VerificationOptions.StructureCheck {
    /// Nil for none.
    fileprivate var check: StructureCheck? {
        switch self {
        case .none: nil
        case .quick: .quick
        case .full: .full
        }
    }
}
