internal import ArgumentParser
internal import Coffer

struct BatchInfoCommand: BatchOperation {
    static let configuration = CommandConfiguration.batch(
        "info", abstract: "Show facts about many files, and which of several keys opens each.",
        discussion: """
            For files with different keys: with --previous-key (repeatable), all keys are tried, and \
            each file is shown with the option whose key opens it. Files that no key opens fail (77), and \
            are counted separately. Changes nothing. Without a key, shows only facts that need none.
            """,
        examples: """
              coffer batch info --manifest fleet --key file:new.key --previous-key file:old.key
              coffer batch info /srv
            """)

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
        let isKeyGiven = try key.isGiven
        return BatchJob { item in
            (try? DatabaseFile(path: item.location).inspect()) != nil
        } prepare: { item in
            try FileNames.checkReadable(item.location)
            let inspection = try DatabaseFile(path: item.location).inspect()
            let size = TextLayout.size(inspection.size)
            guard inspection.kind == .encrypted, isKeyGiven || item.key?.source != .prompt else {
                return {
                    tell(
                        item, FileFacts(item.location, inspection, nil), "\(inspection.kind.words), \(size)",
                        setting)
                    return .init(group: inspection.kind.name)
                }
            }
            let (keys, cipher, site) = (
                try setting.keys(of: item), item.cipher ?? cipher.given, setting.trail.site
            )
            return {
                try keys.open(item.location, cipher: cipher, isNamed: true) { opening in
                    let facts = try FileFacts(
                        item.location, opening, cipher, site, isKeyTold: true,
                        lockTimeout: setting.session.lockTimeout)
                    try tell(item, facts, "encrypted, \(size), opened by \(opening.words(site))", setting)
                    return .init(group: opening.option)
                }
            }
        }
    }

    private func tell(_ item: Manifest.Item, _ facts: FileFacts, _ words: String, _ setting: BatchSetting) {
        setting.session.reporter.result(
            ["path": item.path], facts.json, ["code": 0], text: ["\(item.path): \(words)"], isAnswer: true)
    }
}
