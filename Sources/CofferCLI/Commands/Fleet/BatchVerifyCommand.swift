internal import ArgumentParser
internal import Coffer

struct BatchVerifyCommand: BatchOperation, MeasuredOperation {
    static let configuration = CommandConfiguration.batch(
        "verify", abstract: "Verify many files.",
        examples: """
              coffer batch verify --manifest fleet.jsonl --jobs 2 --quiet
              coffer batch verify --manifest fleet --key file:new.key --previous-key file:old.key
              coffer batch verify /srv --name '*.vault' --key file:app.key
            """)

    @OptionGroup
    var batch: BatchOptions

    @Option(
        help: .value(
            "depth", "The depth of the structure check: full also compares indexes with their tables."))
    var structure = VerifyCommand.Structure.quick

    @Flag(help: "Accept empty files as databases that were never used. Otherwise they are damaged.")
    var allowEmpty = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var measuredWork: RunMetrics.Work { .verify }
    var onlyReads: Bool { true }

    func job(_ setting: BatchSetting) -> BatchJob {
        BatchJob { item in
            setting.opens(item, cipher: cipher.given)
        } prepare: { item in
            try FileNames.checkReadable(item.location)
            let keys = try setting.keys(of: item)
            return {
                let options = structure.options(item.cipher ?? cipher.given, in: setting.session)
                return try keys.open(item.location, cipher: options.cipher, isNamed: true) { opening in
                    try FileVerification(
                        path: item.location, name: item.path, key: opening, options: options,
                        isKeyTold: !keys.isOne, allowsEmpty: allowEmpty
                    ).run(in: setting.session, setting.trail)
                    return .init(group: opening.option)
                }
            }
        }
    }
}
