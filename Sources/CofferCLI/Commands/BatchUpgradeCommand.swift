internal import ArgumentParser
internal import Coffer

struct BatchUpgradeCommand: BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Bring many files of SQLCipher 1 to 3 into format 4.",
        usage: "coffer batch upgrade --manifest <file> [options]",
        discussion: """
            The format of each file is found out. A file that has format 4 is left as it is. With \
            --keep-suffix the old files are kept.

            \(Manifest.help)

            EXAMPLES
              coffer batch upgrade --manifest list --dry-run --key-file app.key
              coffer batch upgrade --manifest list --keep-suffix .format3 --key-file app.key
            """)

    static let title = "batch upgrade"

    @OptionGroup(title: "The files as they were")
    var kept: KeptFileOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys, say what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var onlyReads: Bool { false }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        BatchConversion(
            setting: setting, isDryRun: dryRun, keptSuffix: kept.suffix(nil), cipher: nil,
            isDone: { item in setting.opens(item, cipher: CipherSettings()) },
            work: { key in (.upgrade(key.database, newKey: nil), .changed(from: key.key, to: key.key)) }
        ).job()
    }
}
