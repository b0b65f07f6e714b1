internal import ArgumentParser
internal import Glibc

enum FileNames {
    /// How to name files in a question.
    static func subject(_ paths: [String]) -> String {
        paths.count == 1 ? paths[0] : TextLayout.counted(paths.count, "file", "files")
    }

    /// Fails for a mistyped name, and for a file that is closed to this user, before anybody is asked for a
    /// key.
    static func checkReadable(_ path: String) throws(Failure) {
        guard unsafe access(path, F_OK) == 0 else {
            throw Failure(SystemError.last, "'\(path)' cannot be found", denied: .inputMissing)
        }
        guard unsafe access(path, R_OK) == 0 else {
            throw Failure(SystemError.last, "'\(path)' cannot be read", denied: .inputMissing)
        }
    }

    /// Fails for a file without bytes, which the engine takes for a database without content under any key,
    /// and which is what is left of one that was cut to nothing. A journal or a log beside it may bring its
    /// content back.
    static func checkHasBytes(_ path: String) throws(Failure) {
        // SQLite takes a single byte for none.
        guard let count = size(path), count <= 1, (size(path + "-journal") ?? 0) == 0,
            (size(path + "-wal") ?? 0) == 0
        else { return }
        throw emptyFile
    }

    static let emptyFile = Failure(
        .badData, "empty_file",
        "The file is empty: it has no bytes, and no key can be right for it. Restore it from a backup.")

    /// The size of a regular file.
    static func size(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Fails for "-", which stands for the standard input or output elsewhere, and would become the name of a
    /// file here.
    ///
    /// - Parameter what: what would get the name.
    static func checkIsNoDash(_ path: String, _ what: String) throws {
        guard path != "-" else {
            throw ValidationError(
                "'-' is no name for \(what): it does not go to the standard output. Give './-' for a file "
                    + "of that name."
            )
        }
    }

    /// The directory that a path names a file in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Where there is room for a file that is needed for moments, as SQLite looks for it.
    static var temporaryFolder: String {
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        return folder.isEmpty ? "/var/tmp" : folder
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
