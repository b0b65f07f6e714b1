internal import SQLCipherBridge

/// The content of a copy that is brought up to date while other connections write to its source.
struct FollowedContent {
    let change: FileChange
    let target: HeldFile

    /// The copy's salt.
    private let salt: [UInt8]
    private var pageCount = 0
    private let digests: PageDigests
    /// The facts that were proved about all pages of one state.
    private var proved: ProvedContent?

    /// The maximum number of pages in a range that is copied and compared at once.
    private static let portion = 64

    init(_ change: FileChange, in target: HeldFile) throws {
        self.change = change
        self.target = target
        salt = try change.after.saltForNewFile()
        digests = PageDigests(
            lockPage: DatabaseHeader.lockPage(pageSize: change.before.ring?.settings.pageSize ?? 4096))
    }

    /// Copies all pages of a pinned state.
    mutating func copyAll(
        of pin: borrowing PinnedState, _ contents: LogContents, threadCount: Int, _ progress: ProgressReport
    ) throws {
        let (size, before) = (pin.size, change.before)
        let source = try pages(pin, contents)
        try FollowedContent.namingDamage(of: source, change.path) {
            try PageCopy(threadCount: threadCount).copy(
                source, to: target, salt: salt, change, progress, path: change.path
            ) { handle in try PageFile(PinnedBytes(handle, size, contents), before) }
        }
        pageCount = size.pageCount
    }

    /// Copies the pages of a pinned state that have changed since the last one.
    mutating func follow(
        _ pin: borrowing PinnedState, _ contents: LogContents, _ changes: LogHistory.Changes,
        _ progress: ProgressReport
    )
        throws
    {
        let source = try pages(pin, contents)
        let pages = try FollowedContent.namingDamage(of: source, change.path) {
            try copy(changes, of: source, progress)
        }
        guard proved != nil else { return }
        try prove(pages, PageFile(target, change.after), against: source)
    }

    /// Proves all pages of the state that was copied or followed last.
    ///
    /// This takes as long as the copy. Pages that are copied later are proved one by one.
    mutating func proveAll(of pin: borrowing PinnedState, _ contents: LogContents, _ progress: ProgressReport)
        throws
    {
        let copy: EngineConnection
        do {
            copy = try change.after.open(viewing: target)
        } catch KeyError.encryption(let failure, _) {
            throw DatabaseFileError(
                .copyRejected("the new key does not open it (\(failure))"), path: change.path)
        }
        digests.resize(to: pageCount)
        var content = try PageProof.prove(
            copy.handle, in: target, against: pages(pin, contents), change, progress
        ) { number, digest in
            digests.note(number, digest)
        }
        // For pages without authentication codes, damage is searched here rather than while accesses wait.
        if content.structure == nil {
            content.structure = try StructureCheck.quick.findings(copy.handle, progress: progress).damage
        }
        // The content is equal, so the source has the same damage.
        if let findings = content.structure, !findings.isEmpty {
            throw DatabaseFileError(.damaged(pages: []), path: change.path)
        }
        guard content.isOldKeyAccepted == false else {
            throw DatabaseFileError(.copyRejected("the old key opens it, too"), path: change.path)
        }
        proved = content
    }

    /// Copies the remaining pages, from a file that no connection writes to.
    ///
    /// - Returns: the proof for these pages.
    mutating func completed(
        from source: ConnectionHandle, _ changes: LogHistory.Changes, _ progress: ProgressReport
    ) throws -> any ContentProof {
        guard let proved else {
            throw DatabaseFileError(.copyRejected("it was not verified"), path: change.path)
        }
        var changes = changes
        // The header on page 1 contains the journal mode.
        changes.pages.insert(1)
        let pages = try copy(changes, of: PageFile(source, change.before), progress)
        return FollowedProof(pages: pages, digests: digests, proved: proved)
    }

    private func pages(_ pin: borrowing PinnedState, _ contents: LogContents) throws -> PageFile {
        try PageFile(PinnedBytes(pin.handle, pin.size, contents), change.before)
    }

    private mutating func copy(_ changes: LogHistory.Changes, of source: PageFile, _ progress: ProgressReport)
        throws -> [Range<Int>]
    {
        let pages = FollowedContent.portions(changes.pages(from: pageCount, to: source.pageCount))
        try PageCopy().copy(pages, of: source, to: target, salt: salt, change, progress)
        pageCount = source.pageCount
        if proved != nil { digests.resize(to: pageCount) }
        return pages
    }

    /// Runs `body`. If it fails because pages of the source are damaged, throws an error that names these
    /// pages.
    private static func namingDamage<Result>(
        of source: PageFile, _ path: String, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as EngineError where error.primaryCode == EngineCode.corrupt {
            let damaged = try source.damagedPages()
            guard damaged == ([], []) else {
                throw DatabaseFileError(
                    .damaged(pages: (damaged.notAuthentic + damaged.zeroed).sorted()), path: path)
            }
            throw error
        }
    }

    private mutating func prove(_ pages: [Range<Int>], _ copy: PageFile, against source: PageFile) throws {
        try PageComparison(source: source, copy: copy, path: change.path).run(pages) { digests.note($0, $1) }
    }

    /// Groups page numbers into ranges of consecutive pages.
    static func portions(_ pages: [Int]) -> [Range<Int>] {
        var portions: [Range<Int>] = []
        for page in pages {
            if let last = portions.last, last.upperBound == page, last.count < portion {
                portions[portions.count - 1] = last.lowerBound..<page + 1
            } else {
                portions.append(page..<page + 1)
            }
        }
        return portions
    }
}

/// A proof of the pages that were copied last. All others were proved before, and have not changed since.
private struct FollowedProof: ContentProof {
    let pages: [Range<Int>]
    let digests: PageDigests
    let proved: ProvedContent

    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent {
        let (mine, theirs) = try (PageFile(source, change.before), PageFile(copy, change.after))
        try PageComparison(source: mine, copy: theirs, path: change.path).run(pages) { digests.note($0, $1) }
        return ProvedContent(proved, digests: digests)
    }
}
