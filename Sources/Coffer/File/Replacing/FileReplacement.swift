internal import Foundation
internal import SQLCipherBridge

/// Gives a file new content by a copy beside it, which is proved and then put in its place in one step.
///
/// Whatever happens before this step leaves the file untouched; a crash leaves at most a note and a copy,
/// which the next run removes. See ``ExaminedFile`` for the stages.
struct FileReplacement {
    let job: ReplacementJob
    let progress: ProgressReport

    init(_ job: ReplacementJob, progress: ProgressReport) {
        self.job = job
        self.progress = progress
    }

    /// - Throws: ``DatabaseFileError``, `CancellationError`, or what a key provider or the progress function
    ///   throws.
    func run() throws -> ReplacementResult {
        let examined = try DatabaseFileError.translated(job.path) {
            try ExaminedFile(job, progress: progress)
        }
        do {
            switch try OpenedFile.open(examined) {
            case .newContent:
                return try examined.completeEarlierRun()
            case .oldContent(let opened):
                return try opened.noted().quiesced().staged().proved().published().completed()
            }
        } catch let error as FailureAfterPublishing {
            throw FileReplacement.describe(
                error.reason, of: examined.status, isPublished: true, path: job.path)
        } catch {
            throw FileReplacement.describe(error, of: examined.status, isPublished: false, path: job.path)
        }
    }

    /// What to throw for a failure of a stage.
    static func describe(_ failure: any Error, of status: FileStatus, isPublished: Bool, path: String)
        -> any Error
    {
        let failure = DatabaseFileError.publicError(failure, path: path)
        guard var error = failure as? DatabaseFileError else { return failure }
        if case .busy(let users) = error.reason, users.isEmpty {
            error = DatabaseFileError(.busy(FileUsers.others(of: status)), path: error.path)
        }
        error.isPublished = isPublished
        return error
    }
}

/// What is to be done to a file, and how: the part in which rotations, upgrades, encryptions and decryptions
/// differ.
struct ReplacementJob {
    var operation: ReplacementOperation

    /// Of the source, whose place the result takes: see ``ContentFile`` for copies into other files.
    var change: FileChange
    var method: any CopyMethod

    /// Whether the result has the key of the source, so that there is no old one which must not open it.
    var keepsKey = false

    /// How long to wait for others, in seconds.
    var lockTimeout: TimeInterval = 0

    /// Where the file with the old content is kept; only when its place is taken.
    var keepOldPath: String?

    /// Records the result; called with the file in its place, before the note is removed.
    var audit: (ReplacementProof) throws -> Void = { _ in }

    /// The connection that the source is open with already, for databases in use; nil to open one.
    ///
    /// It writes nothing during the work, and is in a transaction from ``NotedFile/quiesced()`` to
    /// ``ProvedCopy/published()``.
    var lentConnection: ConnectionHandle?

    /// Whether the copy was made from the log while others wrote, so that nothing may come to the file that
    /// was in no log.
    var followsLog = false

    /// For databases in use: lets go of the lent connection, which is still in its transaction, and goes on
    /// with the new file in the journal mode that is given.
    var resume: (_ journalMode: JournalMode) throws -> Void = { _ in }

    var path: String { change.path }
    var before: FileProtection { change.before }
    var after: FileProtection { change.after }
}

/// How a replacement has ended.
struct ReplacementResult {
    /// False when the file had its new content already.
    var isChanged: Bool
    /// Whether an earlier run had left something.
    var isResumed: Bool
    var proof: ReplacementProof?
}
