internal import ArgumentParser
internal import Coffer

struct InfoCommand: EachFileOperation {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show facts about files, with or without a key.",
        usage: "coffer info [<file>...] [options]",
        discussion: """
            Without a key option, shows whether a file is encrypted, its size, its salt, its side files and \
            its keyring. With a key, also shows its settings, tables and versions. Changes nothing. With \
            several keys, names the one that opens a file: by its option, by the identifier of this key and \
            this file in audit records, and, with the site secret, by one that is the same in all files. \
            --engine shows the versions in this program, and which code encrypts pages.

            EXAMPLES
              coffer info app.db
              coffer info app.db --key-file app.key
              coffer info --engine
              coffer info --expect encrypted /srv/db/*.db    exit code 1 unless all are
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String] = []

    @Flag(help: "Show the versions in this program, and which code encrypts pages.")
    var engine = false

    @Option(help: ArgumentHelp("Exit with 1 unless each file is encrypted, or plaintext.", valueName: "kind"))
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
                versions.json + versions.engineJSON, text: versions.lines + versions.engineLines,
                isAnswer: true)
            if files.isEmpty { return .done }
        }
        session.reporter.start([.init("files", .strings(files))])
        let withKey = try key.isGiven || askKey
        if keyID && !withKey { throw Failure.usage("--key-id needs a key.") }
        let keys =
            withKey ? try FileKeys(key, KeyCache(session.keys, subject: FileNames.subject(files))) : nil
        let site = try site.secret(session)
        let isAnswerNo = Latch()
        let status = try session.forEach(files) { path in
            try FileNames.checkReadable(path)
            let facts: FileFacts
            if let keys {
                facts = try keys.open(path, cipher: cipher.given, isNamed: true) { opening in
                    try FileFacts(
                        path, opening, cipher.given, site, isKeyTold: keyID || site != nil || !keys.isOne)
                }
            } else {
                facts = try FileFacts(path, DatabaseFile(path: path).inspect(), nil)
            }
            let isExpected = expect.map { $0.rawValue == facts.kind.rawValue } ?? true
            if !isExpected { isAnswerNo.set() }
            var json = [JSONValue.Member("path", .string(path))] + facts.json
            if expect != nil { json.append(.init("as_expected", .bool(isExpected))) }
            session.reporter.result(
                json + [.init("code", .count(isExpected ? 0 : 1))],
                text: [path + (isExpected ? "" : ": not as expected")] + TextLayout.pairs(facts.pairs),
                isAnswer: true)
        }
        return status == .done && isAnswerNo.isSet ? .answerIsNo : status
    }
}
