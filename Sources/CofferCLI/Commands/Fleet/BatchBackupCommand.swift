internal import ArgumentParser
internal import Coffer
internal import Foundation

struct BatchBackupCommand: BatchOperation, MeasuredOperation {
    static let configuration = CommandConfiguration.batch(
        "backup", abstract: "Back up many databases into folders, while they are in use.",
        arguments: "--into <backups> ",
        discussion: """
            Each copy is proved and gets a dated name, as with coffer backup --into. The backups of \
            /srv/app/a.db go to srv/app in the folder, which is created if needed, so that files with the \
            same name do not collide. --keep removes older backups of a file once its new one is proved.

            With --recipient, each copy gets a keyring next to it that only the recipients' identities open; \
            --keep removes such copies without an identity, and their keyrings with them. \
            Copies of files opened by their keyrings get keyrings with the same slots.
            """,
        examples: """
              coffer batch backup --manifest list --into /backup --keep 7d,4w,6m --key file:app.key
              coffer batch backup /srv --into /backup --keep 7d,4w,6m --key file:app.key
            """)

    @Option(help: .value("backups", "The folder of the backups."), completion: .directory)
    var into: String

    @Option(
        help: .value("numbers", "The older backups to keep of each file, such as 7d,4w,6m."),
        transform: DatabaseFile.BackupRetention.parsed)
    var keep: DatabaseFile.BackupRetention?

    @OptionGroup
    var batch: BatchOptions

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the copies, if different")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The recipients of the copies")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var measuredWork: RunMetrics.Work { .backup }
    var usualFiles: FileSearch.Usual? { .databases }

    func validate() throws {
        try FileNames.checkIsNoDash(into, "the folder")
        try recipients.checkFits(newKey)
    }

    func newKeyRequest() throws -> KeyRequest? { try newKey.requestIfGiven(besides: key, for: []) }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let (cipher, into, keep, recipients, session) = (
            cipher.settings, into, keep ?? Defaults.current.keep, recipients, setting.session
        )
        try BackupFolder.checkName(into)
        let given = try recipients.slots()
        return BatchJob(identity: FileNames.canonical(into), formerIdentity: into) { item in
            setting.opens(item, cipher: cipher)
        } prepare: { item in
            try FileNames.checkHasContent(item.location)
            let folder = try Self.folder(of: item.path, in: into)
            let keys = try setting.keys(of: item)
            let copyKey = try setting.newKey(of: item)
            let cipher = item.cipher ?? cipher
            return {
                try keys.open(item.location, cipher: cipher) { key in
                    try Self.make(folder)
                    let pruning = try keep.map {
                        try BackupFolder(folder, of: item.location, $0, cipher: cipher)
                    }
                    let slots =
                        copyKey != nil || !given.isEmpty
                        ? given : try recipients.slotsOfCopy(of: item.location, key.key)
                    let keyring =
                        slots.isEmpty
                        ? nil
                        : try KeyringOfCopy(
                            slots, ofBackupOf: item.location, in: folder)
                    let work = DatabaseFile.Work.datedBackup(
                        in: folder, key.database, newKey: keyring?.key ?? copyKey?.database)
                    if keyring == nil {
                        try DatabaseFile(path: item.location).removeLeftKeyrings(in: folder)
                    }
                    try Conversion(
                        item.location, label: item.path, work, cipher: cipher,
                        keys: .changed(from: nil, to: copyKey ?? key.key), companion: keyring, in: session
                    ).perform(isDryRun: false, in: session, setting.trail)
                    let all = [copyKey?.database, key.database].compactMap { $0 }
                    if let status = try pruning?.prune(
                        keys: all, isDryRun: false, in: session, setting.trail), status != .done
                    {
                        throw Failure(
                            status, "pruning", "The backup was created, but older ones could not be removed.")
                    }
                    return .init(isChanged: true, group: key.option)
                }
            }
        }
    }

    /// Returns the folder for the backups of a file. It mirrors the file's path, relative to the root or the
    /// manifest.
    private static func folder(of path: String, in folder: String) throws(Failure) -> String {
        // A slash and a mark after it are one character.
        let parts = path.unicodeScalars.split(separator: "/").dropLast().map(String.init).filter { $0 != "." }
        guard !parts.contains("..") else {
            throw Failure.manifest(
                "A path with '..' has no unique place in the folder of backups. Give it without '..'.")
        }
        return ([folder] + parts).joined(separator: "/")
    }

    /// Creates a folder and its missing parents, accessible only to this user.
    private static func make(_ folder: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(.outputExists, "directory", "The folder '\(folder)' cannot be created.")
        }
    }
}
