import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite(
    "Databases in folders that cannot be written to",
    .enabled(if: othersReachTemporaryDirectory, "needs a temporary folder that other users can reach"))
struct UnwritablePlaceTests {
    /// Makes `a.db` in WAL mode with two rows, and `log.db` with a WAL that contains the second row. Neither
    /// has an index file.
    private static func fill(_ directory: TestDirectory) throws {
        do {
            let pool = try directory.makePool()
            try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: pool.path + suffix, toPath: directory.path("log.db\(suffix)"))
            }
        }
        try #require(directory.fileNames() == ["a.db", "log.db", "log.db-wal"])
        for name in directory.fileNames() { setMode(directory.path(name), 0o644) }
        setMode(directory.path, 0o555)
    }

    private static let reading = Configuration.rawKeyed.with { $0.readonly = true }
    private static let key = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
    private static let count = "SELECT count(*) FROM t"

    @Test(
        "a WAL database opens for reading, with the commits of its log, and changes nothing",
        arguments: Access.allCases, ["a.db", "log.db"])
    func opens(access: Access, name: String) async {
        await #expect(processExitsWith: .success) { [access, name] in
            try withTestDirectory { directory in
                try UnwritablePlaceTests.fill(directory)
                let before = try directory.fileNames().map { try directory.bytes(of: $0) }
                try asOrdinaryUser {
                    let writer = try directory.make(access, name, UnwritablePlaceTests.reading)
                    #expect(try writer.int(UnwritablePlaceTests.count) == 2)
                    let error = #expect(throws: DatabaseError.self) {
                        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
                    }
                    #expect(error?.resultCode == .SQLITE_READONLY)
                    #expect(try writer.int(UnwritablePlaceTests.count) == 2)
                    try writer.writeWithoutTransaction { db in
                        let finding = try String.fetchOne(db, sql: "PRAGMA integrity_check")
                        #expect(finding == "ok")
                        _ = try? db.checkpoint(.truncate)
                    }
                    #expect(
                        try DatabaseFile(path: directory.path(name)).verify(key: UnwritablePlaceTests.key)
                            .isIntact)
                    try writer.close()
                    // A writable connection to a file that this user cannot write.
                    #expect(try directory.make(access, name, .rawKeyed).int(UnwritablePlaceTests.count) == 2)
                }
                setMode(directory.path, 0o755)
                #expect(directory.fileNames() == ["a.db", "log.db", "log.db-wal"])
                #expect(try directory.fileNames().map { try directory.bytes(of: $0) } == before)
                #expect(try directory.make(access, name, .rawKeyed).int(UnwritablePlaceTests.count) == 2)
            }
        }
    }

    @Test("an attached WAL database is read there, too")
    func attached() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                try UnwritablePlaceTests.fill(directory)
                try asOrdinaryUser {
                    let queue = try DatabaseQueue(configuration: .rawKeyed)
                    try queue.inDatabase { db in
                        for name in ["a.db", "log.db"] {
                            try db.execute(sql: "ATTACH '\(directory.path(name))' AS x")
                            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM x.t") == 2)
                            try db.execute(sql: "DETACH x")
                        }
                    }
                }
                setMode(directory.path, 0o755)
            }
        }
    }

    @Test(
        "a read-write connection fails with an error that says the folder is not writable",
        arguments: Access.allCases)
    func refused(access: Access) async {
        await #expect(processExitsWith: .success) { [access] in
            try withTestDirectory { directory in
                try UnwritablePlaceTests.fill(directory)
                for name in directory.fileNames() { setMode(directory.path(name), 0o666) }
                try asOrdinaryUser {
                    for name in ["a.db", "log.db"] {
                        let error = #expect(throws: DatabaseError.self) {
                            try directory.make(access, name, .rawKeyed).int(UnwritablePlaceTests.count)
                        }
                        #expect(error?.extendedResultCode == .SQLITE_READONLY_DIRECTORY)
                        #expect(error?.message?.contains("is not writable") == true)
                        let reader = try directory.make(access, name, UnwritablePlaceTests.reading)
                        #expect(try reader.int(UnwritablePlaceTests.count) == 2)
                    }
                }
                setMode(directory.path, 0o755)
                #expect(directory.fileNames() == ["a.db", "log.db", "log.db-wal"])
            }
        }
    }

    @Test(
        "a read after another process has changed the database fails, and the next opening sees the change",
        .enabled(if: getuid() == 0, "needs two users"), arguments: Access.allCases, ["a.db", "log.db"])
    func changed(access: Access, name: String) async {
        await #expect(processExitsWith: .success) { [access, name] in
            try withTestDirectory { directory in
                try UnwritablePlaceTests.fill(directory)
                var reader: (any DatabaseWriter)?
                try asOrdinaryUser {
                    reader = try directory.make(access, name, UnwritablePlaceTests.reading)
                    #expect(try reader?.int(UnwritablePlaceTests.count) == 2)
                }
                // The folder's permissions do not restrict the superuser.
                let script =
                    "PRAGMA key = \"x'\(String(repeating: "42", count: 32))'\"; INSERT INTO t VALUES (3);"
                let run = try ChildProcess.run(
                    "sqlcipher", [directory.path(name)], input: Data(script.utf8))
                try #require(run.status == 0 && !run.errorText.contains("rror"), "\(run.errorText)")
                try asOrdinaryUser {
                    let error = #expect(throws: DatabaseError.self) {
                        try reader?.int(UnwritablePlaceTests.count)
                    }
                    #expect(error?.message?.contains("open it again") == true, "\(error as Any)")
                    try reader?.close()
                    let other = try directory.make(access, name, UnwritablePlaceTests.reading)
                    #expect(try other.int(UnwritablePlaceTests.count) == 3)
                    try other.close()
                }
                setMode(directory.path, 0o755)
            }
        }
    }
}
