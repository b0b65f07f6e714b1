internal import Coffer
internal import Foundation
internal import Glibc
internal import SystemCalls

/// The configuration of a site: a file of JSON with defaults for options. It names sources of secrets, and
/// contains none. Another user who could change it could have a key copied, so it must be safe from others.
struct SiteConfiguration: Sendable {
    let path: String
    private(set) var key: String?
    private(set) var unlock: String?
    private(set) var audit: String?
    private(set) var auditKey: String?
    private(set) var metrics: String?
    private(set) var keep: String?

    /// The folder that relative paths in the file start from.
    var folder: String { FileNames.folder(of: path) }

    private static let limit = 65_536
    private static let names = ["audit", "audit-key", "keep", "key", "metrics", "unlock"]

    /// Reads the file that COFFER_CONFIG names, or else the first of the standard ones. Returns nil if there
    /// is none, or if COFFER_CONFIG is empty.
    init?(_ environment: [String: String]) throws(Failure) {
        if let path = environment["COFFER_CONFIG"] {
            guard !path.isEmpty else { return nil }
            try self.init(path: path)
            return
        }
        let home = environment["HOME"].map { ["\($0)/.config/coffer/config.json"] } ?? []
        guard let path = (home + ["/etc/coffer/config.json"]).first(where: NewFile.exists) else { return nil }
        try self.init(path: path)
    }

    private init(path: String) throws(Failure) {
        self.path = path
        let bytes = try SiteConfiguration.bytes(of: path)
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw failure("it is not a JSON object.")
        }
        if let unknown = object.keys.filter({ !SiteConfiguration.names.contains($0) }).min() {
            throw failure(
                "'\(unknown)' is unknown; there are \(SiteConfiguration.names.joined(separator: ", ")).")
        }
        key = try text("key", object)
        unlock = try text("unlock", object)
        audit = try text("audit", object).map { FileNames.located($0, in: folder) }
        auditKey = try text("audit-key", object)
        metrics = try text("metrics", object).map { FileNames.located($0, in: folder) }
        keep = try text("keep", object)
        // Each member is now known to be two strings, its name and its value.
        guard SiteConfiguration.stringCount(in: bytes) == 2 * object.count else {
            throw failure("it repeats a member.")
        }
        if let keep, DatabaseFile.BackupRetention(keep) == nil {
            throw failure("'keep' takes numbers with h, d, w, m or y, such as 7d,4w,6m.")
        }
    }

    private func text(_ name: String, _ object: [String: Any]) throws(Failure) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value as? String else { throw failure("'\(name)' is not a string.") }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw failure("'\(name)' is empty or contains a NUL byte.")
        }
        return text
    }

    /// Returns the number of strings in a JSON text. The parser keeps only one of two members with a name.
    private static func stringCount(in text: [UInt8]) -> Int {
        var (quotes, isEscaped) = (0, false)
        for byte in text {
            if byte == UInt8(ascii: "\""), !isEscaped { quotes += 1 }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return quotes / 2
    }

    /// - Parameter words: the problem, which follows the name of the file.
    func failure(_ words: String) -> Failure { SiteConfiguration.failure(path, words) }

    private static func failure(_ path: String, _ words: String) -> Failure {
        Failure(.unsafeConfiguration, "configuration", "The configuration '\(path)': \(words)")
    }

    private static func folder(of path: String) throws(Failure) -> OpenFolder {
        do throws(OpenFolder.Problem) { return try OpenFolder.open(FileNames.folder(of: path)) } catch {
            switch error {
            case .system(let error): throw failure(path, "it cannot be read: \(error.words).")
            case .linkOfAnotherUser:
                throw failure(path, "its path has a symbolic link of another user, who can change it.")
            case .changeableFolder(let folder):
                throw failure(path, "its path leads through '\(folder)', a folder that others can change.")
            }
        }
    }

    private static func bytes(of path: String) throws(Failure) -> [UInt8] {
        func reading<T: ~Copyable>(_ step: () throws(Errno) -> T) throws(Failure) -> T {
            do throws(Errno) { return try step() } catch {
                throw failure(
                    path,
                    error.code == ELOOP
                        ? "it is a symbolic link. Give the file itself."
                        : "it cannot be read: \(error.words).")
            }
        }
        let folder = try folder(of: path)
        // NONBLOCK: if the path is a pipe, the tool must not wait for its writer.
        let file = try reading { () throws(Errno) in
            try folder.file(FileNames.name(of: path), O_RDONLY | O_NONBLOCK)
        }
        let status = try reading { () throws(Errno) in try file.status() }
        let folderStatus = try reading { () throws(Errno) in try folder.status() }
        guard status.isRegular else { throw failure(path, "it is not a regular file.") }
        try check([("it", status), ("its folder", folderStatus)], path)
        let bytes = try reading { () throws(Errno) in try file.readAll(upTo: limit + 1) }
        guard bytes.count <= limit else {
            throw failure(path, "it has more than \(TextLayout.grouped(limit)) bytes.")
        }
        return bytes
    }

    /// Throws if another user can change one of the files.
    private static func check(_ files: [(name: String, status: FileStatus)], _ path: String) throws(Failure) {
        for (name, status) in files {
            guard status.isOwn || status.userID == 0 else {
                throw failure(path, "\(name) belongs to another user, who can change it.")
            }
            guard status.mode & 0o022 == 0 || status.isSymbolicLink else {
                throw failure(
                    path,
                    "others can write to \(name) (mode \(String(status.permissions, radix: 8))). Run 'chmod "
                        + "go-w'.")
            }
        }
    }

    /// Throws if another user can change a program that the configuration names by its path: that user would
    /// choose the program. A missing program is reported when it is run.
    func check(program: String) throws(Failure) {
        for path in [program, FileNames.canonical(program)] {
            let folder: OpenFolder
            do throws(OpenFolder.Problem) {
                _ = try OpenFolder.open(containing: path)
                folder = try OpenFolder.open(FileNames.folder(of: path))
            } catch {
                switch error {
                case .system: return
                case .linkOfAnotherUser:
                    throw failure("the path of '\(program)' has a symbolic link of another user.")
                case .changeableFolder(let folder):
                    throw failure(
                        "the path of '\(program)' leads through the folder '\(folder)', in which others can "
                            + "put another file. Run 'chmod go-w', or name a program elsewhere.")
                }
            }
            guard let status = try? FileStatus(path), let folderStatus = try? folder.status() else { return }
            try SiteConfiguration.check(
                [("'\(program)'", status), ("the folder of '\(program)'", folderStatus)], self.path)
        }
    }

    /// Throws if another user's symbolic link chooses the folder of a file that the configuration names: the
    /// tool would write to a folder that this user cannot write to. A missing folder is reported when the
    /// file is written.
    func check(written file: String, _ name: String) throws(Failure) {
        do throws(OpenFolder.Problem) { _ = try OpenFolder.open(FileNames.folder(of: file)) } catch {
            guard case .linkOfAnotherUser = error else { return }
            throw failure("the path of '\(name)' has a symbolic link of another user, who can change it.")
        }
    }
}
