internal import ArgumentParser
internal import Coffer

struct InfoCommand: EachFileOperation {
    static let configuration = CommandConfiguration.coffer(
        "info [<file or folder>...] [options]", abstract: "Show facts about files, with or without a key.",
        discussion: """
            Without a key option, shows whether a file is encrypted, its size, its salt, its side files and \
            its keyring. With a key, also shows its settings, tables and versions. Changes nothing. With \
            several keys, names the one that opens a file: by its option, by the identifier of this key and \
            this file in audit records, and, with the site secret, by one that is the same in all files.

            In a folder, all databases below it: 'coffer help folders'.

            EXAMPLES
              coffer info app.db
              coffer info app.db --key file:app.key
              coffer info --engine
              coffer info --expect encrypted /srv/db/*.db    exit code 1 unless all are
            """)

    @Argument(help: "The files, and folders of files.", completion: .file())
    var files: [String] = []

    @OptionGroup
    var search: SearchOptions

    @Flag(help: "Show the versions in this program, and which code encrypts pages.")
    var engine = false

    @Option(help: .value("kind", "Exit with 1 unless each file is encrypted, or plaintext."))
    var expect: Expectation?

    @Flag(help: "Prompt for the key.")
    var askKey = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @Flag(
        name: .customLong("key-id"), help: "Name the key that opens each file, and the option that gave it.")
    var keyID = false

    @OptionGroup(title: "The identifiers of keys")
    var site: SiteSecretOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    enum Expectation: String, ExpressibleByArgument, CaseIterable, Sendable {
        case encrypted, plaintext
    }

    func validate() throws {
        if files.isEmpty && !engine { throw ValidationError("Missing expected argument '<files> ...'") }
    }

    func run(in session: Session) throws -> ExitStatus {
        if engine {
            let versions = try EngineVersions()
            session.reporter.result(
                versions.json, versions.engineJSON, text: versions.lines + versions.engineLines,
                isAnswer: true)
            if files.isEmpty { return .done }
        }
        session.reporter.start(["files": files])
        let withKey = try key.isGiven || askKey
        if keyID && !withKey { throw Failure.usage("--key-id needs a key.") }
        let found = try session.files(of: files, search, .databasesAndBackups)
        let keys =
            withKey
            ? try fileKeys(KeyCache(session.keys, subject: Session.subject(found.map(\.path)))) : nil
        let site = try site.secret(session.keys)
        let isAnswerNo = Latch()
        let status = try session.forEach(found) { path in
            try FileNames.checkReadable(path)
            let facts =
                try keys?.open(path, cipher: cipher.given, isNamed: true) { opening in
                    try FileFacts(
                        path, opening, cipher.given, site,
                        isKeyTold: keyID || site != nil || keys?.isOne == false,
                        lockTimeout: session.lockTimeout)
                } ?? FileFacts(path, DatabaseFile(path: path).inspect(), nil)
            let isExpected = expect.map { $0.rawValue == facts.kind.rawValue } ?? true
            if !isExpected { isAnswerNo.set() }
            session.reporter.result(
                ["path": path], facts.json, expect == nil ? [:] : ["as_expected": isExpected],
                ["code": isExpected ? 0 : 1],
                text: [path + (isExpected ? "" : ": not as expected")] + TextLayout.pairs(facts.pairs),
                isAnswer: true)
        }
        return status == .done && isAnswerNo.isSet ? .answerIsNo : status
    }

    /// Returns the given keys. Without any, prompts for one: this command answers without a key too, and uses
    /// no default.
    private func fileKeys(_ cache: KeyCache) throws -> FileKeys {
        guard try !key.isGiven else { return try FileKeys(key, cache) }
        return try FileKeys([(key.current.given() ?? .prompt).key(.current)], cache)
    }
}
