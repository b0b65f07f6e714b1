internal import ArgumentParser
internal import Coffer

struct BatchRotateCommand: BatchOperation, MeasuredOperation {
    static let configuration = CommandConfiguration.batch(
        "rotate", abstract: "Rotate the keys of many files.", needsPatterns: true,
        examples: """
              coffer batch rotate --manifest fleet.jsonl --jobs 4
              coffer batch rotate --manifest fleet.jsonl --continue
              coffer batch rotate /srv --name '*.db' --dry-run
            """)

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

    func newKeyRequest() throws -> KeyRequest? { try newKey.requestForRotation(besides: key, of: []) }

    func job(_ setting: BatchSetting) -> BatchJob {
        BatchJob(preparesAllFirst: !dryRun) { item in
            (try? rotation(item, setting) { rotation, _ in rotation.hasNewKey }) ?? false
        } prepare: { item in
            guard !dryRun else {
                return {
                    try rotation(item, setting) { rotation, opening in
                        try rotation.plan(in: setting.session)
                        return .init(group: opening.option)
                    }
                }
            }
            return try rotation(item, setting) { rotation, opening in
                let prepared = try rotation.prepare(setting.trail)
                return {
                    let isChanged = try rotation.run(prepared, in: setting.session, setting.trail).isChanged
                    return .init(isChanged: isChanged, group: isChanged ? opening.option : "has the new key")
                }
            }
        }
    }

    /// Calls `body` with the rotation from the key that opens the file, or else from the current one. In that
    /// case the rotation detects whether the file already has the new key.
    private func rotation<Result>(
        _ item: Manifest.Item, _ setting: BatchSetting, _ body: (KeyRotation, FileKey) throws -> Result
    ) throws -> Result {
        try FileNames.checkHasContent(item.location)
        guard item.key?.opensKeyring != true else { throw Failure.rotationOfKeyring }
        guard let new = try setting.newKey(of: item), let old = try setting.keys(of: item).except(new) else {
            throw Failure(.usage, "same_key", "The new key is the current one.")
        }
        var options = DatabaseFile.RotationOptions()
        options.cipher = item.cipher ?? cipher.settings
        options.lockTimeout = setting.session.lockTimeout
        return try old.open(item.location, cipher: options.cipher) { opening in
            guard opening.key.slotSecret == nil else { throw Failure.rotationOfKeyring }
            return try body(
                KeyRotation(
                    path: item.location, name: item.path, old: opening.key, new: new, options: options),
                opening)
        }
    }
}
