internal import ArgumentParser
internal import Coffer

/// A change that a batch makes to each file by replacing it with a proved copy: its texts, its own options,
/// and its work.
protocol BatchChange: ParsableArguments, Sendable {
    associatedtype Titles: AccessTitles
    static var configuration: CommandConfiguration { get }

    /// The role of the key. With the role `new`, the files are plaintext, and get the key and the format.
    static var keyRole: KeyRequest.Role { get }

    /// The suffix that is appended to the names of kept old files, or nil to keep none.
    var keptSuffix: String? { get }

    func check(_ key: FileKeyOptions, isDryRun: Bool) throws

    /// Returns true if a file that an earlier run recorded as done is still in the state that the change
    /// produces.
    func isDone(_ item: Manifest.Item, _ cipher: CipherSettings, _ setting: BatchSetting) -> Bool

    /// Returns the work for a file, and its keys before and after.
    ///
    /// - Parameter key: a key that opens the file, or that it is to get.
    func work(_ key: FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage)

    /// Adds facts about a file to the report.
    func add(to conversion: inout Conversion, _ key: FileKey) throws
}

extension BatchChange {
    static var keyRole: KeyRequest.Role { .current }
    var keptSuffix: String? { nil }

    func check(_ key: FileKeyOptions, isDryRun: Bool) throws {}

    func isDone(_ item: Manifest.Item, _ cipher: CipherSettings, _ setting: BatchSetting) -> Bool {
        setting.opens(item, cipher: cipher)
    }

    func add(to conversion: inout Conversion, _ key: FileKey) throws {}
}

/// The command of a change.
struct BatchConversion<Change: BatchChange>: BatchOperation {
    static var configuration: CommandConfiguration { Change.configuration }

    @OptionGroup
    var change: Change

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: Change.Titles.key)
    var key: FileKeyOptions

    @OptionGroup(title: Change.Titles.format)
    var cipher: Change.Titles.Format

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var keyRole: KeyRequest.Role { Change.keyRole }

    func validate() throws { try change.check(key, isDryRun: dryRun) }

    func job(_ setting: BatchSetting) -> BatchJob {
        BatchJob(preparesAllFirst: !dryRun) { item in
            change.isDone(item, cipher.settings, setting)
        } prepare: { item in
            let keys = try setting.keysOfPresent(item)
            guard keyRole != .new else { return try step(item, keys.current, setting) }
            return try keys.open(item.location, cipher: present.map { item.cipher ?? $0 }) { key in
                try step(item, key, setting)
            }
        }
    }

    /// The settings that the files are opened with, or nil to detect the format.
    private var present: CipherSettings? {
        Change.Titles.Format.self == NoOptions.self ? nil : cipher.settings
    }

    private func step(_ item: Manifest.Item, _ key: FileKey, _ setting: BatchSetting) throws -> BatchJob.Step
    {
        let (work, passage) = change.work(key)
        let isKeyNew = keyRole == .new
        var conversion = Conversion(
            item.location, label: item.path, work, cipher: isKeyNew ? nil : item.cipher ?? present,
            keys: passage, keepOldPath: change.keptSuffix.map { item.location + $0 }, in: setting.session)
        if isKeyNew { conversion.options.newCipher = item.cipher ?? cipher.settings }
        // A kept file of an earlier run matters only if this run would keep another one.
        let plan = try conversion.plan()
        if !plan.isAlreadyDone { try change.add(to: &conversion, key) }
        return { [conversion] in
            if dryRun {
                conversion.tell(plan, setting.session.reporter)
                return .init(group: plan.isAlreadyDone ? "is so already" : nil)
            }
            let isChanged = try conversion.perform(isDryRun: false, in: setting.session, setting.trail)
            return .init(isChanged: isChanged, group: isChanged ? key.option : "is so already")
        }
    }
}
