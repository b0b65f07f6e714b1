internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// Copies a file page by page on several threads, into one with the same page layout, another key and a fresh
/// salt.
///
/// The engine takes no part in copying: it checks the copy afterwards (``PageProof``).
struct PageCopy: CopyMethod {
    /// The maximum number of threads.
    var threadCount = 2

    /// - Throws: ``EngineError`` if the source cannot be read.
    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof {
        let file = try PageFile(source, change.before)
        let path = source.filename(schema: "main")
        try copy(file, to: target, salt: change.after.saltForNewFile(), change, progress, path: path) {
            try PageFile($0, change.before)
        }
        return PageProof()
    }

    /// Copies all pages of a source, whether they are in the file or in a log.
    ///
    /// - Parameters:
    ///   - salt: the salt of the copy.
    ///   - path: the database file, for other threads; nil if they cannot open it by path.
    ///   - open: opens the same source on another thread, given a connection to the database file.
    func copy(
        _ source: PageFile, to target: HeldFile, salt: [UInt8], _ change: FileChange,
        _ progress: ProgressReport, path: String?,
        open: @escaping @Sendable (ConnectionHandle) throws -> PageFile
    ) throws {
        let plan = PageCopyPlan(source: source, target: target, protection: change.after, salt: salt)
        // This thread reports progress, so it claims its first pages before the others start.
        guard let first = plan.claim() else { return }
        let report = { try progress(.copying, plan.doneCount, of: source.pageCount) }
        func copyHere() throws {
            var copier = try PageCopier(source, plan)
            var next: Range<Int>? = first
            while let pages = next {
                try copier.copy(pages)
                try FailPoint.copying.pass(change.path)
                try report()
                next = plan.claim()
            }
        }
        let others = PageFile.threadCount(threadCount, portions: plan.portionCount) - 1
        try PageCopy.run(
            plan, others: path == nil ? 0 : others, path: path ?? "", open, whileWaiting: report, copyHere)
        try progress(.copying, source.pageCount, of: source.pageCount)
    }

    /// Copies some pages again, over the ones in the copy, and resizes the copy to the length of the source.
    ///
    /// - Parameter pages: ranges in order, each small enough to be read at once.
    func copy(
        _ pages: [Range<Int>], of source: PageFile, to target: HeldFile, salt: [UInt8], _ change: FileChange,
        _ progress: ProgressReport
    ) throws {
        let plan = PageCopyPlan(source: source, target: target, protection: change.after, salt: salt)
        let total = pages.reduce(0) { $0 + $1.count }
        let code = target.truncate(to: Int64(source.pageCount) * Int64(source.pageSize))
        guard code == 0 else { throw SystemFile.failure("ftruncate", target.path, errno: code) }
        var copier = try PageCopier(source, plan)
        for part in pages {
            try progress(.copying, plan.doneCount, of: total)
            try copier.copy(part, isAlone: true)
            try FailPoint.copying.pass(change.path)
        }
        try progress(.copying, total, of: total)
    }

    /// Copies on other threads in addition to this one. An error on any of them stops all.
    private static func run(
        _ plan: PageCopyPlan, others: Int, path: String,
        _ open: @escaping @Sendable (ConnectionHandle) throws -> PageFile,
        whileWaiting: () throws -> Void, _ copyHere: () throws -> Void
    ) throws {
        guard others > 0 else { return try copyHere() }
        _ = try SideWork<Void>.run(
            side: { _ in
                try plan.endingWithAnyError {
                    guard let first = plan.claim() else { return }
                    let connection = try EngineConnection(path: path, flags: .readOnly)
                    var copier = try PageCopier(open(connection.handle), plan)
                    var next: Range<Int>? = first
                    while let pages = next {
                        try copier.copy(pages)
                        next = plan.claim()
                    }
                }
            },
            main: { side in
                try plan.endingWithAnyError {
                    try run(plan, others: others - 1, path: path, open, whileWaiting: whileWaiting, copyHere)
                    try side.value(whileWaiting)
                }
            })
    }
}

/// The state that the threads of a copy share: the target, and the pages not yet claimed.
private final class PageCopyPlan: Sendable {
    let target: HeldFile
    let protection: FileProtection
    let salt: [UInt8]
    let pageCount: Int
    private let chunk: Int
    private let next = Atomic<Int>(1)
    private let done = Atomic<Int>(0)

    init(source: PageFile, target: HeldFile, protection: FileProtection, salt: [UInt8]) {
        self.target = target
        self.protection = protection
        self.salt = salt
        pageCount = source.pageCount
        // Small enough for frequent progress reports and quick cancellation.
        chunk = max(1, min(1 << 18 / source.pageSize, source.pageCount / 8))
    }

