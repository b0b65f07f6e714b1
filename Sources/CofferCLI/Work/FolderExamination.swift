internal import Coffer
internal import Glibc
internal import SystemCalls

/// Examines who can access the databases and keys below a folder.
struct FolderExamination {
    let path: String
    /// Called before each file. Throws to end the examination.
    let checkpoint: () throws -> Void

    func findings() throws -> [Finding] {
        var (findings, count, waiting) = ([Finding](), 0, [path])
        while let next = waiting.popLast() {
            try checkpoint()
            let status: FileStatus
            do throws(Errno) { status = try FileStatus(next) } catch {
                // A file that was removed during the scan needs no finding.
                if error.code != ENOENT { findings.append(unseen(next)) }
                continue
            }
            if !status.isRegular, isNamedAsKeyring(next),
                let keyring = KeyringExamination(next, status)
            {
                findings += keyring.findings
            }
            if status.isDirectory {
                findings += folder(next, status) + content(of: next, &waiting)
            } else if status.isRegular {
                count += 1
                findings += file(next, status)
            }
        }
        return [Finding("files", of: path, "\(counted: count, "file") checked")] + findings
    }

    /// Adds the content of a folder to the files that wait for their examination.
    private func content(of folder: String, _ waiting: inout [String]) -> [Finding] {
        guard let all = try? Folder.names(in: folder) else { return [unseen(folder)] }
        let names = all.compactMap { String(validating: $0, as: UTF8.self) }
        waiting += names.sorted(by: >).map { folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)" }
        let others = all.filter { String(validating: $0, as: UTF8.self) == nil }
        return others.map { String(decoding: $0, as: UTF8.self) }.sorted().map { name in
            Finding(
                "name", of: folder, "contains a file whose name is not UTF-8, which was not checked: \(name)",
                advice: "Rename it, and run this again.")
        }
    }

    private func unseen(_ path: String) -> Finding {
        Finding("unreadable", of: path, "cannot be read", advice: "Run this as the user that owns it.")
    }

    /// The suffixes of the notes that interrupted runs leave.
    private static let noteEndings = ["rotate", "upgrade", "encrypt", "decrypt", "vacuum"].map {
        ".\($0).json"
    }

    /// The suffixes of the names that databases usually have.
    private static let databaseEndings = [".db", ".sqlite", ".sqlite3", ".db3"]

    /// The first bytes of an unencrypted SQLite database.
    private static let plaintextStart = Array("SQLite format 3\0".utf8)

    private func folder(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.mode & 0o022 != 0, status.mode & S_ISVTX == 0 else { return [] }
        return [
            Finding(
                "folder", of: path, "others can rename and replace its files (mode \(mode(status)))",
                advice: "Run 'chmod go-w' on it.")
        ]
    }

    private func file(_ path: String, _ status: FileStatus) -> [Finding] {
        let name = FileNames.name(of: path)
        let start = FolderExamination.start(of: path)
        if let leftover = leftover(path, name, start, status) { return [leftover] }
        let isKeyring = start?.starts(with: "coffer keyring ".utf8) == true || isNamedAsKeyring(path)
        if isKeyring, let keyring = KeyringExamination(path, status) { return keyring.findings }
        if start == FolderExamination.plaintextStart { return database(path, status) }
        let lowered = name.lowercased()
        if lowered.hasSuffix(".key") { return key(path, status).map { [$0] } ?? [] }
        if FolderExamination.databaseEndings.contains(where: lowered.hasSuffix) {
            return database(path, status)
        }
        // The file cannot be read, so it may or may not be a database.
        return start == nil ? [unseen(path)] : []
    }

