internal import ArgumentParser
internal import Coffer

struct InfoCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Tell what files are, with or without a key.",
        usage: "coffer info [<file>...] [options]",
        discussion: """
            Without a key option: whether a file is encrypted, its size, its salt, and what lies beside it. \
            With a key: its settings, tables and versions too. Changes nothing. Of several keys, the one is \
            named that opens a file: by the option that gave it, by an identifier that audit records have \
            for this key and this file, and, with the secret of the site, by one that is the same in all \
            files. --engine tells what is in this program, and who works on pages.

            EXAMPLES
              coffer info app.db
              coffer info app.db --key-file app.key
              coffer info --engine
              coffer info --expect encrypted /srv/db/*.db    exit code 1 unless all are
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String] = []

    @Flag(help: "The versions in this program, and whether pages are the engine's work alone.")
    var engine = false

    @Option(help: ArgumentHelp("Exit with 1 unless each file is encrypted, or plaintext.", valueName: "kind"))
    var expect: Expectation?

    @Flag(help: "Ask for the key at the terminal.")
    var askKey = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @Flag(
        name: .customLong("key-id"), help: "Name the key that opens each file, and the option that gave it.")
    var keyID = false

    @OptionGroup(title: "The names of keys")
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
        if keyID && !withKey { throw Failure.usage("--key-id names the key that opens a file: give keys.") }
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
                facts = try FileFacts(DatabaseFile(path: path).inspect(), nil)
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
