internal import SQLCipherBridge

/// Checks a file page by page, as a reader would see it, and its structure.
struct FileVerifier {
    let path: String
    let options: DatabaseFile.VerificationOptions
    let progress: ProgressReport

    func verify(key: DatabaseKey?) throws -> DatabaseFile.Verification {
        do {
            return try SteadyLook.look(into: path, isSound: \.isIntact) {
                try verify(OpenedView(path, key: key, cipher: options.cipher, timeout: options.lockTimeout))
            }
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    /// The pages that are damaged, as a reader sees the file; none when it is whole, or only its structure is not.
    func damagedPages(_ protection: FileProtection) throws -> (isDamaged: Bool, pages: [Int]) {
        let result = try SteadyLook.look(into: path, isSound: \.isIntact) {
            try verify(OpenedView(path, protection, timeout: options.lockTimeout))
        }
        return (!result.isIntact, result.damagedPages)
    }

    private func verify(_ opened: OpenedView) throws -> DatabaseFile.Verification {
        let isAuthenticated = opened.protection.ring != nil && opened.settings.usesHMAC
        var result = DatabaseFile.Verification(
            findings: [], cipher: opened.settings, pageCount: opened.view.pageCount,
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
            result.findings = try options.structure.check?.findings(handle, progress: progress).map { .structure($0) } ?? []
        } else {
            result.findings = [.structure("the engine cannot read the first page")]
        }
        return result
    }

    /// What the database says of its size; nil when it does not, or its first page cannot be trusted.
    private func declaredPageCount(_ file: PageFile) throws -> Int? {
        guard file.pageCount > 0 else { return nil }
        let stored = try file.read(1, count: 1)
        guard try unsafe stored.withUnsafeBytes({ unsafe try file.authenticates($0, number: 1) }) else { return nil }
        let page = try file.content(1)
        // The count is valid when it was written by the last change: see "In-header database size" in SQLite's file format.
        guard page[24..<28] == page[92..<96] else { return nil }
        let count = page[28..<32].reduce(0) { $0 << 8 | Int($1) }
        return count > 0 ? count : nil
    }

    private func pageFindings(
        _ file: PageFile, declared: Int?, _ view: StoredView
    ) throws -> [DatabaseFile.Verification.Finding] {
        typealias Finding = DatabaseFile.Verification.Finding
        var findings: [Finding] = []
        var zeros: [Int] = []
        unsafe try file.forEachPage(progress: { try progress(.verifying, $0, of: file.pageCount) }) { page, number in
            guard number <= declared ?? Int.max else { return }
            // A plaintext page may well be nothing but zeros.
            if unsafe file.isEncrypted && PageFile.isZero(page) {
                zeros.append(number)
            } else if unsafe try !file.authenticates(page, number: number) {
                findings.append(.notAuthentic(page: number))
            }
        }
        if !zeros.isEmpty {
            let free = try file.freeLeafPages()
            findings += zeros.filter { !free.contains($0) }.map { .zeroed(page: $0) }
        }
        let count = declared ?? file.pageCount
        if count > file.pageCount {
            findings += (file.pageCount + 1...count).filter { $0 != file.lockPage }.map { .missing(page: $0) }
        }
        let excess = view.size - Int64(count) * Int64(file.pageSize)
        // A log may shorten the database, and the file only later on.
        if excess > 0 { findings.append(.foreignBytes(count: excess)) }
        return findings.sorted { $0.order < $1.order }
    }
}

extension DatabaseFile.Verification.Finding {
    fileprivate var order: Int {
        switch self {
        case .notAuthentic(let page), .zeroed(let page), .missing(let page): page
        case .foreignBytes, .empty, .structure: .max
        }
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
