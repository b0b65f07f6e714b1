internal import Foundation
internal import SQLCipherBridge

/// Gives a file new content by a copy beside it, which is proved and then put in its place in one step.
///
/// Whatever happens before this step leaves the file untouched; a crash leaves at most a note and a copy, which the next run removes. See
/// ``ExaminedFile`` for the stages.
struct FileReplacement {
    let job: ReplacementJob
    let progress: ProgressReport

    init(_ job: ReplacementJob, progress: ProgressReport) {
        self.job = job
        self.progress = progress
    }

    /// - Throws: ``DatabaseFileError``, `CancellationError`, or what a key provider or the progress function throws.
    func run() throws -> ReplacementResult {
        let examined: ExaminedFile
        do {
            examined = try ExaminedFile(job, progress: progress)
        } catch {
            throw DatabaseFileError.publicError(error, path: job.path)
        }
        do {
            switch try OpenedFile.open(examined) {
            case .newContent:
                return try examined.completeEarlierRun()
            case .oldContent(let opened):
                return try opened.noted().quiesced().staged().proved().published().completed()
            }
        } catch let error as FailureAfterPublishing {
            throw FileReplacement.describe(error.reason, of: examined.status, isPublished: true, path: job.path)
        } catch {
            throw FileReplacement.describe(error, of: examined.status, isPublished: false, path: job.path)
        }
    }

    private static func describe(_ failure: any Error, of status: FileStatus, isPublished: Bool, path: String) -> any Error {
        let failure = DatabaseFileError.publicError(failure, path: path)
        guard var error = failure as? DatabaseFileError else { return failure }
        if case .busy(let users) = error.reason, users.isEmpty {
            error = DatabaseFileError(.busy(FileUsers.others(of: status)), path: error.path)
        }
        error.isPublished = isPublished
        return error
    }
}
