internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// Copies a file page by page into one with the same layout of pages, another key and a fresh salt, on two threads.
///
/// The engine has no part in it: it is the one that looks at the copy afterwards (``PageProof``).
enum PageCopy {
    /// - Throws: ``EngineError`` where the source cannot be read.
    static func run(_ work: CopyWork) throws {
        let source = try PageFile(work.source, work.before)
        let salt = try work.after.saltForNewFile()
        try run(work, source, PageCopyPlan(source: source, target: work.target, protection: work.after, salt: salt))
    }

    private static func run(_ work: CopyWork, _ source: PageFile, _ plan: PageCopyPlan) throws {
        guard let first = plan.claim() else { return }
        func copyOn(_ first: Range<Int>) throws {
            let copier = try PageCopier(source, plan)
            var next: Range<Int>? = first
            while let pages = next {
                try copier.copy(pages)
                try FailPoint.copying.pass(work.path)
                try work.progress(.copying, plan.doneCount, of: source.pageCount)
                next = plan.claim()
            }
        }
        guard let path = work.source.filename(schema: "main"), let second = plan.claim() else { return try copyOn(first) }
        let before = work.before
        _ = try SideWork<Void>.run(
            side: { _ in
                do {
                    let connection = try EngineConnection(path: path, flags: .readOnly)
                    let copier = try PageCopier(PageFile(connection.handle, before), plan)
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
                    try side.value { try work.progress(.copying, plan.doneCount, of: source.pageCount) }
                } catch {
                    plan.end()
                    throw error
                }
            })
        try work.progress(.copying, source.pageCount, of: source.pageCount)
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
private final class PageCopier {
    private let source: PageFile
    private let plan: PageCopyPlan
    private let sealer: PageSealer
    private var stored: [UInt8] = []
    private var content: [UInt8]
    private var sealed: [UInt8] = []
    private var random: [UInt8] = []

    init(_ source: PageFile, _ plan: PageCopyPlan) throws {
        guard let settings = plan.protection.ring?.settings, let material = try plan.protection.material(fileSalt: plan.salt),
            source.layout == PageCipher.Layout(settings)
        else { throw EngineError(code: EngineCode.misuse, message: "The pages of the copy have another layout") }
        self.source = source
        self.plan = plan
        sealer = try PageSealer(
            key: material.secret.bytes, salt: material.salt ?? plan.salt, layout: PageCipher.Layout(settings))
        content = [UInt8](repeating: 0, count: source.pageSize)
    }

    /// - Throws: `SQLITE_CORRUPT` when a page is not authentic.
    func copy(_ pages: Range<Int>) throws {
        let pageSize = source.pageSize
        let reserve = sealer.layout.reserve
        resize(&stored, to: pages.count * pageSize)
        resize(&sealed, to: pages.count * pageSize)
        resize(&random, to: pages.count * reserve)
        try unsafe stored.withUnsafeMutableBytes { unsafe try source.read(pages.lowerBound, into: $0) }
        try unsafe random.withUnsafeMutableBytes { unsafe try SystemRandomness.fill($0) }
        try unsafe stored.withUnsafeBytes { stored in
            try unsafe sealed.withUnsafeMutableBytes { sealed in
                for (index, number) in pages.enumerated() {
                    let range = index * pageSize..<(index + 1) * pageSize
                    let page = unsafe UnsafeRawBufferPointer(rebasing: stored[range])
                    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: sealed[range])
                    guard number != source.lockPage else {
                        unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
                        continue
                    }
                    // As for the engine, a page of zeros is one that was never written. Whether it may be is looked at afterwards.
                    guard unsafe try PageFile.isZero(page) || source.authenticates(page, number: number) else {
                        throw EngineError(code: EngineCode.corrupt, message: "Page \(number) is not authentic")
                    }
                    try unsafe content.withUnsafeMutableBytes { unsafe try source.decrypt(page, number: number, into: $0) }
                    try unsafe random.withUnsafeBytes { random in
                        try unsafe content.withUnsafeBytes { content in
                            unsafe try sealer.seal(
                                content, number: UInt32(truncatingIfNeeded: number),
                                reserve: UnsafeRawBufferPointer(rebasing: random[index * reserve..<(index + 1) * reserve]), into: target)
                        }
                    }
                }
            }
        }
        let offset = Int64(pages.lowerBound - 1) * Int64(pageSize)
        try plan.target.writer.write(sealed, at: offset)
        plan.target.writer.beginSynchronizing(sealed.count, at: offset)
        plan.didCopy(pages.count)
    }

    private func resize(_ bytes: inout [UInt8], to count: Int) {
        if bytes.count != count { bytes = [UInt8](repeating: 0, count: count) }
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
