import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Full disks")
struct DiskFullTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "a file that cannot grow fails with a typed error, loses nothing, and works again when there is space",
        arguments: Access.allCases)
    func fileSizeLimit(access: Access) async {
        await #expect(processExitsWith: .success) { [access] in
            try withTestDirectory { directory in
                // With the signal ignored, the write fails and the process survives.
                signal(SIGXFSZ, SIG_IGN)
                let writer = try directory.make(
                    access, "a.db", .rawKeyed.with { $0.pageCacheSize = 64 * 1024 })
                try writer.write {
                    try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(50000)), (2)")
                }
                try limitFileSize(400 * 1024)
                for _ in 0..<5 {
                    let error = #expect(throws: DatabaseError.self) { try writer.write { try fill($0) } }
                    #expect(error?.resultCode == .SQLITE_FULL, "\(error as Any)")
                    #expect(try writer.int("SELECT count(*) FROM t") == 2)
                }
                try limitFileSize(nil)
                try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
                try writer.close()
                let again = try directory.make(access)
                #expect(try again.int("SELECT count(*) FROM t") == 3)
                #expect(try again.problems().isEmpty)
            }
        }
    }

    @Test(
        "an in-place rotation that cannot write its journal fails with a typed error, keeping the old key")
    func rotationInPlace() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                signal(SIGXFSZ, SIG_IGN)
                let queue = try directory.makeQueue("a.db", .rawKeyed)
                try queue.write { db in
                    try db.execute(sql: "CREATE TABLE t (a)")
                    for _ in 0..<100 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
                }
                var options = DatabaseFile.RotationOptions()
                options.method = .inPlace
                let key = DatabaseKey.rawKey([UInt8](repeating: 9, count: 32))
                try limitFileSize(100 * 1024)
                let error = #expect(throws: DatabaseFileError.self) {
                    try queue.rotateKey(to: key, options: options)
                }
                #expect(error?.reason == .diskFull, "\(error as Any)")
                #expect(error?.isPublished == false)
                try limitFileSize(nil)
                #expect(try queue.int("SELECT count(*) FROM t") == 100)
                try queue.close()
                let again = try directory.makeQueue("a.db", .rawKeyed)
                #expect(try again.problems().isEmpty)
            }
        }
    }

    @Test(
        "a write without a free inode for another file fails with a typed error, and loses nothing",
        .enabled(if: DiskFullTests.canMount))
    func noInode() throws {
        let disk = try directory.makeFolder("disk")
        let queue = try directory.makeQueue("a.db", .rawKeyed)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
        try queue.close()
        // The mount is in a private namespace and disappears with it. It has one inode for the folder, and
        // one for the file.
        let process = try ChildProcess.run(
            "unshare",
            [
                "-m", "sh", "-ec",
                "mount -t tmpfs -o size=1m,nr_inodes=2 none \"$0\"; cp \"$1\" \"$0/a.db\"; shift; exec \"$@\"",
                disk, directory.path("a.db"), ChildProcess.built("CofferTestWorker"),
                "insert-without-journal",
                "\(disk)/a.db",
            ])
        #expect(process.status == 0, "\(process.errorText)")
        #expect(
            process.outputText
                == "13 (database or disk is full): database or disk is full: No space left on device\nkept 2\n"
        )
    }

    @Test(
        "a write to a full disk fails with a typed error, and loses nothing",
        .enabled(if: DiskFullTests.canMount), arguments: Access.allCases)
    func fullDisk(access: Access) throws {
        let disk = try directory.makeFolder("disk")
        // The mount is in a private namespace and disappears with it.
        let process = try ChildProcess.run(
            "unshare",
            [
                "-m", "sh", "-ec", "mount -t tmpfs -o size=1m none \"$0\"; exec \"$@\"", disk,
                ChildProcess.built("CofferTestWorker"),
                "fill",
                "\(disk)/a.db", access.rawValue,
            ])
        #expect(process.status == 0, "\(process.errorText)")
        #expect(process.outputText == "SQLITE_FULL\nkept 2\nafterwards 3 ok\n")
    }

    @Test("a new database on a full disk fails with a typed error, and leaves no plaintext")
    func newFile() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                signal(SIGXFSZ, SIG_IGN)
                try limitFileSize(0)
                for access in Access.allCases {
                    let error = #expect(throws: DatabaseError.self) { try directory.make(access) }
                    #expect(error?.resultCode == .SQLITE_FULL, "\(error as Any)")
                    #expect(
                        directory.fileNames().allSatisfy { (try? directory.bytes(of: $0).isEmpty) == true })
                }
                try limitFileSize(nil)
                for access in Access.allCases {
                    try directory.make(access).write { try $0.execute(sql: "CREATE TABLE \(access) (a)") }
                }
            }
        }
    }

    private static let canMount: Bool = {
        let isPossible =
            (try? ChildProcess.run("unshare", ["-m", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"])
                .status) == 0
        if !isPossible {
            print(
                "no file system can be mounted here: a full disk is tried with a limit on the file size only")
        }
        return isPossible
    }()
}

private func fill(_ db: Database) throws {
    try db.execute(sql: "DELETE FROM t")
    for _ in 0..<300 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
}

private func limitFileSize(_ bytes: UInt?) throws {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
}
