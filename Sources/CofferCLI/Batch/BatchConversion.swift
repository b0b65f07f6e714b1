internal import Coffer
internal import Foundation

/// A batch of conversions that replace each file with a proved copy.
struct BatchConversion: Sendable {
    let setting: BatchSetting
    let isDryRun: Bool
    /// The suffix that is appended to the names of kept old files, or nil to keep none.
    let keptSuffix: String?
    /// The settings that the files are opened with, or nil to detect the format.
    let cipher: CipherSettings?
    var newCipher: CipherSettings?
    let isDone: @Sendable (Manifest.Item) -> Bool
    /// Returns the work for a file, and its keys before and after. The argument is a key that opens the file
    /// or that the file is to get.
    let work: @Sendable (FileKey) -> (work: DatabaseFile.Work, keys: KeyPassage)
    /// True if the key is one that the files are to get.
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
        // A kept file of an earlier run matters only if this run would keep another one.
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
