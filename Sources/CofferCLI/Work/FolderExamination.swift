internal import Coffer
internal import Glibc
internal import SystemCalls

/// Examines who can access the databases and keys below a folder.
struct FolderExamination {
    private let path: String
    private let checkpoint: () throws -> Void

    init(_ path: String, checkpoint: @escaping () throws -> Void) {
        self.path = path
        self.checkpoint = checkpoint
    }

    func findings() throws -> [Finding] {
        var result: [Finding] = []
        var (count, waiting) = (0, [path])
        while let next = waiting.popLast() {
            try checkpoint()
            let status: FileStatus
            do throws(Errno) { status = try FileStatus(next) } catch {
                // A file that was removed during the scan needs no finding.
                if error.code != ENOENT { result.append(FolderExamination.unseen(next)) }
                continue
            }
            switch status.mode & S_IFMT {
            case S_IFDIR:
                result += folder(next, status)
                do throws(Errno) {
                    let all = try Folder.names(in: next)
                    let names = all.compactMap { String(validating: $0, as: UTF8.self) }
                    let others = all.filter { String(validating: $0, as: UTF8.self) == nil }
                        .map { String(decoding: $0, as: UTF8.self) }
                    waiting += names.sorted(by: >).map { next.hasSuffix("/") ? next + $0 : "\(next)/\($0)" }
                    result += others.sorted().map { name in
                        Finding(
                            check: "name", path: next,
                            words:
                                "contains a file whose name is not UTF-8, which was not checked: "
                                + "\(name)",
                            advice: "Rename it, and run this again.")
                    }
                } catch {
                    result.append(FolderExamination.unseen(next))
                }
            case S_IFREG:
                count += 1
                result += try file(next, status)
            default: continue
            }
        }
        let summary = Finding(
            check: "files", path: path, words: "\(TextLayout.counted(count, "file")) checked")
        return [summary] + result
    }

    private static func unseen(_ path: String) -> Finding {
        Finding(
            check: "unreadable", path: path, words: "cannot be read",
            advice: "Run this as the user that owns it.")
    }

    /// The suffixes of the notes that interrupted runs leave.
    private static let noteEndings = ["rotate", "upgrade", "encrypt", "decrypt", "vacuum"].map {
        ".\($0).json"
    }

    /// The first bytes of an unencrypted SQLite database.
    private static let plaintextStart = Array("SQLite format 3\0".utf8)

    private func folder(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.mode & 0o022 != 0, status.mode & S_ISVTX == 0 else { return [] }
        return [
            Finding(
                check: "folder", path: path,
                words: "others can rename and replace its files (mode \(mode(status)))",
                advice: "Run 'chmod go-w' on it.")
        ]
    }

    private func file(_ path: String, _ status: FileStatus) throws -> [Finding] {
        let name = FileNames.name(of: path)
        if name.hasPrefix(NewFile.partPrefix) {
            return [
                Finding(
                    check: "leftover", path: path, words: "a partial dump that is readable without a key",
                    advice: "Remove it if no dump is running here.")
            ]
        }
        if name.hasPrefix(".coffer-") || FolderExamination.noteEndings.contains(where: name.hasSuffix) {
            return [
                Finding(
                    check: "leftover", path: path,
                    words:
                        "of an active or interrupted run (\(TextLayout.size(status.size)))",
                    advice:
                        "If no run is active, run the same command again: it completes or removes it.")
            ]
        }
        let start = FolderExamination.start(of: path)
        if name.hasSuffix(".keys"), !NewFile.exists(String(path.dropLast(".keys".count))),
            name.hasSuffix(".backup.keys") || start?.starts(with: "coffer keyring ".utf8) == true
        {
            return [
                Finding(
                    check: "leftover", path: path,
                    words: "the keyring of a missing database: its run is active or was interrupted, or "
                        + "the database was moved",
                    advice: "Remove it if no copy is running here and its database was not moved.")
            ]
        }
        if name.hasSuffix(".keys"), let start, !start.isEmpty, start.allSatisfy({ $0 == 0 }) {
            return [
                Finding(
                    check: "leftover", path: path,
                    words: "a keyring that was overwritten and not removed: its run is active or was "
                        + "interrupted",
                    advice: "Run 'coffer erase' or 'coffer key destroy' again. To keep the database, use "
                        + "'coffer key restore-header'.")
            ]
        }
        if start == FolderExamination.plaintextStart { return try database(path, status) }
        let lowered = name.lowercased()
        if lowered.hasSuffix(".key") { return key(path, status) }
        if [".db", ".sqlite", ".sqlite3", ".db3"].contains(where: lowered.hasSuffix) {
            return try database(path, status)
        }
        // The file cannot be read, so it may or may not be a database.
        return start == nil ? [FolderExamination.unseen(path)] : []
    }

    /// Returns the first bytes of a file, or nil if it cannot be read.
    private static func start(of path: String) -> [UInt8]? {
        try? Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).readAll(upTo: plaintextStart.count)
    }

    private func key(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.isOwn || status.userID == 0 else {
            return [
                Finding(
                    check: "key", path: path, words: "belongs to user \(status.userID), who knows the key",
                    advice: "If that is not intended, rotate the files that it opens to a key of your own.")
            ]
        }
        guard status.mode & 0o077 != 0 else { return [] }
        return [
            Finding(
                check: "key", path: path, words: "others can read it or write to it (mode \(mode(status)))",
                advice: "Run 'chmod 600' on it. If others may have read it, rotate the files that it opens.")
        ]
    }

    private func database(_ path: String, _ status: FileStatus) throws -> [Finding] {
        var result: [Finding] = []
        switch try? DatabaseFile(path: path).inspect().kind {
        case .plaintext?:
            result.append(
                Finding(
                    check: "plaintext", path: path, words: "is not encrypted",
                    advice: "Encrypt it with 'coffer encrypt', or move it away if that is intended."))
        case .empty?:
            result.append(
                Finding(
                    check: "empty", path: path, words: "is empty",
                    advice: "Restore it from a backup, unless it was never used."))
        case nil:
            result.append(
                Finding(
                    check: "unreadable", path: path, words: "cannot be read",
                    advice: "Run this as the user that owns it."))
        default: break
        }
        if status.mode & 0o022 != 0 {
            result.append(
                Finding(
                    check: "database", path: path, words: "others can write to it (mode \(mode(status)))",
                    advice: "Run 'chmod go-w' on it, unless they are meant to."))
        } else if status.mode & 0o044 != 0 {
            result.append(
                Finding(
                    check: "database", path: path,
                    words: "others can copy it, and try keys on the copy (mode \(mode(status)))",
                    advice: "Run 'chmod go-r' on it, unless they are meant to read it."))
        }
        return result
    }

    private func mode(_ status: FileStatus) -> String { String(status.mode & 0o7777, radix: 8) }
}
