/// Where a database lives.
enum DatabaseLocation: Sendable, Equatable {
    /// A file at a path.
    case file(String)

    /// Memory of this process. Connections to one name share one database.
    case memory(name: String?)

    /// A temporary database of SQLite, for the empty path: in memory, and when that gets tight in a file that
    /// nobody sees.
    case temporary

    /// The location of a path, as SQLite understands it: `":memory:"` and `""` are no files.
    init(path: String) {
        switch path {
        case ":memory:": self = .memory(name: nil)
        case "": self = .temporary
        default: self = .file(path)
        }
    }

    /// The path as users see it.
    var path: String {
        switch self {
        case .file(let path): path
        case .memory(nil): ":memory:"
        case .memory(let name?): "file:\(name)?mode=memory&cache=shared"
        case .temporary: ""
        }
    }

    /// Whether no other connection can share the database.
    var isPrivate: Bool {
        switch self {
        case .memory(nil), .temporary: true
        case .memory, .file: false
        }
    }

    /// Whether the database has a name in memory, by which other connections can share it.
    var isShared: Bool {
        if case .memory(.some) = self { true } else { false }
    }

    var isFile: Bool {
        if case .file = self { true } else { false }
    }
}
