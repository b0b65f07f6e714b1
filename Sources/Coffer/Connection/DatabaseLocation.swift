/// The location of a database.
enum DatabaseLocation: Sendable, Equatable {
    /// A file at a path.
    case file(String)

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
        default: self = .file(path)
        }
    }

    /// The path that users see.
    var path: String {
        switch self {
        case .file(let path): path
        case .memory(nil): ":memory:"
        case .memory(let name?): "file:\(name)?mode=memory&cache=shared"
        case .temporary: ""
        }
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
