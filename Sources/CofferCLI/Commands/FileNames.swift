internal import Glibc

enum FileNames {
    /// How to name files in a question.
    static func subject(_ paths: [String]) -> String {
        paths.count == 1 ? paths[0] : TextLayout.counted(paths.count, "file", "files")
    }

    /// Fails for a mistyped name, and for a file that is closed to this user, before anybody is asked for a key.
    static func checkReadable(_ path: String) throws(Failure) {
        guard unsafe access(path, F_OK) == 0 else { throw Failure(SystemError.last, "'\(path)' cannot be found", denied: .inputMissing) }
        guard unsafe access(path, R_OK) == 0 else { throw Failure(SystemError.last, "'\(path)' cannot be read", denied: .inputMissing) }
    }

    /// The directory that a path names a file in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
