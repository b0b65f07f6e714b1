internal import ArgumentParser

/// A command that does the same work on each file of a manifest.
protocol BatchOperation: RecordingOperation {
    var batch: BatchOptions { get }
    var key: FileKeyOptions { get }

    /// True if the command changes nothing. The batch then keeps a state only on request.
    var onlyReads: Bool { get }
    var dryRun: Bool { get }

    /// The role of the key. The prompt for a key that files are to get asks twice.
    var keyRole: KeyRequest.Role { get }

    /// True if the command needs keys, which may have to be prompted for.
    var needsKeys: Bool { get throws }

    /// Returns the request for the new key, or nil if the command gives files no new key.
    func newKeyRequest() throws -> KeyRequest?

    func job(_ setting: BatchSetting) throws -> BatchJob

    /// The folders with the files, if there is no manifest.
    var folders: [String] { get }

    /// The files that are found in folders without --name, or nil if the command needs it.
    var usualFiles: FileSearch.Usual? { get }
}

extension BatchOperation {
    var onlyReads: Bool { false }
    var dryRun: Bool { false }

    /// The word for the command in the name of the state file. It is nil for the first three batch commands,
    /// whose state files were named before there were others.
    private var stateWord: String? {
        let word = Self.configuration.commandName ?? ""
        return ["rotate", "verify", "info"].contains(word) ? nil : word
    }

    var keyRole: KeyRequest.Role { .current }
    var needsKeys: Bool { get throws { true } }
    func newKeyRequest() throws -> KeyRequest? { nil }
    var folders: [String] { batch.folders }
    var inputUse: String? { batch.list.manifest == "-" ? "The manifest" : nil }
    var usualFiles: FileSearch.Usual? { onlyReads ? .databasesAndBackups : nil }

    /// Returns the files of the manifest, or of the folders.
    private func manifest(_ session: Session) throws -> Manifest {
        guard !folders.isEmpty else {
            if !batch.search.patterns.isEmpty {
                throw Failure.usage("--name is for folders, and none is given.")
            }
            return try batch.list.read()
        }
        guard batch.list.manifest == nil, !batch.list.null else {
            throw Failure.usage("Give folders or a manifest, not both.")
        }
        for folder in folders where !FileSearch.isFolder(folder) {
            try FileNames.checkReadable(folder)
            let word = Self.configuration.commandName ?? ""
            let takesFiles = ["info", "rotate", "upgrade", "verify"].contains(word)
            let other = takesFiles ? "'coffer \(word)' takes several files, and a" : "A"
            throw Failure(
                .inputMissing, "not_a_folder",
                "'\(folder)' is not a folder. \(other) batch takes folders, or a list of files with "
                    + "--manifest."
            ).about(folder)
        }
        if usualFiles == nil, batch.search.patterns.isEmpty {
            throw Failure.usage(
                "This command changes all files that it finds in a folder: name them, as with --name '*.db'.")
        }
        try (self as? any MeasuredOperation)?.metrics.checkIsOneTarget(folders)
        return try Manifest(session.files(of: folders, batch.search, usualFiles ?? .databases))
    }

    func run(in session: Session) throws -> ExitStatus {
        let manifest = try manifest(session)
        let given = try batch.items(of: manifest)
        session.reporter.start(["files": given.map(\.path)], onlyReads ? [:] : ["dry_run": dryRun])
        let trail = try trail(session)
        let setting = try BatchSetting(
            session, trail, given, key: key, newKey: newKeyRequest(), role: keyRole, needsKeys: needsKeys)
        let job = try job(setting)
        if job.isUnrepeatable {
            try manifest.checkFilesDiffer()
            try batch.checkOtherShards(stateWord)
        }
        let state =
            dryRun
            ? nil : try batch.openState(Self.title, stateWord, of: manifest, isOptional: onlyReads)
        let run = BatchRun(
            session: session, command: Self.title, state: state, jobs: batch.jobs, failsFast: batch.failFast)
        let status = try run.run(setting.items, job)
        if status == .done && batch.shard == nil { state?.remove() }
        return status
    }
}

extension MeasuredOperation where Self: BatchOperation {
    /// Returns the result of the batch. All files of the manifest, or of its shard, are one target.
    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)] {
        let list = batch.list.isStream ? folders.first : batch.list.manifest
        let name = metrics.target ?? list.map(FileNames.canonical) ?? "-"
        let result = meter.batch
        let run = RunMetrics.Run(
            status: status, end: RunMetrics.now, seconds: meter.seconds, files: result?.files ?? 0,
            failedFiles: result?.failed ?? 0,
            bytes: result?.bytes ?? 0)
        return [([name, batch.shard?.suffix].compactMap { $0 }.joined(separator: "."), run)]
    }
}
