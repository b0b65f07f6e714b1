internal import ArgumentParser
internal import Coffer

struct BatchDecryptCommand: AccessOperation, BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypt many encrypted databases in place.",
        usage: "coffer batch decrypt --manifest <file> [options]",
        discussion: """
            Each file is copied, decrypted and proved, and the copy replaces it atomically, readable by its \
            owner only. The encrypted file is kept next to it, with .encrypted appended to its name, unless \
            --keep-none is given. Anyone who can read a plaintext file can read its content, and its \
            plaintext may stay on the disk after it is removed.

            \(Manifest.help)

            EXAMPLES
              coffer batch decrypt --manifest list --yes-plaintext --key-file app.key --key-type raw
            """)

    static let title = "batch decrypt"

    @Flag(help: "Confirm that the files become readable without a key.")
    var yesPlaintext = false

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup
    var access: AccessOptions<SeveralFiles, NoOptions>

    var onlyReads: Bool { false }

    func validate() throws {
        guard yesPlaintext || dryRun else {
            throw ValidationError(
                "The files would be readable without a key. If that is intended, add --yes-plaintext.")
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
