internal import Coffer
internal import Glibc

extension Failure {
    init(_ error: DatabaseFileError) {
        if case .key(let failure) = error.reason {
            self.init(failure)
            return
        }
        let (status, word) = Failure.meaning(of: error.reason)
        self.init(status, word, error.description)
    }

    private static func meaning(of reason: DatabaseFileError.Reason) -> (ExitStatus, String) {
        switch reason {
        case .missing: (.inputMissing, "missing")
        case .exists: (.outputExists, "output_exists")
        case .unsafeFile(let kind): meaning(of: kind)
        case .pathTooLong: (.outputExists, "path_too_long")
        case .busy: (.busy, "busy")
        case .key: (.keyRejected, "wrong_key")
        case .sameKey: (.usage, "same_key")
        case .damaged: (.badData, "damaged")
        case .copyRejected: (.badData, "copy_rejected")
        case .emptyFile: (.badData, "empty_file")
        case .inconsistent: (.badData, "inconsistent")
        case .diskFull: (.inputOutput, "disk_full")
        case .inputOutput(_, let code):
            code == ENOSPC || code == EDQUOT ? (.inputOutput, "disk_full") : (.inputOutput, "io")
        case .engine(let code, _): meaning(of: code)
        case .unsupported: (.usage, "unsupported")
        case .outpaced: (.busy, "outpaced")
        case .auditFailed: (.inputOutput, "audit")
        }
    }

    private static func meaning(of kind: DatabaseFileError.UnsafeFile) -> (ExitStatus, String) {
        switch kind {
        case .symbolicLink: (.outputExists, "symbolic_link")
        case .notARegularFile: (.inputMissing, "not_a_file")
        case .hardLinks: (.outputExists, "hard_links")
        case .owner: (.outputExists, "owner")
        case .directory: (.outputExists, "directory")
        case .replaced: (.busy, "replaced")
        case .sharedDirectory: (.outputExists, "shared_directory")
        case .foreignNote: (.outputExists, "foreign_note")
        }
    }

    private static func meaning(of code: ResultCode) -> (ExitStatus, String) {
        let failure = Failure(DatabaseError(resultCode: code))
        switch failure.status {
        // No statement of the user's is at fault here.
        case .usage: return (.internalError, "engine")
        // The rows of the file contradict its schema.
        case .answerIsNo: return (.badData, "inconsistent")
        default: return (failure.status, failure.reason)
        }
    }
}
