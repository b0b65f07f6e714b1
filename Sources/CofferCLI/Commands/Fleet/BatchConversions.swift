internal import ArgumentParser
internal import Coffer

struct BatchEncryption: BatchChange {
    static let configuration = CommandConfiguration.batch(
        "encrypt", abstract: "Encrypt many plaintext databases in place.", needsPatterns: true,
        discussion: """
            Each file is copied, encrypted and proved, and the copy replaces it atomically. The plaintext \
            file is kept next to it, with .plaintext appended to its name: \
            remove it when the encrypted file is in use. A file that the key already opens is not changed. \
            Plaintext may stay on the disk until it is overwritten.
            """,
        examples: """
              coffer batch encrypt --manifest list --key file:app.key
              coffer batch encrypt --manifest list --key file:app.key --keep-suffix .before
            """)

    enum Titles: AccessTitles {
        static let key = "The key of the encrypted files"
        static let format = "The format of the files"
    }

    static let keyRole = KeyRequest.Role.new

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    var keptSuffix: String? { kept.suffix(".plaintext") }

    func check(_ key: FileKeyOptions, isDryRun: Bool) throws {
        if try key.areSeveral {
            throw ValidationError("Plaintext files have no previous keys. Give one key.")
        }
    }

    func work(_ key: FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage) {
        (.encrypt(to: nil, key.database), .changed(from: nil, to: key.key))
    }
}

struct BatchDecryption: BatchChange {
    static let configuration = CommandConfiguration.batch(
        "decrypt", abstract: "Decrypt many encrypted databases in place.", needsPatterns: true,
        discussion: """
            Each file is copied, decrypted and proved, and the copy replaces it atomically, readable by its \
            owner only. The encrypted file is kept next to it, with .encrypted appended to its name. Anyone \
            who can read a plaintext file can read its content, and its plaintext may stay on the disk after \
            it is removed.
            """,
        examples: """
              coffer batch decrypt --manifest list --yes-plaintext --key file:app.key
            """)

    typealias Titles = SeveralFiles

    @Flag(help: "Confirm that the files become readable without a key.")
    var yesPlaintext = false

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    var keptSuffix: String? { kept.suffix(".encrypted") }

    func check(_ key: FileKeyOptions, isDryRun: Bool) throws {
        guard yesPlaintext || isDryRun else {
            throw ValidationError(
                "The files would be readable without a key. If that is intended, add --yes-plaintext.")
        }
    }

    func isDone(_ item: Manifest.Item, _ cipher: CipherSettings, _ setting: BatchSetting) -> Bool {
        (try? DatabaseFile(path: item.location).inspect().kind) == .plaintext
    }

    func work(_ key: FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage) {
        (.decrypt(to: nil, key.database), .changed(from: key.key, to: nil))
    }
}

struct BatchUpgrade: BatchChange {
    static let configuration = CommandConfiguration.batch(
        "upgrade", abstract: "Upgrade many files of SQLCipher 1 to 3 to format 4.", needsPatterns: true,
        discussion: """
            Detects the format of each file. A file in format 4 is not changed. With --keep-suffix, the old \
            files are kept.
            """,
        examples: """
              coffer batch upgrade --manifest list --dry-run --key file:app.key
              coffer batch upgrade --manifest list --keep-suffix .format3 --key file:app.key
            """)

    enum Titles: AccessTitles {
        typealias Format = NoOptions
        static let key = "The key"
        static let format = ""
    }

    @OptionGroup(title: "The old files")
    var kept: KeptFileOptions

    var keptSuffix: String? { kept.suffix(nil) }

    func work(_ key: FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage) {
        (.upgrade(key.database, newKey: nil), .changed(from: key.key, to: key.key))
    }
}

struct BatchVacuum: BatchChange {
    static let configuration = CommandConfiguration.batch(
        "vacuum", abstract: "Return the free pages of many files to the disk.", needsPatterns: true,
        discussion: """
            Each file is copied without its free pages and proved, and the copy replaces it atomically, \
            while no other process may use it.
            """,
        examples: """
              coffer batch vacuum --manifest list --key file:app.key
            """)

    typealias Titles = SeveralFiles

    func work(_ key: FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage) {
        (.vacuum(key.database), .kept(key.key))
    }

    func add(to conversion: inout Conversion, _ key: FileKey) throws {
        try conversion.lookBefore(key.database)
    }
}
