internal import ArgumentParser
internal import Coffer

/// What a batch does to each of its files.
struct BatchJob: Sendable {
    /// What was done to a file, as the summary counts it.
    struct Effect: Sendable {
        var isChanged = false
        /// What the file is counted as: the option whose key opened it, or what it is.
        var group: String?
    }

    /// The work on one file, once all is known that it needs.
    typealias Step = @Sendable () throws -> Effect

    /// Whether all files are prepared before the work on the first one: what changes files tries the keys of
    /// all of them first.
    var preparesAllFirst = false

    /// What distinguishes this work from other work of the same command, such as its statements: with another
    /// one, nothing counts as done before.
    var identity = ""

    /// Whether a file is as the work leaves it, where an earlier run says that it was done.
    let isDone: @Sendable (Manifest.Item) -> Bool

    /// Tries the keys of a file, and changes nothing. What the step keeps lives until it has run.
    let prepare: @Sendable (Manifest.Item) throws -> Step
}

/// What the job of a batch is made with.
struct BatchSetting: Sendable {
    let session: Session
    let trail: AuditTrail
    /// The files, with the keys of the command line where a line has none.
    let items: [Manifest.Item]
    private let cache: KeyCache

    init(
        _ session: Session, _ trail: AuditTrail, _ given: [Manifest.Item], key: FileKeyOptions,
        newKey: KeyRequest?,
        role: KeyRequest.Role, needsKeys: Bool
    ) throws {
        self.session = session
        self.trail = trail
        let cache = KeyCache(session.keys, subject: TextLayout.counted(given.count, "file", "files"))
        self.cache = cache
        let request = try key.request(role)
        let previous = try key.previousRequests()
        // Asked for now, not in the middle of the work.
        if needsKeys {
            if given.contains(where: { $0.key == nil }) { _ = try cache.key(request) }
            _ = try previous.isEmpty ? nil : FileKeys(previous, cache)
            if let newKey, given.contains(where: { $0.newKey == nil }) { _ = try cache.key(newKey) }
        }
        items = try given.map { item in
            var item = item
            if item.previousKeys != nil, role == .new {
                throw BatchSetting.bad(item, "gets its first key, and has no previous ones")
            }
            if item.previousKeys != nil, item.key == nil, !needsKeys {
                throw BatchSetting.bad(
                    item, "has previous keys and no other: name its key in the line, or on the command line")
            }
            item.previous =
                item.previousKeys.map { keys in
                    KeyRequest.previous(
                        keys.sources, keys.types.isEmpty ? [key.current.type] : keys.types,
                        allowsInsecureFile: key.allowsInsecureFiles)
                } ?? previous
            item.line = try BatchState.id(item)
            item.key = item.key ?? request
            item.newKey = item.newKey ?? newKey
            item.key?.role = role
            item.key?.allowsInsecureFile = key.allowsInsecureFiles
            item.newKey?.allowsInsecureFile = key.allowsInsecureFiles
            return item
        }
    }

    private static func bad(_ item: Manifest.Item, _ words: String) -> Failure {
        Failure(.unsafeConfiguration, "manifest", "'\(item.path)' of the manifest \(words).")
    }

    /// The keys that may open a file.
    func keys(of item: Manifest.Item) throws -> FileKeys {
        try FileKeys([item.key].compactMap { $0 } + item.previous, cache)
    }

    /// The key that a file is to get.
    func newKey(of item: Manifest.Item) throws -> Key? {
        try item.newKey.map { request throws(Failure) in try cache.key(request) }
    }

    /// Whether one of the keys opens the file.
    func opens(_ item: Manifest.Item, cipher: CipherSettings?) -> Bool {
        (try? keys(of: item).open(item.location, cipher: item.cipher ?? cipher, isNamed: true) {
            $0.id != nil
        }) ?? false
    }
}

/// A command that does the same to each file of a manifest.
protocol BatchOperation: RecordingOperation {
    var batch: BatchOptions { get }
    var key: FileKeyOptions { get }

    /// Whether nothing is changed: the batch keeps a state only where it was asked for then.
    var onlyReads: Bool { get }
    var dryRun: Bool { get }

    /// What the key is for: one that files get is asked twice.
    var keyRole: KeyRequest.Role { get }

    /// Whether there are keys to be asked for.
    var needsKeys: Bool { get throws }

    /// The key that files get which have one.
    func newKeyRequest() throws -> KeyRequest?

    func job(_ setting: BatchSetting) throws -> BatchJob
}

extension BatchOperation {
    var dryRun: Bool { false }

    /// What is in the name of the state: nothing for the first three, which had states before there were
    /// others.
    private var stateWord: String? {
        let word = Self.configuration.commandName ?? ""
        return ["rotate", "verify", "info"].contains(word) ? nil : word
    }

    var keyRole: KeyRequest.Role { .current }
    var needsKeys: Bool { get throws { true } }
    func newKeyRequest() throws -> KeyRequest? { nil }

    func run(in session: Session) throws -> ExitStatus {
        let given = try batch.readItems()
        session.reporter.start(
            [.init("files", .strings(given.map(\.path)))]
                + (onlyReads ? [] : [.init("dry_run", .bool(dryRun))]))
        let trail = try audit.trail(session, command: Self.title)
        let setting = try BatchSetting(
            session, trail, given, key: key, newKey: newKeyRequest(), role: keyRole, needsKeys: needsKeys)
        let job = try job(setting)
        let state = dryRun ? nil : try batch.openState(Self.title, stateWord, isOptional: onlyReads)
        let run = BatchRun(
            session: session, command: Self.title, state: state, jobs: batch.jobs, failsFast: batch.failFast)
        let status = try run.run(setting.items, job)
        if status == .done && batch.shard == nil { state?.remove() }
        return status
    }
}
