internal import SQLCipherBridge

/// The copy that is to take the place of a file: made beside it, proved, brought to the disk, and put in its place.
struct ReplacementCopy {
    private let job: ReplacementJob
    /// Where the copy is until it has its place.
    let path: String
    private var status: FileStatus?

    init(_ job: ReplacementJob, path: String) {
        self.job = job
        self.path = path
    }

    /// Makes the file, with the owner, permissions and attributes of the original, and writes the content of the source into it.
    mutating func make(from source: ConnectionHandle, attributes: FileAttributes, progress: ProgressReport) throws {
        do {
            let file = try Descriptor.create(path, mode: 0o600)
            try attributes.apply(to: file)
            status = try file.status()
        }
        try FailPoint.copyCreated.pass(job.path)
        do {
            try job.makeCopy(
                ReplacementJob.CopyWork(source: source, before: job.before, copyPath: path, after: job.after, progress: progress))
        } catch let error as EngineError {
            // Was it the source that could not be read?
            let damaged = try PageScan.damagedPages(source, job.before)
            guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: job.path) }
            throw error
        }
        try FailPoint.copied.pass(job.path)
    }

    /// Opens the copy anew, and proves that it has the content of the source, and that only the new key opens it.
    func prove(against source: ConnectionHandle, progress: ProgressReport) throws -> ReplacementProof {
        let copy: ConnectionHandle
        do {
            copy = try job.after.open(path, flags: .readOnly)
        } catch KeyError.encryption(let failure, _) {
            throw DatabaseFileError(.copyRejected("the new key does not open it (\(failure))"), path: job.path)
        }
        defer { copy.closeProbe() }
        let comparison = try job.compare(
            ReplacementJob.ComparisonWork(
                source: source, before: job.before, copy: copy, after: job.after, path: job.path, progress: progress))
        let proof = try CopyProof(source: source, copy: copy, path: job.path).prove(job, comparison, progress: progress)
        let hasOldKey = !job.keepsKey && (job.before.ring != nil || job.after.ring != nil)
        guard try !hasOldKey || !(comparison.isOldKeyAccepted ?? job.before.opens(path)) else {
            throw DatabaseFileError(.copyRejected("the old key opens it as well"), path: job.path)
        }
        try FailPoint.verified.pass(job.path)
        return proof
    }

    func synchronize() throws {
        try Descriptor.open(path).synchronize()
        for name in ReplacementNames.companions(of: path) where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.copyRejected("\(SystemFile.name(of: name)) is beside it"), path: job.path)
        }
    }

    /// Gives the file its second name, if it is to be kept, and the copy its name. When this throws, the copy is not in its place.
    func takePlace() throws {
        for name in ["\(job.path)-wal", "\(job.path)-journal"] where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.busy([]), path: job.path)
        }
        if let kept = job.keepOldPath {
            try SystemFile.link(job.path, to: kept)
            try SystemFile.synchronize(directory: SystemFile.directory(of: kept))
            try FailPoint.oldKept.pass(job.path)
        }
        do {
            try SystemFile.rename(path, to: job.path)
        } catch {
            // Over a network the answer may get lost.
            guard let status, try SystemFile.status(job.path)?.isSameFile(as: status) == true else { throw error }
        }
    }

    /// Removes the copy, and the second name of the original. What cannot be removed now is by the next run.
    ///
    /// - Parameter original: the status of the file, which has its place.
    func remove(original: FileStatus?) {
        for name in [path] + ReplacementNames.companions(of: path) { try? SystemFile.remove(name) }
        if let kept = job.keepOldPath, let original, (try? SystemFile.status(kept))?.isSameFile(as: original) == true {
            try? SystemFile.remove(kept)
        }
    }
}
