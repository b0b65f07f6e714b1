internal import Coffer
internal import Glibc
internal import SystemCalls

extension Failure {
    init(_ error: DatabaseFileError) {
        if case .key(let failure) = error.reason {
            self.init(failure)
        } else {
            let (status, word) = Failure.meaning(of: error.reason)
            self.init(status, word, Failure.words(of: error))
        }
        if !Failure.isTemporary(error.path) { path = path ?? error.path }
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
        case .keyUnknown: (.inputOutput, "key_unknown")
        case .applicationFailed: (.internalError, "application")
        }
    }

    /// True for a copy in the making, whose name says nothing to users.
    private static func isTemporary(_ path: String) -> Bool {
        FileNames.name(of: path).begins(withBytesOf: ".coffer-")
    }

    private static func words(of error: DatabaseFileError) -> String {
        let words = advice(on: error)
        let prefix = "\(error.path): "
        return isTemporary(error.path) && words.hasPrefix(prefix)
            ? String(words.dropFirst(prefix.count)) : words
    }

    /// Returns a message that names the option that helps. The library's messages address programmers.
    private static func advice(on error: DatabaseFileError) -> String {
        switch error.reason {
        case .missingDefinition(let words):
            "\(error.path): The schema needs a definition that only the application has (\(words)). "
                + "Use a program that provides it through ConversionOptions of the library. 'coffer backup', "
                + "'coffer rotate' and 'coffer dump' work without it."
        case .unsafeFile(.mountPoint):
            "\(error.path): The file is a mount point (as with 'docker run -v file:file' or a "
                + "Kubernetes subPath), so it cannot be replaced. Mount its folder instead. To rotate the "
                + "key without replacing the file, use 'coffer rotate --in-place'."
        case .unsafeFile(.notARegularFile) where (try? FileStatus(error.path))?.isDirectory == true:
            "\(error.path): The path is a folder. 'coffer batch' works on all databases in a folder, as in "
                + "'coffer batch rotate'."
        case .damaged: "\(error.description) \(salvage)"
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
        case let content?: return (content.status, content.reason)
        case nil:
            let failure = Failure(DatabaseError(resultCode: code))
            return (failure.status, failure.reason)
        }
    }
}