    /// Returns a finding if a run has left the file.
    ///
    /// - Parameter start: the first bytes of the file, or nil if it cannot be read.
    private func leftover(_ path: String, _ name: String, _ start: [UInt8]?, _ status: FileStatus) -> Finding?
    {
        if name.hasPrefix(NewFile.partPrefix) {
            return Finding(
                "leftover", of: path, "a partial dump that is readable without a key",
                advice: "Remove it if no dump is running here.")
        }
        if name.hasPrefix(".coffer-") || FolderExamination.noteEndings.contains(where: name.hasSuffix) {
            guard start != FolderExamination.plaintextStart else {
                return Finding(
                    "leftover", of: path,
                    "a copy that is readable without a key, of an active or interrupted run "
                        + "(\(size: status.size))",
                    advice: "If no run is active, remove it, or run the same command again.")
            }
            return Finding(
                "leftover", of: path, "of an active or interrupted run (\(size: status.size))",
                advice: "If no run is active, run the same command again: it completes or removes it.")
        }
        guard let database = path.without(ending: ".keys") else { return nil }
        if !NewFile.exists(database),
            name.hasSuffix(".backup.keys") || start?.starts(with: "coffer keyring ".utf8) == true
        {
            return Finding(
                "leftover", of: path,
                "the keyring of a missing database: its run is active or was interrupted, or the database "
                    + "was moved",
                advice: "Remove it if no copy is running here and its database was not moved.")
        }
        guard let start, !start.isEmpty, start.allSatisfy({ $0 == 0 }) else { return nil }
        return Finding(
            "leftover", of: path,
            "a keyring that was overwritten and not removed: its run is active or was interrupted",
            advice: "Run 'coffer erase' or 'coffer key destroy' again. To keep the database, use 'coffer key "
                + "restore-header'.")
    }

    /// True if a keyring has such a path, and its database would have a usual name.
    private func isNamedAsKeyring(_ path: String) -> Bool {
        guard let database = path.without(ending: ".keys")?.lowercased() else { return false }
        return FolderExamination.databaseEndings.contains(where: database.hasSuffix)
    }

    /// Returns the first bytes of a file, or nil if it cannot be read.
    private static func start(of path: String) -> [UInt8]? {
        try? Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).readAll(upTo: plaintextStart.count)
    }

    private func key(_ path: String, _ status: FileStatus) -> Finding? {
        guard status.isOwn || status.userID == 0 else {
            return Finding(
                "key", of: path, "belongs to user \(status.userID), who knows the key",
                advice: "If that is not intended, rotate the files that it opens to a key of your own.")
        }
        guard status.mode & 0o077 != 0 else { return nil }
        return Finding(
            "key", of: path, "others can read it or write to it (mode \(mode(status)))",
            advice: "Run 'chmod 600' on it. If others may have read it, rotate the files that it opens.")
    }

    private func database(_ path: String, _ status: FileStatus) -> [Finding] {
        var result: [Finding] = []
        let kind = try? DatabaseFile(path: path).inspect().kind
        switch kind {
        case .plaintext? where path.hasSuffix(".plaintext"):
            result.append(
                Finding(
                    "plaintext", of: path, "is the plaintext that 'coffer encrypt' has kept",
                    advice: "When the encrypted file is in use: coffer erase \(path) --yes-erase "
                        + FileNames.name(of: path)))
        case .plaintext?:
            result.append(
                Finding(
                    "plaintext", of: path, "is not encrypted",
                    advice: "Encrypt it with 'coffer encrypt', or move it away if that is intended."))
        case .empty?:
            result.append(
                Finding(
                    "empty", of: path, "is empty",
                    advice: "Restore it from a backup, unless it was never used."))
        case nil: result.append(unseen(path))
        default: break
        }
        if status.mode & 0o022 != 0 {
            result.append(
                Finding(
                    "database", of: path, "others can write to it (mode \(mode(status)))",
                    advice: "Run 'chmod go-w' on it, unless they are meant to."))
        } else if status.mode & 0o044 != 0 {
            result.append(
                Finding(
                    "database", of: path,
                    kind == .plaintext
                        ? "others can read it (mode \(mode(status)))"
                        : "others can copy it, and try keys on the copy (mode \(mode(status)))",
                    advice: "Run 'chmod go-r' on it, unless they are meant to read it."))
        }
        return result
    }

    private func mode(_ status: FileStatus) -> String { String(status.mode & 0o7777, radix: 8) }
}
