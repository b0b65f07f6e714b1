internal import ArgumentParser
internal import Coffer

struct BatchVacuumCommand: AccessOperation, BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Return the free pages of many files to the disk.",
        usage: "coffer batch vacuum --manifest <file> [options]",
        discussion: """
            Each file is copied without its free pages and proved, and the copy replaces it atomically, \
            while no other process may use it.

            \(Manifest.help)

            EXAMPLES
              coffer batch vacuum --manifest list --key-file app.key --key-type raw
            """)

    static let title = "batch vacuum"

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup
    var access: AccessOptions<SeveralFiles, NoOptions>

    var onlyReads: Bool { false }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let cipher = cipher.settings
        return BatchConversion(
            setting: setting, isDryRun: dryRun, keptSuffix: nil, cipher: cipher,
            isDone: { item in setting.opens(item, cipher: cipher) },
            work: { key in (.vacuum(key.database), .kept(key.key)) },
            adds: { conversion, key in try conversion.lookBefore(key.database) }
        ).job()
    }
}
