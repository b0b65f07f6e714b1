internal import Coffer
internal import Foundation

/// A batch of changes that put a proved copy in the place of each file.
struct BatchConversion: Sendable {
    let setting: BatchSetting
    let isDryRun: Bool
    /// What the names of kept old files end with; nil if none are kept.
    let keptSuffix: String?
    /// What the files are opened with; nil to find out the format.
    let cipher: CipherSettings?
    var newCipher: CipherSettings?
    let isDone: @Sendable (Manifest.Item) -> Bool
    /// The work on a file with a key that opens it, or that it is to get, and the keys before and after it.
    let work: @Sendable (FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage)
    /// Whether the key is one that the files are to get.
    var isKeyNew = false
    var adds: (@Sendable (inout Conversion, FileKey) throws -> Void)?

    func job() -> BatchJob {
        BatchJob(preparesAllFirst: !isDryRun, isDone: isDone) { item in
            try FileNames.checkReadable(item.location)
            try FileNames.checkHasBytes(item.location)
            let keys = try setting.keys(of: item)
            guard !isKeyNew else { return try step(item, keys.current) }
            return try keys.open(item.location, cipher: cipher == nil ? nil : item.cipher ?? cipher) { key in
                try step(item, key)
            }
        }
    }

    private func step(_ item: Manifest.Item, _ key: FileKey) throws -> BatchJob.Step {
        let (work, passage) = work(key)
        var conversion = Conversion(
            item.location, work, cipher: isKeyNew ? nil : item.cipher ?? cipher, in: setting.session)
        conversion.label = item.path
        conversion.keys = passage
        if let newCipher { conversion.options.newCipher = isKeyNew ? item.cipher ?? newCipher : newCipher }
        conversion.options.keepOldPath = keptSuffix.map { item.location + $0 }
        // A kept file of an earlier run stands in the way of a new one only.
        let plan = try conversion.plan()
        if !plan.isAlreadyDone { try adds?(&conversion, key) }
        let (isDryRun, setting) = (isDryRun, setting)
        return { [conversion] in
            if isDryRun {
                conversion.tell(plan, setting.session.reporter)
                return .init(group: plan.isAlreadyDone ? "is so already" : nil)
            }
            let isChanged = try conversion.perform(isDryRun: false, in: setting.session, setting.trail)
            return .init(isChanged: isChanged, group: isChanged ? key.option : "is so already")
        }
    }
}
