internal import Foundation
internal import SQLCipherBridge
internal import SystemCalls

/// Gives a file new content by a copy next to it, which is proved and then put in its place in one step.
///
/// A failure before this step leaves the file unchanged; a crash leaves at most a note and a copy, which the
/// next run removes. See ``ExaminedFile`` for the stages.
struct FileReplacement {
    let job: ReplacementJob
    let progress: ProgressReport

    init(_ job: ReplacementJob, progress: ProgressReport) {
        self.job = job
        self.progress = progress
    }

    /// - Throws: ``DatabaseFileError``, `CancellationError`, or an error of a key provider or of the progress
    ///   function.
    func run() throws -> ReplacementResult {
        var job = job
        let examined = try DatabaseFileError.translated(job.path) {
            _ = try SystemFile.regularFile(job.path)
            job.change.path = try SystemFile.withoutLinks(job.path)
            try NewDatabaseFile.removeLeftovers(before: job.operation, of: job.path)
            return try ExaminedFile(job, progress: progress)
        }
        do {
            switch try OpenedFile.open(examined) {
            case .newContent:
                return try examined.completeEarlierRun()
            case .oldContent(let opened):
                return try opened.noted().quiesced().staged().proved().published().completed()
            }
        } catch {
            throw FileReplacement.describe(error, of: examined.status, path: job.path)
        }
    }

    /// Returns the error to throw for the failure of a stage.
    static func describe(_ failure: any Error, of status: FileStatus, path: String) -> any Error {
        let published = (failure as? FailureAfterPublishing).map {
            DatabaseFileError.published($0.reason, path: path)
        }
        let failure = published ?? DatabaseFileError.publicError(failure, path: path)
        guard var error = failure as? DatabaseFileError else { return failure }
        if case .busy(let users) = error.reason, users.isEmpty {
            error = FileUsers.busy(status, error.path)
        }
        error.isPublished = published != nil
        return error
    }
}

/// The change to make to a file: the part in which rotations, upgrades, encryptions, and decryptions differ.
struct ReplacementJob {
    var operation: ReplacementOperation

    /// The change to the source, which the result replaces. See ``ContentFile`` for copies into other files.
    var change: FileChange
    var method: any CopyMethod

    /// True if the result has the key of the source, so that there is no old key that must not open it.
    var keepsKey = false

    /// The time to wait for other connections, in seconds.
    var lockTimeout: TimeInterval = 0

    /// The path at which the old file is kept; only if the file is replaced.
    var keepOldPath: String?

    /// Records the result; called with the file in its place, before the note is removed.
    var audit: (ReplacementProof) throws -> Void = { _ in }

    /// For databases in use, the open connection to the source; nil to open one.
    ///
    /// It writes nothing during the work, and is in a transaction from ``NotedFile/quiesced()`` to
    /// ``ProvedCopy/published()``.
    var lentConnection: ConnectionHandle?

    /// True if the copy was made from the log while other connections wrote. Then no change may reach the
    /// file without having been in a log.
    var followsLog = false

    /// For databases in use, releases the lent connection, which is still in its transaction, and continues
    /// with the new file in its journal mode.
    var resume: (NewFile) throws -> Void = { _ in }

    /// A copy that has taken the place of its source.
    struct NewFile {
        let identity: FileIdentity
        let journalMode: JournalMode
    }

    var path: String { change.path }
    var before: FileProtection { change.before }
    var after: FileProtection { change.after }
}

/// The outcome of a replacement.
struct ReplacementResult {
    /// False if the file had its new content already.
    var isChanged: Bool
    /// True if an earlier run had left files.
    var isResumed: Bool
    var proof: ReplacementProof?
}
