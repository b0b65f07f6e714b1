internal import ArgumentParser
internal import Coffer

struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Rotate or verify many files.",
        usage: "coffer batch rotate|verify|status --manifest <file> [options]",
        discussion: Manifest.help,
        subcommands: [BatchRotateCommand.self, BatchVerifyCommand.self, BatchStatusCommand.self])

    func run() throws { throw ValidationError("Give a command: coffer batch rotate, coffer batch verify, or coffer batch status.") }
}

extension Manifest {
    static let help = """
        The manifest has one path a line, or one JSON object a line with members named as the options: {"path": "a.db", "key-file": \
        "old.key", "new-key-file": "new.key", "key-type": "raw"}. Sources of keys are -file, -command, -env and -credential; where a line has \
        none, the options of the command line hold. Relative names start at the manifest's directory. Empty lines and lines with # say nothing. \
        A file whose name begins with # or {, begins or ends with white space, or has a line break in it, is given as JSON, or with --null, where \
        the manifest has paths only and each ends with a byte of zero, as 'find -print0' writes them.

        A rotation tries the keys of all files before it changes the first one. Each file has its own result. A failed one does not stop the others: exit code 3 then. A rotation notes what is done in \
        MANIFEST.state, which goes when all is done. After an interruption, or when failures are mended, run it again with --continue: \
        nothing is done twice. Several machines share a manifest by --shard 1/3, 2/3 and 3/3. Each share has a state of its own, \
        which stays, so that with --continue a share that runs twice does nothing: 'coffer batch status' tells what is missing, and removes the states when \
        all is done. What the state says was done is believed when the new key opens the file.
        """
}

struct BatchRotateCommand: RecordingOperation {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Rotate the keys of many files.",
        usage: "coffer batch rotate --manifest <file> [options]",
        discussion: """
            \(Manifest.help)

            EXAMPLES
              coffer batch rotate --manifest fleet.jsonl --jobs 4
              coffer batch rotate --manifest fleet.jsonl --continue
              coffer batch rotate --manifest fleet.jsonl --dry-run
            """)

    static let title = "batch rotate"

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys, say what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "The current key")
    var key: KeyOptions

    @OptionGroup(title: "The new key")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup
    var record: RecordOptions

    func run(in session: Session) throws -> ExitStatus {
        let given = try batch.readItems()
        session.reporter.start([.init("files", .strings(given.map(\.path))), .init("dry_run", .bool(dryRun))])
        let trail = try record.audit.trail(session, command: Self.title)
        let keys = KeyCache(session.keys, subject: TextLayout.counted(given.count, "file", "files"))
        let request = try key.request()
        let newRequest = try newKey.request(besides: key)
        // Asked for now, not in the middle of the work.
        if given.contains(where: { $0.key == nil }) { _ = try keys.key(request) }
        if given.contains(where: { $0.newKey == nil }) { _ = try keys.key(newRequest) }
        let state = dryRun ? nil : try batch.openState(Self.title, isOptional: false)
        let run = BatchRun(session: session, command: Self.title, state: state, jobs: batch.jobs, failsFast: batch.failFast)
        let items = given.map { $0.completed(key: request, newKey: newRequest, allowingInsecureFiles: key.allowsInsecureFiles) }
        let cipher = cipher.settings
        let rotation: @Sendable (Manifest.Item) throws -> KeyRotation = { item in
            try FileNames.checkReadable(item.location)
            try FileNames.checkHasBytes(item.location)
            let old = try keys.key(item.key ?? request)
            let new = try keys.key(item.newKey ?? newRequest)
            guard !old.isSame(as: new) else { throw Failure(.usage, "same_key", "The new key is the current one.") }
            var options = DatabaseFile.RotationOptions()
            options.cipher = item.cipher ?? cipher
            options.lockTimeout = session.lockTimeout
            return KeyRotation(path: item.location, name: item.path, old: old, new: new, options: options)
        }
        let isRotated: @Sendable (Manifest.Item) -> Bool = { item in (try? rotation(item).hasNewKey) ?? false }
        guard !dryRun else { return try run.run(items, unless: isRotated) { item in try rotation(item).plan(in: session) } }
        let status = try run.run(items, unless: isRotated) { item -> (rotation: KeyRotation, prepared: PreparedRotation) in
            let rotation = try rotation(item)
            return (rotation, try rotation.prepare(trail))
        } _: { (_: Manifest.Item, proof: (rotation: KeyRotation, prepared: PreparedRotation)) in
            try proof.rotation.run(proof.prepared, in: session, trail)
        }
        if status == .done && batch.shard == nil { state?.remove() }
        return status
    }
}

struct BatchVerifyCommand: RecordingOperation {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify many files.",
        usage: "coffer batch verify --manifest <file> [options]",
        discussion: """
            \(Manifest.help)

            EXAMPLES
              coffer batch verify --manifest fleet.jsonl --jobs 2 --quiet
              find /srv -name '*.db' -print0 | coffer batch verify --manifest - --null --key-file app.key
            """)

    static let title = "batch verify"

    @OptionGroup
    var batch: BatchOptions

    @Option(help: ArgumentHelp("How the structure is checked: full also compares indices with their tables.", valueName: "depth"))
    var structure = VerifyCommand.Structure.quick

    @Flag(help: "Accept files of no bytes, which are no databases yet. Otherwise they are damaged.")
    var allowEmpty = false

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup
    var record: RecordOptions

    func run(in session: Session) throws -> ExitStatus {
        let given = try batch.readItems()
        session.reporter.start([.init("files", .strings(given.map(\.path)))])
        let trail = try record.audit.trail(session, command: Self.title)
        let keys = KeyCache(session.keys, subject: TextLayout.counted(given.count, "file", "files"))
        let request = try key.request()
        if given.contains(where: { $0.key == nil }) { _ = try keys.key(request) }
        let state = try batch.openState(Self.title, isOptional: true)
        let run = BatchRun(session: session, command: Self.title, state: state, jobs: batch.jobs, failsFast: batch.failFast)
        let items = given.map { $0.completed(key: request, newKey: nil, allowingInsecureFiles: key.allowsInsecureFiles) }
        let (cipher, structure, allowEmpty) = (cipher.given, structure, allowEmpty)
        let verification: @Sendable (Manifest.Item) throws -> FileVerification = { item in
            try FileNames.checkReadable(item.location)
            var options = DatabaseFile.VerificationOptions()
            options.cipher = item.cipher ?? cipher
            options.structure = .init(rawValue: structure.rawValue) ?? .quick
            let key = try keys.key(item.key ?? request)
            return FileVerification(path: item.location, name: item.path, key: key, options: options, allowsEmpty: allowEmpty)
        }
        let status = try run.run(items, unless: { item in (try? verification(item).keyOpensFile) ?? false }) { item in
            try verification(item).run(in: session, trail)
        }
        if status == .done && batch.shard == nil { state?.remove() }
        return status
    }
}

extension Manifest.Item {
    /// With the keys of the command line where the line has none, and its switch for all lines.
    fileprivate func completed(key request: KeyRequest, newKey newRequest: KeyRequest?, allowingInsecureFiles: Bool) -> Manifest.Item {
        var item = self
        item.key = key ?? request
        item.newKey = newKey ?? newRequest
        item.key?.allowsInsecureFile = allowingInsecureFiles
        item.newKey?.allowsInsecureFile = allowingInsecureFiles
        return item
    }
}
