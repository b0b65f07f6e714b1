public import Foundation

extension DatabaseFileError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        let rest = " The file has its new content; the same work, done again, completes it."
        return "\(path): \(words)\(isPublished ? rest : "")"
    }

    private var words: String {
        switch reason {
        case .missing: "There is no such file."
        case .exists where path.hasSuffix("-wal") || path.hasSuffix("-journal"):
            "A database that had the name before has left it, and any program would play it back into the "
                + "new file. Move it away, or remove it if nobody needs it."
        case .exists: "There is a file of that name already, and it is not overwritten."
        case .unsafeFile(let kind): kind.words
        case .pathTooLong: "The path is too long for the files that are made beside it. Use a shorter name."
        case .busy(let users) where users.isEmpty: "The file is in use. Close it everywhere, and try again."
        case .busy(let users):
            "The file is in use by \(users.map(\.words).joined(separator: ", ")). Close it there, and try "
                + "again."
        case .key(let failure): failure.description
        case .sameKey: "The new key is the one that the file has. Give another one."
        case .damaged(let pages) where pages.isEmpty: "The file is damaged. Restore it from a backup."
        case .damaged(let pages):
            "The file is damaged (page \(pages.prefix(20).map(String.init).joined(separator: ", "))"
                + "\(pages.count > 20 ? " and \(pages.count - 20) others" : "")). Restore it from a backup."
        case .copyRejected(let finding): "The copy did not pass its check and was thrown away: \(finding)."
        case .emptyFile:
            "The file is empty: it has no bytes, and no key can be right for it. Restore it from a backup."
        case .inconsistent(let words):
            "The rows contradict the schema of the database (\(words)). Correct them with a program that "
                + "opens the file, and try again."
        case .missingDefinition(let words):
            "Only the application has what the schema needs (\(words)). Give it in "
                + "ConversionOptions.collations or ConversionOptions.functions. Backups and rotations copy "
                + "pages, and do not need it."
        case .diskFull:
            "There is not enough room, or a limit on the size of files is in the way. Make room, and try "
                + "again."
        case .inputOutput(let call, let errno): "\(call) failed: \(systemMessage(errno))."
        case .engine(let code, let message): "\(message) (SQLite error \(code.rawValue))."
        case .unsupported(let words): words
        case .outpaced(let size):
            "More was written than could be copied meanwhile, and the write-ahead log has \(size) bytes. "
                + "Try again when less is written, or allow more."
        case .auditFailed(let words): "The work is done, but could not be recorded: \(words)."
        }
    }
}

extension DatabaseFileError.UnsafeFile {
    fileprivate var words: String {
        switch self {
        case .symbolicLink: "The path is a symbolic link. Give the path of the file itself."
        case .notARegularFile: "The path is not a regular file."
        case .hardLinks(let count):
            "The file has \(count) names (hard links), and the others would keep the old content. Remove "
                + "them first."
        case .mountPoint:
            "The file is a mount point itself (as with 'docker run -v file:file' or a Kubernetes subPath), "
                + "and no other file can take its place. Mount the folder of the file. A key can also be "
                + "rotated in the file itself: see RotationOptions.method."
        case .owner(let user, let group):
            "The file belongs to user \(user) and group \(group), and a copy could not. Do this as "
                + "its owner."
        case .directory(let errno): "No file can be made in its directory: \(systemMessage(errno))."
        case .replaced:
            "Another process has put a file in its place, or in that of the copy, meanwhile. Look at who "
                + "else may write to the directory."
        case .sharedDirectory:
            "Other users may rename files in its directory, and could put one of theirs in the place of the "
                + "result. Take the right to write from them (chmod go-w), or make the directory sticky "
                + "(chmod +t) and your own, and try again."
        case .foreignNote:
            "A note of what an interrupted run has left would have this name, but this is none: it is "
                + "something else, or not a file of your own with one name. Nothing was done. Look at it, "
                + "and move it away, or remove it if nobody needs it."
        }
    }
}

extension DatabaseFileError.FileUser {
    fileprivate var words: String { command.map { "\($0) (process \(processID))" } ?? "process \(processID)" }
}
