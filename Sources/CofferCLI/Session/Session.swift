internal import Coffer
internal import Glibc

/// The environment that a command runs in.
struct Session: Sendable {
    let reporter: Reporter
    let interruption: Interruption
    /// In seconds.
    let lockTimeout: Double
    /// The time limit for commands that print keys, in seconds.
    let keyTimeout: Double
    /// The input of the command that comes from the standard input, capitalized, or nil if there is none.
    let inputUse: String?

    let keyAdvice = KeyAdvice()

    /// Collects the results for monitors.
    let meter = RunMeter()

    var keys: KeyReader {
        KeyReader(
            reporter: reporter, advice: keyAdvice, commandTimeout: keyTimeout, lockTimeout: lockTimeout,
            otherInputUse: inputUse)
    }

    /// Returns the key of a file. Checks that the file exists before anyone is prompted for a key.
    func key(_ request: KeyRequest, of path: String) throws -> Key {
        try FileNames.checkHasContent(path)
        return try keys.key(request.forDatabases([path]), subject: path)
    }

    /// Returns the keys that may open a file. Checks that the file exists before anyone is prompted for a
    /// key.
    func keys(_ options: FileKeyOptions, of path: String) throws -> FileKeys {
        try FileNames.checkHasContent(path)
        return try FileKeys(options, KeyCache(keys, subject: path))
    }

    /// Returns the keys that may open several files. Checks that the files exist before anyone is prompted
    /// for a key.
    ///
    /// - Parameter needsAll: false to require only one of the files: the others fail on their own.
    func keys(_ options: FileKeyOptions, ofAll paths: [String], needsAll: Bool = true) throws -> FileKeys {
        var failures: [Failure] = []
        for path in paths {
            do throws(Failure) { try FileNames.checkReadable(path) } catch { failures.append(error) }
        }
        if let failure = failures.first, needsAll || failures.count == paths.count { throw failure }
        return try FileKeys(options, KeyCache(keys, subject: Session.subject(paths)))
    }

    /// Returns the keys that may open the files without a problem, or nil if there are no such files.
    func keys(_ options: FileKeyOptions, of files: [FoundFile]) throws -> FileKeys? {
        guard files.contains(where: { $0.problem != nil }) else {
            return try keys(options, ofAll: files.map(\.path), needsAll: false)
        }
        let paths = files.filter { $0.problem == nil }.map(\.path).filter { path in
            (try? FileNames.checkReadable(path)) != nil
        }
        return try paths.isEmpty ? nil : FileKeys(options, KeyCache(keys, subject: Session.subject(paths)))
    }

    /// Returns the files that a command works on: the named ones, and those in the named folders.
    func files(of paths: [String], _ search: SearchOptions, _ usual: FileSearch.Usual) throws -> [FoundFile] {
        if !search.patterns.isEmpty, !paths.contains(where: FileSearch.isFolder) {
            throw Failure.usage("--name is for folders, and none is given.")
        }
        return try FileSearch(patterns: search.patterns, usual: usual) { try interruption.check() }
            .files(of: paths)
    }

    /// Returns the name of one file, or the number of files, for a prompt.
    static func subject(_ paths: [String]) -> String {
        paths.count == 1 ? paths[0] : TextLayout.counted(paths.count, "file")
    }

    /// Returns the failure that an error stands for, with advice if a key may be of another type, and with
    /// the room on a full disk.
    func failure(_ error: any Error) -> Failure {
        let failure = interruption.failure(error)
        if failure.reason == "disk_full", let error = error as? DatabaseFileError, error.reason == .diskFull,
            let room = Session.room(at: error.path)
        {
            return failure.adding(room)
        }
        return keyAdvice.words(on: failure.reason).map(failure.adding) ?? failure
    }

    /// Returns a sentence about the room on the file system of a file.
    private static func room(at path: String) -> String? {
        let folder = FileNames.folder(of: path)
        var status = statvfs()
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        let (count, isHuge) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        return "\(size: isHuge ? .max : count) are free in '\(folder)'."
    }

    func configuration(_ key: DatabaseKey?, _ cipher: CipherSettings, readonly: Bool = false) -> Configuration
    {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.key = key
        configuration.cipher = cipher
        configuration.busyMode = .timeout(lockTimeout)
        configuration.label = "coffer"
        return configuration
    }

    /// Calls `body` for each file and reports the failures of single files.
    func forEach(_ paths: [String], _ body: (String) throws -> Void) throws -> ExitStatus {
        try forEach(paths.map { FoundFile($0) }, body)
    }

    /// Calls `body` for each file without a problem, and reports problems and the failures of single files.
    func forEach(_ files: [FoundFile], _ body: (String) throws -> Void) throws -> ExitStatus {
        var tally = StatusTally()
        for file in files {
            let path = file.path
            try interruption.check()
            let began = ContinuousClock.now
            do {
                if let problem = file.problem { throw problem }
                if ArgumentText.misread.contains(path) { throw FileNames.notUTF8 }
                try body(path)
                tally.add(.done)
                meter.note(.done, of: path, since: began)
            } catch {
                let failure = failure(error, on: path)
                reporter.failure(failure, path: path)
                meter.note(failure.status, of: path, since: began)
                if let status = interruption.status { return status }
                tally.add(failure.status)
            }
        }
        return tally.status
    }
}

/// Combines many exit codes into one.
struct StatusTally: Sendable {
    private var seen: Set<ExitStatus> = []

    mutating func add(_ status: ExitStatus) { seen.insert(status) }

    /// The status that all files share, or "some failed".
    var status: ExitStatus { seen.count > 1 ? .someFailed : seen.first ?? .done }
}

extension Session {
    /// Runs work of the library on a file. A signal ends it at the next progress report.
    func work<Result>(_ path: String, _ body: (@escaping DatabaseFile.ProgressFunction) throws -> Result)
        throws -> Result
    {
        try interruption.cooperatively {
            try body { progress in
                try interruption.check()
                reporter.progress(
                    ProgressState(
                        path: path, phase: progress.phase.words,
                        completed: Int64(progress.completedPageCount),
                        total: Int64(progress.totalPageCount), unit: "pages"))
            }
        }
    }
}

extension DatabaseFile.Progress.Phase {
    fileprivate var words: String {
        switch self {
        case .copying: "copying"
        case .verifying: "verifying"
        case .checkingStructure: "checking structure"
        case .publishing: "publishing"
        }
    }
}
