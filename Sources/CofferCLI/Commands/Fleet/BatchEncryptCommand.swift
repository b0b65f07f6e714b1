internal import ArgumentParser
internal import Coffer

struct BatchEncryptCommand: BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypt many plaintext databases in place.",
        usage: "coffer batch encrypt --manifest <file> [options]",
        discussion: """
            Each file is copied, encrypted and proved, and the copy replaces it atomically. The plaintext \
            file is kept next to it, with .plaintext appended to its name, unless --keep-none is given: \
            remove it when the encrypted file is in use. A file that the key already opens is not changed. \
            Plaintext may stay on the disk until it is overwritten.

            \(Manifest.help)

            EXAMPLES
              coffer batch encrypt --manifest list --key-file app.key --key-type raw
              coffer batch encrypt --manifest list --key-file app.key --keep-suffix .before
            """)

    static let title = "batch encrypt"

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key of the encrypted files")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    var onlyReads: Bool { false }

    var keyRole: KeyRequest.Role { .new }

    func validate() throws {
        if try key.previous.isGiven {
            throw ValidationError("Plaintext files have no previous keys. Omit --previous-key-...")
        }
    }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let cipher = cipher.settings
        return BatchConversion(
            setting: setting, isDryRun: dryRun, keptSuffix: kept.suffix(".plaintext"), cipher: nil,
            newCipher: cipher,
            isDone: { item in setting.opens(item, cipher: cipher) },
            work: { key in (.encrypt(to: nil, key.database), .changed(from: nil, to: key.key)) },
            isKeyNew: true
        ).job()
    }
}
