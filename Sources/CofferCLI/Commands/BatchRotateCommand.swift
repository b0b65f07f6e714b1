internal import ArgumentParser
internal import Coffer

struct BatchRotateCommand: BatchOperation, MeasuredOperation {
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

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The current key")
    var key: FileKeyOptions

    @OptionGroup(title: "The new key")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var measuredWork: RunMetrics.Work { .rotate }
    var onlyReads: Bool { false }

    func newKeyRequest() throws -> KeyRequest? { try newKey.requestForRotation(besides: key) }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let (cipher, isDryRun) = (cipher.settings, dryRun)
        let session = setting.session
        // Uses the key that opens the file, or else the current one. In that case the rotation detects
        // whether the file already has the new key.
        @Sendable func rotation<Result>(
            _ item: Manifest.Item, _ body: (KeyRotation, FileKey) throws -> Result
        ) throws -> Result {
            try FileNames.checkReadable(item.location)
            try FileNames.checkHasBytes(item.location)
            guard item.key?.unlocks == nil else {
                throw Failure.usage("The file has a keyring. Rotate its data key with 'coffer key rotate'.")
            }
            guard let new = try setting.newKey(of: item), let old = try setting.keys(of: item).except(new)
            else {
                throw Failure(.usage, "same_key", "The new key is the current one.")
            }
            var options = DatabaseFile.RotationOptions()
            options.cipher = item.cipher ?? cipher
            options.lockTimeout = session.lockTimeout
            return try old.open(item.location, cipher: options.cipher) { opening in
                try body(
                    KeyRotation(
                        path: item.location, name: item.path, old: opening.key, new: new, options: options),
                    opening)
            }
        }
        return BatchJob(preparesAllFirst: !isDryRun) { item in
            (try? rotation(item) { rotation, _ in rotation.hasNewKey }) ?? false
        } prepare: { item in
            guard !isDryRun else {
                return {
                    try rotation(item) { rotation, opening in
                        try rotation.plan(in: session)
                        return .init(group: opening.option)
                    }
                }
            }
            return try rotation(item) { rotation, opening in
                let prepared = try rotation.prepare(setting.trail)
                return {
                    let result = try rotation.run(prepared, in: session, setting.trail)
                    return .init(
                        isChanged: result.isChanged,
                        group: result.isChanged ? opening.option : "has the new key")
                }
            }
        }
    }
}
