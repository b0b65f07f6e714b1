import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Files next to the database that belong to another user, in a directory where everyone can create files.
///
/// The engine finds the pages of a WAL through its index (`-shm`), which has no MACs. With a forged index, a
/// checkpoint writes the content of any WAL to the file.
@Suite("A side file of another user")
struct SideFileOwnerTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Creates a file that is not trusted: one that belongs to another user if the test may change owners,
    /// and otherwise one with a second name.
    private func leave(_ suffix: String, _ bytes: [UInt8], beside name: String = "a.db") throws -> String {
        let path = directory.path("\(name)\(suffix)")
        try directory.write(bytes, to: "\(name)\(suffix)")
        if getuid() == 0 {
            try #require(unsafe chown(path, 65534, 65534) == 0)
        } else {
            try #require(unsafe link(path, directory.path("second")) == 0)
        }
        return path
    }

    private func share() throws { try #require(unsafe chmod(directory.path, 0o1777) == 0) }

    @Test(
        "is refused in a shared directory before the engine opens it, and named",
        arguments: ["-wal", "-shm"], Access.allCases)
    func refused(suffix: String, access: Access) throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        try directory.makeQueue().inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        let before = try directory.bytes(of: "a.db")
        try share()
        let path = try leave(suffix, [UInt8](repeating: 0, count: suffix == "-shm" ? 32768 : 0))
        let error = #expect(throws: DatabaseError.self) { try directory.make(access, "a.db").close() }
        #expect(error?.encryptionFailure == .sideFileOfAnotherUser(path: path))
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(throws: DatabaseFileError.self) {
            try DatabaseFile(path: directory.path("a.db")).rotate(from: Keys.old, to: Keys.new)
        }
        #expect(try directory.bytes(of: "a.db") == before)
        // It is not removed either, because it belongs to another user.
        #expect(FileManager.default.fileExists(atPath: path))
        try FileManager.default.removeItem(atPath: path)
        #expect(try directory.content(key: Keys.old) == content)
    }

    @Test(
        "is refused next to a file in rollback mode, and no new journal is written into it",
        arguments: ["-wal", "-journal"])
    func rollbackMode(suffix: String) throws {
        _ = try directory.makeFile(rows: 10)
        try share()
        // The file is not hot, but the engine would write to it.
        let path = try leave(suffix, suffix == "-wal" ? [1] : [0, 1, 2])
        let before = try directory.bytes(of: "a.db")
        let error = #expect(throws: DatabaseError.self) {
            try directory.makeQueue().write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('x')") }
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(try directory.bytes(of: "a.db") == before)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "is refused for attached files and files without a key as well",
        arguments: ["-wal", "-journal", "-shm"])
    func otherConnections(suffix: String) throws {
        let plain = Configuration().with { $0.allowsPlaintext = true }
        let makers = [("plain.db", plain), ("attached.db", .rawKeyed)]
        for (name, configuration) in makers {
            let queue = try directory.makeQueue(name, configuration)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = \(suffix == "-shm" ? "WAL" : "DELETE")")
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            }
            try queue.close()
        }
        let before = try makers.map { try directory.bytes(of: $0.0) }
        let main = try directory.makeQueue("main.db")
        try share()
        for (name, _) in makers {
            try directory.write([UInt8](repeating: 7, count: 600), to: "\(name)\(suffix)")
            let path = directory.path("\(name)\(suffix)")
            try #require(unsafe getuid() == 0 ? chown(path, 65534, 65534) == 0 : link(path, path + "2") == 0)
        }
        let errors = [
            #expect(throws: DatabaseError.self) {
                try directory.makeQueue("plain.db", plain).read {
                    _ = try Int.fetchOne($0, sql: "SELECT a FROM t")
                }
            },
            #expect(throws: DatabaseError.self) {
                try main.inDatabase { db in
                    try db.execute(sql: "ATTACH '\(directory.path("attached.db"))' AS b")
                    _ = try Int.fetchOne(db, sql: "SELECT a FROM b.t")
                }
            },
        ]
        #expect(errors.allSatisfy { $0?.resultCode == .SQLITE_CANTOPEN }, "\(errors)")
        #expect(try makers.map { try directory.bytes(of: $0.0) } == before)
    }

    @Test(
        "is accepted if others cannot create files in the directory, or may write to the database itself",
        arguments: ["folder", "file"])
    func harmless(what: String) throws {
        _ = try directory.makeFile(rows: 10)
        if what == "file" {
            try share()
            try #require(unsafe chmod(directory.path("a.db"), 0o666) == 0)
        }
        _ = try leave("-shm", [])
        try directory.makeQueue().inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; INSERT INTO t (a) VALUES ('x')")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE a = 'x'") == 1)
        }
    }

    @Test(
        "is refused unless its owner may write to the database through a group or an access control list",
        .enabled(if: getuid() == 0, "needs a user who can give files away"),
        .enabled(
            if: AccessControlList.areAvailable, "needs python3, and access control lists of temporary files"),
        arguments: ["none", "group", "user", "users of a list", "member that a list refuses"])
    func writers(kind: String) throws {
        _ = try directory.makeFile(rows: 10)
        let database = directory.path("a.db")
        try share()
        try #require(unsafe chmod(database, 0o660) == 0)
        switch kind {
        case "none": break
        case "group": try #require(unsafe chown(database, 0, 65534) == 0)
        default:
            // The owner, one user, the group, the mask and others. Either 65534 may write, or only 65533.
            var entries = "02000600" + (kind == "user" ? "feff0000" : "fdff0000") + "04000000ffffffff"
            if kind.hasPrefix("member") {
                // The entry for the user takes precedence over the group.
                try #require(unsafe chown(database, 0, 65534) == 0)
                entries = "02000400feff0000" + "04000600ffffffff"
            }
            let list = "02000000" + "01000600ffffffff" + entries + "10000600ffffffff" + "20000000ffffffff"
            try #require(try AccessControlList.set(list, on: database))
        }
        let path = try leave("-shm", [])
        let use = {
            try directory.makeQueue().inDatabase {
                try $0.execute(sql: "PRAGMA journal_mode = WAL; INSERT INTO t (a) VALUES ('x')")
            }
        }
        if kind == "group" || kind == "user" { return try use() }
        let error = #expect(throws: DatabaseError.self, performing: use)
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("is refused even if the name of the directory is not valid text", arguments: ["-wal", "-shm"])
    func nameOfBytes(suffix: String) throws {
        let folder = directory.path("d").utf8.map { CChar(bitPattern: $0) } + [-1, 0]
        try #require(unsafe mkdir(folder, 0o700) == 0 && symlink(folder, directory.path("link")) == 0)
        defer {
            for name in ["a.db", "a.db\(suffix)"] {
                try? FileManager.default.removeItem(atPath: directory.path("link/\(name)"))
            }
            unsafe rmdir(folder)
        }
        let queue = try directory.makeQueue("link/a.db")
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t (a)") }
        #expect(throws: DatabaseFileError.self) { try queue.rotateKey(to: Keys.new) }
        try queue.close()
        try #require(unsafe chmod(folder, 0o1777) == 0)
        _ = try leave(suffix, [UInt8](repeating: 0, count: suffix == "-shm" ? 32768 : 0), beside: "link/a.db")
        for access in Access.allCases {
            let error = #expect(throws: DatabaseError.self) {
                try directory.make(access, "link/a.db").close()
            }
            guard case .sideFileOfAnotherUser = error?.encryptionFailure else {
                Issue.record("\(String(describing: error))"); continue
            }
        }
    }

    @Test(
        "is refused without blocking if it is a named pipe, with any owner",
        arguments: ["-journal", "-wal", "-shm"],
        Access.allCases)
    func pipe(suffix: String, access: Access) throws {
        _ = try directory.makeFile(rows: 10)
        if suffix != "-journal" {
            try directory.makeQueue().inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        }
        let path = directory.path("a.db\(suffix)")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let error = #expect(throws: DatabaseError.self) { try directory.make(access, "a.db").close() }
        #expect(error?.encryptionFailure == .sideFileOfAnotherUser(path: path))
        #expect(throws: DatabaseFileError.self) {
            try DatabaseFile(path: directory.path("a.db")).rotate(from: Keys.old, to: Keys.new)
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "is not confused with the process's own side files in a shared directory", arguments: Access.allCases)
    func own(access: Access) throws {
        _ = try directory.makeFile(rows: 10)
        try share()
        for mode in [Configuration.JournalModeConfiguration.wal, .default] {
            let writer = try directory.make(access, "a.db", .rawKeyed.with { $0.journalMode = mode })
            try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('x')") }
            #expect(try directory.content(key: Keys.old) != [])
            try writer.close()
        }
        try directory.makeQueue().inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = DELETE; INSERT INTO t (a) VALUES ('x')")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE a = 'x'") == 3)
        }
        #expect(directory.fileNames() == ["a.db"])
    }
}
