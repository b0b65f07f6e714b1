public import Foundation
internal import SystemCalls

extension DatabaseFileError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        let kept = keptOldPath.map { " The old file is '\($0)'." } ?? ""
        let rest =
            path.ends(inBytesOf: ".keys")
            ? " The keyring is already changed, but a loss of power may bring the former one back."
            : " The file is already changed.\(kept) Run the same operation again to complete it."
        return "\(path): \(words)\(isPublished ? rest : "")"
    }

    private var words: String {
        switch reason {
        case .missing: "There is no such file."
        case .exists where path.ends(inBytesOf: "-wal") || path.ends(inBytesOf: "-journal"):
            "The file was left by a former database of this name, and would be replayed into the new one. "
                + "Move it away, or delete it if it is not needed."
        case .exists: "A file of this name already exists, and is not overwritten."
        case .unsafeFile(let kind): kind.words
        case .pathTooLong:
            "The path is too long for the files that are created next to it. Use a shorter name."
        case .busy(let users) where users.isEmpty: "The file is in use. Close it everywhere, and try again."
        case .busy(let users):
            "The file is in use by \(users.map(\.words).joined(separator: ", ")). Close it there, and try "
                + "again."
        case .key(let failure): failure.description
        case .sameKey: "The new key is the current key of the file. Give another one."
        case .damaged(let pages) where pages.isEmpty: "The file is damaged. Restore it from a backup."
        case .damaged(let pages):
            "The file is damaged (page \(pages.prefix(20).map(String.init).joined(separator: ", "))"
                + "\(pages.count > 20 ? " and \(pages.count - 20) others" : "")). Restore it from a backup."
        case .copyRejected(let finding): "The copy failed verification and was deleted: \(finding)."
        case .emptyFile:
            "The file is empty (0 bytes), so no key can open it. Restore it from a backup."
        case .inconsistent(let words):
            "The rows violate the schema of the database (\(words)). Correct them with a program that opens "
                + "the file, and try again."
        case .missingDefinition(let words):
            "The schema needs definitions that only the application has (\(words)). Give them in "
                + "ConversionOptions.collations or ConversionOptions.functions. Backups and rotations copy "
                + "pages, and do not need them."
        case .diskFull:
            "There is not enough disk space, or a limit on the size of files was reached. Free some space, "
                + "and try again."
        case .inputOutput(let call, let errno): "\(call) failed: \(Errno(errno).words)."
        case .engine(let code, let message): "\(message) (SQLite error \(code.rawValue))."
        case .unsupported(let words): words
        case .outpaced(let size):
            "Writes were faster than the copy, and the write-ahead log has grown to \(size) bytes. Try again "
                + "when there are fewer writes, or allow a larger log."
        case .auditFailed(let words): "The operation succeeded, but could not be recorded: \(words)."
        case .applicationFailed(let words): "A function of the application has failed: \(words)."
        case .keyUnknown(let words):
            "The file could not be read after its key was changed in place, so it may have the old key or "
                + "the new one. Keep both, and run the same operation again when the file can be read. The "
                + "reason: "
                + words
        }
    }
}

extension DatabaseFileError.UnsafeFile {
    fileprivate var words: String {
        switch self {
        case .symbolicLink: "The path is a symbolic link. Give the path of the file itself."
        case .notARegularFile: "The path is not a regular file."
        case .hardLinks(let count):
            "The file has \(count) names (hard links), and the other names would keep the old content. "
                + "Remove them first."
        case .mountPoint:
            "The file is a mount point itself (as with 'docker run -v file:file' or a Kubernetes subPath), "
                + "so it cannot be replaced. Mount the folder of the file. A key can also be rotated in "
                + "place: see RotationOptions.method."
        case .owner(let user, let group):
            "The file belongs to user \(user) and group \(group), and a copy could not have the same owner. "
                + "Run this as the owner of the file."
        case .directory(let errno): "No file can be created in its directory: \(Errno(errno).words)."
        case .replaced:
            "Another process has replaced the file or its copy. Check who else can write to the directory."
        case .sharedDirectory:
            "Other users can rename files in its directory, and could replace the result with a file of "
                + "their own. Remove their write permission (chmod go-w), or make the directory sticky "
                + "(chmod +t) and your own, and try again."
        case .foreignNote:
            "This is the name for the note of an interrupted run, but the file is not such a note: it has "
                + "other content, or is not a file of your own with a single name. Nothing was done. Inspect "
                + "it, and move it away, or delete it if it is not needed."
        }
    }
}

extension DatabaseFileError.FileUser {
    fileprivate var words: String { command.map { "\($0) (process \(processID))" } ?? "process \(processID)" }
}
