internal import Coffer

/// The work of a batch on each of its files.
struct BatchJob: Sendable {
    /// The effect on one file, for the summary.
    struct Effect: Sendable {
        var isChanged = false
        /// The group that the summary counts the file in: the option whose key opened it, or the file's kind.
        var group: String?
    }

    /// The work on one file, with everything that it needs.
    typealias Step = @Sendable () throws -> Effect

    /// True if all files are prepared before work begins on the first one. Jobs that change files try every
    /// key first.
    var preparesAllFirst = false

    /// Distinguishes this work from other work of the same command, for example by its statements. With a
    /// different identity, no file counts as done.
    var identity = ""

    /// The identity of the same work in states of the first schema, if it is another one.
    var formerIdentity: String?

    /// True if a file does not show whether the work was done. Such work is not repeated automatically after
    /// a run was killed.
    var isUnrepeatable = false

    /// True if such work is to be repeated where an earlier run has begun it.
    var repeatsUnfinished = false

    var identities: [String] { [identity] + (formerIdentity.map { [$0] } ?? []) }

    /// Returns true if a file that an earlier run recorded as done is still in the state that the work
    /// produces.
    let isDone: @Sendable (Manifest.Item) -> Bool

    /// Tries the keys of a file without changing it. Everything that the returned step captures lives until
    /// the step has run.
    let prepare: @Sendable (Manifest.Item) throws -> Step
}

/// The inputs from which a command makes the job of a batch.
struct BatchSetting: Sendable {
    let session: Session
    let trail: AuditTrail
    /// The files of the manifest. Lines without keys get the keys of the command line.
    let items: [Manifest.Item]
    private let cache: KeyCache

    init(
        _ session: Session, _ trail: AuditTrail, _ given: [Manifest.Item], key: FileKeyOptions,
        newKey: KeyRequest?,
        role: KeyRequest.Role, needsKeys: Bool
    ) throws {
        self.session = session
        self.trail = trail
        let cache = KeyCache(session.keys, subject: TextLayout.counted(given.count, "file"))
        self.cache = cache
        // A command that needs no keys uses no defaults.
        let paths = given.map(\.location)
        let request = try (needsKeys ? key.request(role) : GivenSource.prompt.key(role)).forDatabases(paths)
        let newKey = newKey?.forDatabases(paths)
        let previous = try needsKeys ? key.otherRequests(role) : []
        let typeOfOthers = try key.current.typeOfOthers
        // Prompt for keys now, not in the middle of the work.
        if needsKeys {
            if given.contains(where: { $0.key == nil }) { _ = try cache.key(request) }
            _ = try previous.isEmpty ? nil : FileKeys(previous, cache)
            if let newKey, given.contains(where: { $0.newKey == nil }) { _ = try cache.key(newKey) }
        }
        items = try given.map { item in
            var item = item
            if item.previousKeys != nil, role == .new {
                throw BatchSetting.bad(item, "gets its first key, so it has no previous keys")
            }
            if item.key?.opensKeyring == true, role == .new {
                throw BatchSetting.bad(item, "gets its first key, so it has no keyring")
            }
            if item.previousKeys != nil, item.key == nil, !needsKeys {
                throw BatchSetting.bad(
                    item, "has only previous keys: give its key in the line, or on the command line")
            }
            item.previous =
                item.previousKeys?.requests(
                    type: typeOfOthers, allowsInsecureFile: key.allowsInsecureFiles) ?? previous
            item.key?.role = role
            item.key = item.key?.forDatabases([item.location]) ?? request
            item.newKey = item.newKey?.forDatabases([item.location]) ?? newKey
            item.key?.allowsInsecureFile = key.allowsInsecureFiles
            item.newKey?.allowsInsecureFile = key.allowsInsecureFiles
            return item
        }
    }

    private static func bad(_ item: Manifest.Item, _ words: String) -> Failure {
        Failure.manifest("'\(item.path)' of the manifest \(words).")
    }

    /// Returns the keys that may open a file. Checks that the file exists and is not empty before its key is
    /// read.
    func keysOfPresent(_ item: Manifest.Item) throws -> FileKeys {
        try FileNames.checkHasContent(item.location)
        return try keys(of: item)
    }

    /// Returns the keys that may open a file.
    func keys(of item: Manifest.Item) throws -> FileKeys {
        try FileKeys([item.key].compactMap { $0 } + item.previous, cache)
    }

    /// Returns the key that a file is to get.
    func newKey(of item: Manifest.Item) throws -> Key? {
        try item.newKey.map { request throws(Failure) in try cache.key(request) }
    }

    /// Returns true if one of the keys opens the file.
    func opens(_ item: Manifest.Item, cipher: CipherSettings?) -> Bool {
        (try? keys(of: item).open(item.location, cipher: item.cipher ?? cipher, isNamed: true) {
            $0.id != nil
        }) ?? false
    }
}
