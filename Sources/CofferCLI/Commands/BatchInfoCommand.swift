internal import ArgumentParser
internal import Coffer

struct BatchInfoCommand: BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show facts about many files, and which of several keys opens each.",
        usage: "coffer batch info --manifest <file> [options]",
        discussion: """
            For files with different keys: with --previous-key-file (repeatable), all keys are tried, and \
            each file is shown with the option whose key opens it. Files that no key opens fail (77), and \
            are counted separately. Changes nothing. Without a key, shows only facts that need none.

            \(Manifest.help)

            EXAMPLES
              coffer batch info --manifest fleet --key-file new.key --previous-key-file old.key --key-type raw
              find /srv -name '*.db' -print0 | coffer batch info --manifest - --null
            """)

    static let title = "batch info"

    @OptionGroup
    var batch: BatchOptions

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var onlyReads: Bool { true }
    var needsKeys: Bool { get throws { try key.isGiven } }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let cipher = cipher.given
        let isKeyGiven = try key.isGiven
        let session = setting.session
        return BatchJob { item in
            (try? DatabaseFile(path: item.location).inspect()) != nil
        } prepare: { item in
            try FileNames.checkReadable(item.location)
            let inspection = try DatabaseFile(path: item.location).inspect()
            let hasKey = isKeyGiven || item.key?.source != .prompt
            guard inspection.kind == .encrypted, hasKey else {
                return {
                    tell(
                        item, FileFacts(item.location, inspection, nil),
                        "\(inspection.kind.words), \(TextLayout.size(inspection.size))", session)
                    return .init(group: inspection.kind.name)
                }
            }
            let keys = try setting.keys(of: item)
            return {
                try keys.open(item.location, cipher: item.cipher ?? cipher, isNamed: true) { opening in
                    let facts = try FileFacts(
                        item.location, opening, item.cipher ?? cipher, setting.trail.site, isKeyTold: true)
                    try tell(
                        item, facts,
                        "encrypted, \(TextLayout.size(inspection.size)), opened by "
                            + "\(opening.words(setting.trail.site))",
                        session)
                    return .init(group: opening.option)
                }
            }
        }
    }

    private func tell(_ item: Manifest.Item, _ facts: FileFacts, _ words: String, _ session: Session) {
        session.reporter.result(
            [.init("path", .string(item.path))] + facts.json + [.init("code", 0)],
            text: ["\(item.path): \(words)"], isAnswer: true)
    }
}