    /// Returns the next pages to copy; nil if none are left.
    func claim() -> Range<Int>? {
        let first = next.wrappingAdd(chunk, ordering: .relaxed).oldValue
        return first > pageCount ? nil : first..<min(first + chunk, pageCount + 1)
    }

    var portionCount: Int { (pageCount + chunk - 1) / chunk }

    /// Stops all threads from claiming more pages if `body` throws.
    func endingWithAnyError(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            next.store(pageCount + 1, ordering: .relaxed)
            throw error
        }
    }

    func didCopy(_ count: Int) { done.wrappingAdd(count, ordering: .relaxed) }

    var doneCount: Int { done.load(ordering: .relaxed) }
}

/// Copies pages on one thread.
private struct PageCopier: ~Copyable {
    private let source: PageFile
    private let plan: PageCopyPlan
    private let sealer: BulkSealer
    private var stored: PageRun
    /// Buffers that are reused between calls, like `contents`, which holds a few pages.
    private var sealed: [UInt8] = []
    private var contents: [UInt8]

    /// The number of pages that are decrypted at once: libcrypto checks one page of each such group.
    private static let few = 16

    init(_ source: PageFile, _ plan: PageCopyPlan) throws {
        guard let settings = plan.protection.ring?.settings,
            let material = try plan.protection.material(fileSalt: plan.salt),
            source.layout == PageCipher.Layout(settings)
        else {
            throw EngineError.misuse("The pages of the copy have a different layout")
        }
        let sealer = try BulkSealer(
            key: material.secret.bytes, salt: material.salt ?? plan.salt, layout: PageCipher.Layout(settings))
        self.source = source
        self.plan = plan
        self.sealer = sealer
        stored = PageRun(source)
        contents = [UInt8](repeating: 0, count: PageCopier.few * source.pageSize)
    }

    /// - Parameter isAlone: true if the neighboring pages are not copied. Asking the system to start
    ///   writeback takes longer for single pages than all other steps, so it is skipped.
    /// - Throws: `SQLITE_CORRUPT` if a page is not authentic.
    mutating func copy(_ pages: Range<Int>, isAlone: Bool = false) throws {
        let (pageSize, reserve) = (source.pageSize, sealer.single.layout.reserve)
        try stored.read(pages, from: source)
        // Like the engine, this treats an all-zero page as one that was never written. The proof checks later
        // whether the page may be unwritten.
        if let number = try stored.unauthentic().first {
            throw EngineError.corrupt("Page \(number) is not authentic")
        }
        var (sealed, contents): ([UInt8], [UInt8]) = ([], [])
        swap(&sealed, &self.sealed)
        swap(&contents, &self.contents)
        defer { (self.sealed, self.contents) = (sealed, contents) }
        if sealed.count != pages.count * pageSize {
            sealed = [UInt8](repeating: 0, count: pages.count * pageSize)
        }
        var random = [UInt8](repeating: 0, count: pages.count * reserve)
        var fresh = random.mutableSpan
        try SystemRandomness.fill(&fresh)
        for start in stride(from: 0, to: pages.count, by: PageCopier.few) {
            let few = start..<min(start + PageCopier.few, pages.count)
            let first = pages.lowerBound + start
            var content = contents.mutableSpan
            try content.withPart(0..<few.count * pageSize) {
                try stored.decrypt(first..<first + few.count, into: &$0)
            }
            var target = sealed.mutableSpan
            try target.withPart(few.lowerBound * pageSize..<few.upperBound * pageSize) { target in
                try sealer.seal(
                    contents.span.extracting(0..<few.count * pageSize),
                    first: UInt32(truncatingIfNeeded: first),
                    reserves: random.span.extracting(few.lowerBound * reserve..<few.upperBound * reserve),
                    into: &target)
            }
        }
        if pages.contains(source.lockPage) {
            let start = (source.lockPage - pages.lowerBound) * pageSize
            var target = sealed.mutableSpan
            target.clear(start..<start + pageSize)
        }
        let offset = Int64(pages.lowerBound - 1) * Int64(pageSize)
        try plan.target.writer.write(sealed, at: offset)
        if !isAlone { plan.target.writer.beginSynchronizing(sealed.count, at: offset) }
        plan.didCopy(pages.count)
    }
}

extension FileProtection {
    /// Returns the salt for a new file: the one of the key, or a fresh one, for which it derives the key.
    func saltForNewFile() throws -> [UInt8] {
        guard let ring else {
            throw EngineError.misuse("A file without a key has no salt")
        }
        let fresh = try SystemRandomness.bytes(count: 16)
        let material = try ring.freshMaterial(fileSalt: fresh)
        let salt = material.salt ?? fresh
        ring.remember(material, keyIndex: 0, fileSalt: salt)
        return salt
    }
}
