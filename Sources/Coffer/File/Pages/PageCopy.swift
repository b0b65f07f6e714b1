internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// Copies a file page by page into one with the same layout of pages, another key and a fresh salt, on two threads.
///
/// The engine has no part in it: it is the one that looks at the copy afterwards (``PageProof``).
struct PageCopy: CopyMethod {
    /// - Throws: ``EngineError`` where the source cannot be read.
    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof {
        let file = try PageFile(source, change.before)
        let plan = try PageCopyPlan(source: file, target: target, protection: change.after, salt: change.after.saltForNewFile())
        try run(plan, file, path: source.filename(schema: "main"), change, progress)
        return PageProof()
    }

    /// - Parameter path: where another thread finds the source; nil where it cannot.
    private func run(_ plan: PageCopyPlan, _ source: PageFile, path: String?, _ change: FileChange, _ progress: ProgressReport) throws {
        guard let first = plan.claim() else { return }
        func copyOn(_ first: Range<Int>) throws {
            var copier = try PageCopier(source, plan)
            var next: Range<Int>? = first
            while let pages = next {
                try copier.copy(pages)
                try FailPoint.copying.pass(change.path)
                try progress(.copying, plan.doneCount, of: source.pageCount)
                next = plan.claim()
            }
        }
        guard let path, let second = plan.claim() else { return try copyOn(first) }
        _ = try SideWork<Void>.run(
            side: { _ in
                do {
                    let connection = try EngineConnection(path: path, flags: .readOnly)
                    var copier = try PageCopier(PageFile(connection.handle, change.before), plan)
                    var next: Range<Int>? = second
                    while let pages = next {
                        try copier.copy(pages)
                        next = plan.claim()
                    }
                } catch {
                    plan.end()
                    throw error
                }
            },
            main: { side in
                do {
                    try copyOn(first)
                    try side.value { try progress(.copying, plan.doneCount, of: source.pageCount) }
                } catch {
                    plan.end()
                    throw error
                }
            })
        try progress(.copying, source.pageCount, of: source.pageCount)
    }
}

/// What the threads of a copy have in common: where it goes, and which pages nobody has begun.
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
        // Small enough for progress, and to be ended soon.
        chunk = max(1, min(1 << 18 / source.pageSize, source.pageCount / 8))
    }

    /// The next pages to copy; nil when there are none.
    func claim() -> Range<Int>? {
        let first = next.wrappingAdd(chunk, ordering: .relaxed).oldValue
        return first > pageCount ? nil : first..<min(first + chunk, pageCount + 1)
    }

    /// Lets nobody begin with more pages.
    func end() { next.store(pageCount + 1, ordering: .relaxed) }

    func didCopy(_ count: Int) { done.wrappingAdd(count, ordering: .relaxed) }

    var doneCount: Int { done.load(ordering: .relaxed) }
}

/// Copies pages on one thread.
private struct PageCopier: ~Copyable {
    private let source: PageFile
    private let plan: PageCopyPlan
    private let sealer: PageSealer
    private var stored: PageRun
    /// Kept from one call to the next.
    private var sealed: [UInt8] = []

    init(_ source: PageFile, _ plan: PageCopyPlan) throws {
        guard let settings = plan.protection.ring?.settings, let material = try plan.protection.material(fileSalt: plan.salt),
            source.layout == PageCipher.Layout(settings)
        else { throw EngineError(code: EngineCode.misuse, message: "The pages of the copy have another layout") }
        let sealer = try PageSealer(
            key: material.secret.bytes, salt: material.salt ?? plan.salt, layout: PageCipher.Layout(settings))
        self.source = source
        self.plan = plan
        self.sealer = sealer
        stored = PageRun(source)
    }

    /// - Throws: `SQLITE_CORRUPT` when a page is not authentic.
    mutating func copy(_ pages: Range<Int>) throws {
        let (pageSize, reserve) = (source.pageSize, sealer.layout.reserve)
        try stored.read(pages)
        if self.sealed.count != pages.count * pageSize { self.sealed = [UInt8](repeating: 0, count: pages.count * pageSize) }
        var sealed: [UInt8] = []
        swap(&sealed, &self.sealed)
        defer { swap(&sealed, &self.sealed) }
        var content = [UInt8](repeating: 0, count: pageSize)
        var random = [UInt8](repeating: 0, count: pages.count * reserve)
        var fresh = random.mutableSpan
        try SystemRandomness.fill(&fresh)
        for (index, number) in pages.enumerated() {
            let place = index * pageSize..<(index + 1) * pageSize
            var target = sealed.mutableSpan
            guard number != source.lockPage else {
                target.clear(place)
                continue
            }
            // As for the engine, a page of zeros is one that was never written. Whether it may be is looked at afterwards.
            guard try stored.isZero(number) || stored.authenticates(number) else {
                throw EngineError(code: EngineCode.corrupt, message: "Page \(number) is not authentic")
            }
            try stored.decrypt(number, into: &content)
            let bytes = random.span.extracting(index * reserve..<(index + 1) * reserve)
            try target.withPart(place) { page in
                try sealer.seal(content.span, number: UInt32(truncatingIfNeeded: number), reserve: bytes, into: &page)
            }
        }
        let offset = Int64(pages.lowerBound - 1) * Int64(pageSize)
        try plan.target.writer.write(sealed, at: offset)
        plan.target.writer.beginSynchronizing(sealed.count, at: offset)
        plan.didCopy(pages.count)
    }
}

extension FileProtection {
    /// The salt that a new file is to have: that of the key, or a fresh one, for which the key is derived.
    fileprivate func saltForNewFile() throws -> [UInt8] {
        guard let ring else { throw EngineError(code: EngineCode.misuse, message: "A file without a key has no salt") }
        let fresh = try SystemRandomness.bytes(count: 16)
        let material = try ring.freshMaterial(fileSalt: fresh)
        let salt = material.salt ?? fresh
        ring.remember(material, keyIndex: 0, fileSalt: salt)
        return salt
    }
}
