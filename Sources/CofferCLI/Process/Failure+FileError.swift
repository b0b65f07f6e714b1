internal import Coffer
internal import Glibc

extension Failure {
    init(_ error: DatabaseFileError) {
        if case .key(let failure) = error.reason {
            self.init(failure)
            return
        }
        let (status, word) = Failure.meaning(of: error.reason)
        self.init(status, word, Failure.words(of: error))
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
        case .missingDefinition: (.badData, "missing_definition")
        case .diskFull: (.inputOutput, "disk_full")
        case .inputOutput(_, let code):
            code == ENOSPC || code == EDQUOT ? (.inputOutput, "disk_full") : (.inputOutput, "io")
        case .engine(let code, _): meaning(of: code)
        case .unsupported: (.usage, "unsupported")
        case .outpaced: (.busy, "outpaced")
        case .auditFailed: (.inputOutput, "audit")
        }
    }

    /// The library speaks to programmers where only these can help.
    /// The library speaks to programmers; these name the option that helps.
    private static func words(of error: DatabaseFileError) -> String {
        switch error.reason {
        case .missingDefinition(let words):
            "\(error.path): Only the application has what the schema needs (\(words)). Have the "
                + "application do it, or a program with ConversionOptions of the library. 'coffer backup' "
                + "and 'coffer rotate' copy pages, and 'coffer dump' reads them: they need none of it."
        case .unsafeFile(.mountPoint):
            "\(error.path): The file is a mount point itself (as with 'docker run -v file:file' or a "
                + "Kubernetes subPath), and no other file can take its place. Mount the folder of the file. "
                + "A key can also be rotated in the file itself: 'coffer rotate --in-place'."
        default: error.description
        }
    }

    private static func meaning(of kind: DatabaseFileError.UnsafeFile) -> (ExitStatus, String) {
        switch kind {
        case .symbolicLink: (.outputExists, "symbolic_link")
        case .notARegularFile: (.inputMissing, "not_a_file")
        case .hardLinks: (.outputExists, "hard_links")
        case .mountPoint: (.outputExists, "mount_point")
        case .owner: (.outputExists, "owner")
        case .directory: (.outputExists, "directory")
        case .replaced: (.busy, "replaced")
        case .sharedDirectory: (.outputExists, "shared_directory")
        case .foreignNote: (.outputExists, "foreign_note")
        }
    }

    private static func meaning(of code: ResultCode) -> (ExitStatus, String) {
        switch Failure.content(code) {
        // What is wrong with the schema or with a row has reasons of its own: this is a statement of ours.
        case let content? where content.reason == "content": return (.internalError, "engine")
        case let content?: return (content.status, content.reason)
        case nil:
            let failure = Failure(DatabaseError(resultCode: code))
            return (failure.status, failure.reason)
        }
    }
}
