internal import ArgumentParser
internal import Coffer

struct InfoCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Tell what files are, with or without a key.",
        usage: "coffer info <file>... [options]",
        discussion: """
            Without a key option: whether a file is encrypted, its size, its salt, and what lies beside it. With a key: its settings, \
            tables and versions too. Changes nothing.

            EXAMPLES
              coffer info app.db
              coffer info app.db --key-file app.key
              coffer info --expect encrypted /srv/db/*.db    exit code 1 unless all are
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("Exit with 1 unless each file is encrypted, or plaintext.", valueName: "kind"))
    var expect: Expectation?

    @Flag(help: "Ask for the key at the terminal.")
    var askKey = false

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    enum Expectation: String, ExpressibleByArgument, CaseIterable, Sendable {
        case encrypted, plaintext
    }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings(files))])
        let withKey = try key.isGiven || askKey
        let opening = withKey ? try session.keys.key(key.request(), subject: FileNames.subject(files)) : nil
        let isAnswerNo = Latch()
        let status = try session.forEach(files) { path in
            try FileNames.checkReadable(path)
            let file = DatabaseFile(path: path)
            let inspection = try file.inspect()
            let isExpected = expect.map { $0.rawValue == inspection.kind.rawValue } ?? true
            if !isExpected { isAnswerNo.set() }
            let contents = try opening.map { try file.inspect(key: $0.database, cipher: cipher.given) }
            let facts = FileFacts(inspection, contents)
            var json = [JSONValue.Member("path", .string(path))] + facts.json
            if expect != nil { json.append(.init("as_expected", .bool(isExpected))) }
            session.reporter.result(
                json + [.init("code", .count(isExpected ? 0 : 1))],
                text: [path + (isExpected ? "" : ": not as expected")] + TextLayout.pairs(facts.pairs), isAnswer: true)
        }
        return status == .done && isAnswerNo.isSet ? .answerIsNo : status
    }
}
