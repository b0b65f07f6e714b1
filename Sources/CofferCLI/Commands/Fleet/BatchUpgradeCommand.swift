internal import ArgumentParser
internal import Coffer

struct BatchUpgradeCommand: BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Upgrade many files of SQLCipher 1 to 3 to format 4.",
        usage: "coffer batch upgrade --manifest <file> [options]",
        discussion: """
            Detects the format of each file. A file in format 4 is not changed. With --keep-suffix, the old \
            files are kept.

            \(Manifest.help)

            EXAMPLES
              coffer batch upgrade --manifest list --dry-run --key-file app.key
              coffer batch upgrade --manifest list --keep-suffix .format3 --key-file app.key
            """)

    static let title = "batch upgrade"

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    var onlyReads: Bool { false }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        BatchConversion(
            setting: setting, isDryRun: dryRun, keptSuffix: kept.suffix(nil), cipher: nil,
            isDone: { item in setting.opens(item, cipher: CipherSettings()) },
            work: { key in (.upgrade(key.database, newKey: nil), .changed(from: key.key, to: key.key)) }
        ).job()
    }
}
