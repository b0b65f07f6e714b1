#if DEBUG
internal import Foundation

internal import Glibc
#endif

/// The named steps at which the crash tests kill the process, or make a step fail. Compiled out of release
/// builds.
///
/// `COFFER_FAIL_POINT=renamed` kills the process at that step, and `COFFER_FAIL_POINT=renamed:error` makes
/// the step fail.
enum FailPoint: String, CaseIterable {
    case noteMade = "note-made"
    case journalLeft = "journal-left"
    /// No other process has the file open, and no lock is taken yet.
    case alone
    /// Idle side files are removed, and the lock for the copy is not taken yet.
    case cleared
    case locked
    case copyCreated = "copy-created"
    case copying
    case copied
    case verified
    case copySynchronized = "copy-synchronized"
    case oldKept = "old-kept"
    /// Before the copy of a kept file takes its name.
    case oldCopied = "old-copied"
    case renamed
    case directorySynchronized = "directory-synchronized"
    case reopened
    case audited
    case noteRemoved = "note-removed"
    /// In rotations in place, and in erasures after the content was overwritten.
    case rekeyed
    /// In rotations of a database in use only, like the next one.
    case statePinned = "state-pinned"
    case released

    #if DEBUG
    /// The step that fails in the current task, for tests that continue afterwards.
    @TaskLocal static var failing: FailPoint?

    /// A function that is called at each step in the current task, for tests in which another process acts in
    /// between.
    @TaskLocal static var passing: (@Sendable (FailPoint) -> Void)?

    private static let configured = ProcessInfo.processInfo.environment["COFFER_FAIL_POINT"]

    func pass(_ path: String) throws(DatabaseFileError) {
        if FailPoint.configured == rawValue { kill(getpid(), SIGKILL) }
        FailPoint.passing?(self)
        if FailPoint.failing == self || FailPoint.configured == "\(rawValue):error" {
            throw DatabaseFileError(.inputOutput(call: "fail point \(rawValue)", errno: EIO), path: path)
        }
    }
    #else
    @inline(__always)
    func pass(_ path: String) throws(DatabaseFileError) {}
    #endif
}
