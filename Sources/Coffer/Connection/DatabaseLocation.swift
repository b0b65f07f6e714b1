internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

/// The location of a database.
enum DatabaseLocation: Sendable, Equatable {
    /// A file.
    case file(FilePath)

    /// The memory of this process. Connections with the same name share one database.
    case memory(name: String?)

    /// A temporary database, which SQLite creates for the empty path. It is in memory, and spills to an
    /// unnamed file when memory runs low.
    case temporary

    /// Creates the location for a path as SQLite understands it: `":memory:"` and `""` do not name files.
    init(path: String) {
        switch path {
        case ":memory:": self = .memory(name: nil)
        case "": self = .temporary
        default: self = .file(FilePath(path))
        }
    }

    /// The path that users see.
    var path: String {
        switch self {
        case .file(let path): path.given
        case .memory(nil): ":memory:"
        case .memory(let name?): "file:\(name)?mode=memory&cache=shared"
        case .temporary: ""
        }
    }

    /// The path with which all connections are opened.
    var place: String {
        if case .file(let path) = self { path.absolute } else { path }
    }

    /// True if no other connection can share the database.
    var isPrivate: Bool {
        switch self {
        case .memory(nil), .temporary: true
        case .memory, .file: false
        }
    }

    var isFile: Bool {
        if case .file = self { true } else { false }
    }
}

/// The path of a database, resolved before its first connection is opened. Later connections must open the
/// same file, although the working directory or a symbolic link to the folder may lead elsewhere by then.
struct FilePath: Sendable, Equatable {
    let given: String
    /// The absolute path, whose folders are no symbolic links; the given path if it cannot be resolved, which
    /// SQLite will report.
    let absolute: String

    init(_ given: String) {
        self.given = given
        absolute = FilePath.resolved(folder: given.folder).map { "\($0)/\(given.lastComponent)" } ?? given
    }

    /// Returns nil if there is no such folder, or if its text leads elsewhere, as below `/proc/PID/root`.
    private static func resolved(folder: String) -> String? {
        // The dot makes this fail for a file that is not a directory.
        guard let resolved = unsafe realpath("\(folder)/.", nil) else { return nil }
        defer { unsafe free(resolved) }
        guard let text = unsafe String(validatingCString: resolved),
            FileIdentity(text) == FileIdentity(folder)
        else { return nil }
        return text == "/" ? "" : text
    }
}
