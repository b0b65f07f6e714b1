import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Paths other than databases")
struct BadPathTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "a path other than a regular file is refused at once, and nothing is created next to it",
        arguments: Access.allCases)
    func specialFiles(access: Access) throws {
        let isPipe = unsafe mkfifo(directory.path("fifo"), 0o600) == 0
        try #require(isPipe)
        _ = try directory.makeFolder("folder")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("loop"), withDestinationPath: directory.path("loop"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("to folder"), withDestinationPath: directory.path("folder"))
        let before = Set(directory.fileNames())
        let paths = [
            directory.path, directory.path("folder"), directory.path("folder/"), directory.path("to folder"),
            directory.path("loop"),
            directory.path("fifo"), directory.path("missing/a.db"), directory.path("missing/../a.db"),
            "/dev/null", "/dev/full",
            "/dev/zero",
            "/proc/self/mem/a.db", "/", ".", "..", directory.path(String(repeating: "x", count: 300)),
            directory.path(String(repeating: "x/", count: 3000)) + "a.db",
        ]
        for path in paths {
            for readonly in [false, true] {
                let error = #expect(throws: DatabaseError.self, "\(path)") {
                    try open(access, path, .rawKeyed.with { $0.readonly = readonly })
                }
                #expect(error?.resultCode == .SQLITE_CANTOPEN, "\(path.prefix(100)): \(error as Any)")
                #expect(error?.message?.contains(path) == true, "\(error as Any)")
            }
        }
        #expect(Set(directory.fileNames()) == before)
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-journal"))
    }

    @Test(
        "a NUL character in a path is refused, and no other file is opened instead",
        arguments: Access.allCases)
    func zero(access: Access) throws {
        for path in [
            directory.path("a.db\0"), directory.path("a.db\0.other"), "\0", ":memory:\0",
            "\0\(directory.path)/a.db",
        ] {
            let error = #expect(throws: DatabaseError.self) { try open(access, path, .rawKeyed) }
            #expect(error?.resultCode == .SQLITE_CANTOPEN)
        }
        #expect(directory.fileNames().isEmpty)
    }

    @Test(
        "names are taken literally",
        arguments: [
            "a b.db", "é中𝄞.db", "e\u{301}.db", "a.db?key=secret&hexkey=00", "a%00b.db", "a%20b.db",
            "file:a.db", "file:a.db?mode=memory",
            "a.db?mode=ro&cache=shared", "'; DROP TABLE t; --", "\"q\".db", "a#b", "-x", "a\nb\tc", "\u{1}",
            "~", "$HOME", "*", "con:",
            ".hidden",
            ":memory:", "a.db-journal", String(repeating: "n", count: 240),
        ], [Access.queue, .pool])
    func literalNames(name: String, access: Access) throws {
        do {
            let writer = try directory.make(access, name)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            #expect(writer.path == directory.path(name))
        }
        #expect(directory.fileNames().contains(name))
        #expect(directory.fileNames().allSatisfy { $0.hasPrefix(name) })
        #expect(try directory.make(access, name).int("SELECT a FROM t") == 1)
        #expect(throws: DatabaseError.self) { try directory.make(access, name, .rawKeyed(1)) }
        #expect(throws: DatabaseError.self) { try directory.make(access, name, Configuration()) }
    }

    @Test("a relative name that looks like a URI is taken literally")
    func relativeURI() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                try #require(FileManager.default.changeCurrentDirectoryPath(directory.path))
                for name in [
                    "file:a.db?mode=memory", "file:/tmp/x?key=y", "file:///b.db", "memory", ":Memory:",
                ] {
                    if name.contains("/") {
                        #expect(throws: DatabaseError.self) {
                            try DatabaseQueue(path: name, configuration: .rawKeyed)
                        }
                    } else {
                        let queue = try DatabaseQueue(path: name, configuration: .rawKeyed)
                        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                        try queue.close()
                        #expect(try directory.bytes(of: name).count == 8192)
                        #expect(
                            try DatabaseQueue(path: name, configuration: .rawKeyed).read {
                                try $0.tableExists("t")
                            })
                    }
                }
            }
        }
    }

    @Test("a symbolic link opens its target, with the log next to the target")
    func symbolicLink() throws {
        _ = try directory.makeFolder("real")
        _ = try directory.makePool("real/a.db")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link"), withDestinationPath: directory.path("real/a.db"))
        let pool = try directory.makePool("link")
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(directory.fileNames().contains("real/a.db-wal"))
        #expect(!directory.fileNames().contains("link-wal"))
    }

    @Test("SQL with a NUL character is refused, not cut")
    func zeroInSQL() throws {
        let queue = try directory.makeQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
            for sql in [
                "DELETE FROM t\0 WHERE id = 1", "\0", "SELECT 1;\0", "SELECT 1 -- a\0b", "SELECT 'a\0b'",
                "SELECT 1; \0 DELETE FROM t",
            ] {
                #expect(throws: DatabaseError.self, "\(sql.debugDescription)") { try db.execute(sql: sql) }
                #expect(throws: DatabaseError.self, "\(sql.debugDescription)") {
                    try db.makeStatement(sql: sql)
                }
                #expect(throws: DatabaseError.self, "\(sql.debugDescription)") {
                    try Row.fetchAll(db, sql: sql)
                }
            }
        }
    }

    private func open(_ access: Access, _ path: String, _ configuration: Configuration) throws {
        switch access {
        case .queue: _ = try DatabaseQueue(path: path, configuration: configuration)
        case .pool: _ = try DatabasePool(path: path, configuration: configuration)
        }
    }
}
