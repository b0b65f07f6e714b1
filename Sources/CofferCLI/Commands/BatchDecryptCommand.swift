internal import ArgumentParser
internal import Coffer

struct BatchDecryptCommand: BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Make many encrypted databases readable without a key, in their places.",
        usage: "coffer batch decrypt --manifest <file> [options]",
        discussion: """
            Each file is copied, decrypted and proved, and the copy takes its place in one step, readable by \
            its owner only. The encrypted file is kept beside it under its name with .encrypted at the end, \
            unless --keep-none is given. Everybody who can read a plaintext file can read its content, and \
            what was plaintext on a disk may be found on it after it was removed.

            \(Manifest.help)

            EXAMPLES
              coffer batch decrypt --manifest list --yes-plaintext --key-file app.key --key-type raw
            """)

    static let title = "batch decrypt"

    @Flag(help: "Say that the files are to be readable without a key.")
    var yesPlaintext = false

    @OptionGroup(title: "The files as they were")
    var kept: KeptFileOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys, say what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var onlyReads: Bool { false }

    func validate() throws {
        guard yesPlaintext || dryRun else {
            throw ValidationError(
                "The files would be readable without a key. If that is meant, add --yes-plaintext.")
        }
    }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        BatchConversion(
            setting: setting, isDryRun: dryRun, keptSuffix: kept.suffix(".encrypted"),
            cipher: cipher.settings,
            isDone: { item in (try? DatabaseFile(path: item.location).inspect().kind) == .plaintext },
            work: { key in (.decrypt(to: nil, key.database), .changed(from: key.key, to: nil)) }
        ).job()
    }
}
