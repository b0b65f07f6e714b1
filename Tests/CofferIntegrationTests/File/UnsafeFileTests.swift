import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Rotating files that cannot be replaced")
struct UnsafeFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let old = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
    private static let new = DatabaseKey.rawKey([UInt8](repeating: 0x17, count: 32))

    private func makeFile(_ name: String) throws {
        let queue = try directory.makeQueue(name)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(50000))")
        }
        try queue.close()
    }

    private func rotate(
        _ name: String, _ options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions()
    ) -> DatabaseFileError? {
        do {
            try DatabaseFile(path: directory.path(name)).rotate(
                from: UnsafeFileTests.old, to: UnsafeFileTests.new, options: options)
            return nil
        } catch {
            return error as? DatabaseFileError
        }
    }

    private func snapshot() throws -> [String: [UInt8]] {
        try Dictionary(uniqueKeysWithValues: directory.fileNames().map { try ($0, directory.bytes(of: $0)) })
    }

    @Test("links of both kinds, folders, pipes and missing files are refused, and stay unchanged")
    func links() throws {
        try makeFile("a.db")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link.db"), withDestinationPath: directory.path("a.db"))
        #expect(rotate("link.db")?.reason == .unsafeFile(.symbolicLink))
        try FileManager.default.linkItem(atPath: directory.path("a.db"), toPath: directory.path("b.db"))
        let before = try snapshot()
        #expect(rotate("a.db")?.reason == .unsafeFile(.hardLinks(count: 2)))
        let isPipe = unsafe mkfifo(directory.path("pipe"), 0o600) == 0
        try #require(isPipe)
        #expect(rotate("pipe")?.reason == .unsafeFile(.notARegularFile))
        try FileManager.default.removeItem(atPath: directory.path("pipe"))
        #expect(rotate("none")?.reason == .missing)
        #expect(try snapshot() == before)
        try FileManager.default.removeItem(atPath: directory.path("b.db"))
        #expect(rotate("a.db") == nil)
    }

    @Test(
        "names are taken literally",
        arguments: ["a b é中.db", "file:a.db?mode=memory", "-x", "'; DROP TABLE t; --", "a%20b"])
    func names(name: String) throws {
        try makeFile(name)
        #expect(rotate(name) == nil)
        #expect(directory.fileNames() == [name])
        #expect(try DatabaseFile(path: directory.path(name)).verify(key: UnsafeFileTests.new).isIntact)
    }

    @Test("a name that leaves no room for the names of side files is refused with a typed error")
    func longNames() throws {
        let name = String(repeating: "n", count: 245)
        try makeFile(name)
        let before = try snapshot()
        #expect(rotate(name)?.reason == .pathTooLong)
        #expect(try snapshot() == before)
        try makeFile(String(repeating: "n", count: 240))
        #expect(rotate(String(repeating: "n", count: 240)) == nil)
        let deep = String(repeating: "d", count: 200)
        _ = try directory.makeFolder("\(deep)/\(deep)")
        try makeFile("\(deep)/\(deep)/a.db")
        _ = rotate("\(deep)/\(deep)/a.db")
        #expect(try DatabaseFile(path: directory.path("\(deep)/\(deep)/a.db")).inspect().leftovers.isEmpty)
    }

    @Test(
        "a rotation that hits the file size limit leaves the source untouched",
        arguments: [100, 20_000, 40_000])
    func fullDisk(limit: UInt) async {
        await #expect(processExitsWith: .success) { [limit] in
            try withTestDirectory { directory in
                signal(SIGXFSZ, SIG_IGN)
                let queue = try directory.makeQueue("a.db")
                try queue.write {
                    try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(50000))")
                }
                let before = try directory.bytes(of: "a.db")
                var file = rlimit()
                unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &file)
                file.rlim_cur = rlim_t(limit)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &file) == 0)
                let key = DatabaseKey.rawKey([UInt8](repeating: 0x17, count: 32))
                let live = #expect(throws: DatabaseFileError.self) { try queue.rotateKey(to: key) }
                #expect(live?.reason == .diskFull)
                try queue.close()
                let error = #expect(throws: DatabaseFileError.self) {
                    try DatabaseFile(path: directory.path("a.db")).rotate(
                        from: .rawKey([UInt8](repeating: 0x42, count: 32)), to: key)
                }
                #expect(error?.reason == .diskFull)
                #expect(try directory.bytes(of: "a.db") == before)
                #expect(directory.fileNames() == ["a.db"])
            }
        }
    }

    @Test(
        "a rotation by an unprivileged user is refused if the folder or the file has another owner",
        .enabled(if: getuid() == 0),
        arguments: ["folder", "file"])
    func otherUser(what: String) async {
        await #expect(processExitsWith: .success) { [what] in
            try withTestDirectory { directory in
                let queue = try directory.makeQueue("a.db")
                try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                try queue.close()
                let path = directory.path("a.db")
                let before = try directory.bytes(of: "a.db")
                let nobody: UInt32 = 65534
                // Coffer rejects the one that belongs to another user: the folder or the file.
                try #require(unsafe chmod(directory.path, what == "folder" ? 0o755 : 0o777) == 0)
                try #require(unsafe chmod(path, 0o666) == 0)
                if what == "folder" { try #require(unsafe chown(path, nobody, nobody) == 0) }
                try #require(setgid(nobody) == 0 && setuid(nobody) == 0)
                let error = #expect(throws: DatabaseFileError.self) {
                    try DatabaseFile(path: path).rotate(
                        from: .rawKey([UInt8](repeating: 0x42, count: 32)),
                        to: .rawKey([UInt8](repeating: 0x17, count: 32)))
                }
                switch error?.reason {
                case .unsafeFile(.directory)?: #expect(what == "folder")
                case .unsafeFile(.owner)?: #expect(what == "file")
                default: Issue.record("\(error as Any)")
                }
                #expect(try directory.bytes(of: "a.db") == before)
                #expect(directory.fileNames() == ["a.db"])
            }
        }
    }
}
