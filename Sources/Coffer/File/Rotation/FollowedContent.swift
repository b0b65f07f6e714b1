internal import SQLCipherBridge

/// The content of a copy that is brought up to date while other connections write to its source.
protocol FollowedContent {
    /// Copies the pages of a state that have changed since the last one.
    ///
    /// - Returns: the pages that were copied.
    @discardableResult
    mutating func follow(
        _ changes: LogHistory.Changes, of source: PageFile, to target: HeldFile, _ progress: ProgressReport
    ) throws -> [Range<Int>]
}

/// A copy of all pages of one state, none of which is proved.
struct CopiedContent: FollowedContent {
    fileprivate let change: FileChange
    /// The copy's salt.
    private let salt: [UInt8]
    fileprivate private(set) var pageCount: Int

    /// The maximum number of pages in a range that is copied and compared at once.
    private static let portion = 64

    /// Copies all pages of a pinned state.
    init(
        of pin: borrowing PinnedState, _ contents: LogContents, to target: HeldFile, _ change: FileChange,
        threadCount: Int, _ progress: ProgressReport
    ) throws {
        self.change = change
        let (size, before, salt) = (pin.size, change.before, try change.after.saltForNewFile())
        let source = try PageFile(PinnedBytes(pin.handle, size, contents), before)
        try CopiedContent.namingDamage(of: source, change.path) {
            try PageCopy(threadCount: threadCount).copy(
                source, to: target, salt: salt, change, progress, path: change.path
            ) { handle in try PageFile(PinnedBytes(handle, size, contents), before) }
        }
        self.salt = salt
        pageCount = size.pageCount
    }

    mutating func follow(
        _ changes: LogHistory.Changes, of source: PageFile, to target: HeldFile, _ progress: ProgressReport
    ) throws -> [Range<Int>] {
        try CopiedContent.namingDamage(of: source, change.path) {
            try copy(changes, of: source, to: target, progress)
        }
    }

    /// Proves all pages of the state that was copied or followed last.
    ///
    /// This takes as long as the copy. Pages that are copied later are proved one by one.
    func proved(in target: HeldFile, against source: PageFile, _ progress: ProgressReport) throws
        -> ProvedFollowedContent
    {
        let copy = try change.openCopy(target)
        let digests = PageDigests(
            lockPage: DatabaseHeader.lockPage(pageSize: change.before.ring?.settings.pageSize ?? 4096))
        digests.resize(to: pageCount)
        var content = try PageProof.proveRotation(
            copy.handle, in: target, against: source, change, progress
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
        return ProvedFollowedContent(copied: self, digests: digests, proved: content)
    }

    fileprivate mutating func copy(
        _ changes: LogHistory.Changes, of source: PageFile, to target: HeldFile, _ progress: ProgressReport
    ) throws -> [Range<Int>] {
        let pages = CopiedContent.portions(changes.pages(from: pageCount, to: source.pageCount))
        try PageCopy().copy(pages, of: source, to: target, salt: salt, change, progress)
        pageCount = source.pageCount
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
            try source.checkIsUndamaged(path)
            throw error
        }
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

/// A copy whose pages were all proved in one state. Each page that is copied later is proved, too.
struct ProvedFollowedContent: FollowedContent {
    private var copied: CopiedContent
    private let digests: PageDigests
    /// The facts that were proved about all pages of one state.
    private let proved: ProvedContent

    fileprivate init(copied: CopiedContent, digests: PageDigests, proved: ProvedContent) {
        self.copied = copied
        self.digests = digests
        self.proved = proved
    }

    mutating func follow(
        _ changes: LogHistory.Changes, of source: PageFile, to target: HeldFile, _ progress: ProgressReport
    ) throws -> [Range<Int>] {
        let pages = try copied.follow(changes, of: source, to: target, progress)
        digests.resize(to: copied.pageCount)
        let copy = try PageFile(target, copied.change.after)
        try PageComparison(source: source, copy: copy, path: copied.change.path).run(pages) {
            digests.note($0, $1)
        }
        return pages
    }

    /// Copies the remaining pages, from a file that no connection writes to.
    ///
    /// - Returns: the proof for these pages.
    func completed(
        from source: ConnectionHandle, _ changes: LogHistory.Changes, to target: HeldFile,
        _ progress: ProgressReport
    ) throws -> any ContentProof {
        var (copied, changes) = (copied, changes)
        // The header on page 1 contains the journal mode.
        changes.pages.insert(1)
        let pages = try copied.copy(
            changes, of: PageFile(source, copied.change.before), to: target, progress)
        digests.resize(to: copied.pageCount)
        return FollowedProof(pages: pages, digests: digests, proved: proved)
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
