import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A write-ahead log of an encrypted file")
struct ForeignLogTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("of the file itself is used after a crash", arguments: Access.allCases)
    func own(access: Access) throws {
        _ = try directory.makeFile(rows: 300)
        let crash = try directory.crashInWAL()
        let content = try directory.content(key: Keys.old)
        try directory.write(crash.file, to: "b.db")
        try directory.write(crash.log, to: "b.db-wal")
        try directory.make(access, "b.db").close()
        #expect(try directory.content("b.db", key: Keys.old) == content)
    }

    @Test("of a database that left WAL mode is forgotten, so its inode may be reused by other files")
    func identityOfFormerLog() throws {
        let names = (0..<20).map { "b\($0).db" }
        for name in names { try directory.makePool(name).close() }
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = .wal })
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); PRAGMA journal_mode = DELETE")
        }
        // Some file systems give the identity of a removed file to one of the next, here to a log.
        for name in names {
            try directory.makePool(name).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        }
        withExtendedLifetime(queue) {}
    }

    enum Attack: String, CaseIterable, Sendable {
        case plaintext, otherKey, otherSalt, otherPageSize, smallerPages
        case changedByte, exchangedNumbers, zeros, salt, withoutFirstPage
        case cut, grown, besideRollbackMode
    }

    @Test(
        "that would destroy the file is refused, and named, and nothing changes", arguments: Attack.allCases)
    func foreign(attack: Attack) throws {
        _ = try directory.makeFile(rows: 300)
        let own = try directory.crashInWAL()
        let content = try directory.content(key: Keys.old)
        if attack == .besideRollbackMode {
            try directory.makeQueue().inDatabase { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        }
        let log = try forge(attack, own.log)
        let before = try directory.bytes(of: "a.db")
        try directory.write(log, to: "a.db-wal")
        let files = try directory.snapshot()

        let path = directory.path("a.db-wal")
        let misfits = try directory.openings(
            of: "a.db", doNotFailWith: .foreignSideFile(path: path, isFileWhole: true))
        #expect(misfits == [])
        #expect(try directory.snapshot().filter { !$0.key.hasSuffix("-shm") } == files)
        #expect(try directory.bytes(of: "a.db") == before)

        try FileManager.default.moveItem(atPath: path, toPath: directory.path("moved"))
        #expect(try directory.content(key: Keys.old) == content)
    }

    private func forge(_ attack: Attack, _ own: [UInt8]) throws -> [UInt8] {
        let pageCount = UInt32(try directory.bytes(of: "a.db").count / 4096)
        var frames = Forgery.frames(of: own)
        func other(_ configuration: Configuration) throws -> [UInt8] {
            _ = try directory.makeFile("other.db", key: configuration.key ?? Keys.old, rows: 300) {
                $0 = configuration
            }
            defer { try? FileManager.default.removeItem(atPath: directory.path("other.db")) }
            return try directory.crashInWAL("other.db", configuration).log
        }
        switch attack {
        case .plaintext, .besideRollbackMode:
            let configuration = Configuration().with { $0.allowsPlaintext = true }
            let queue = try directory.makeQueue("plain.db", configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB)") }
            try queue.close()
            defer {
                for name in ["plain.db", "plain.db-shm"] {
                    try? FileManager.default.removeItem(atPath: directory.path(name))
                }
            }
            return try directory.crashInWAL(
                "plain.db", configuration, sql: "INSERT INTO t (a, b) VALUES ('a', randomblob(9000))"
            ).log
        case .otherKey: return try other(.rawKeyed(0x17))
        case .otherSalt: return try other(.rawKeyed)
        case .otherPageSize: return try other(.rawKeyed.with { $0.cipher = .sqlcipher(format: 3) })
        case .smallerPages:
            // The number of pages matches the file.
            let page = [UInt8](repeating: 7, count: 1024)
            return Forgery.log(pageSize: 1024, pageCount: pageCount, frames: [(2, page), (3, page)])
        case .changedByte:
            frames[frames.count - 2].content[100] ^= 1
            return Forgery.log(pageCount: pageCount, frames: frames)
        case .exchangedNumbers:
            // The last frames of their pages.
            let (first, second) = (frames.count - 1, frames.count - 2)
            (frames[first].page, frames[second].page) = (frames[second].page, frames[first].page)
            return Forgery.log(pageCount: pageCount, frames: frames)
        case .zeros:
            return Forgery.log(pageCount: pageCount, frames: [(3, [UInt8](repeating: 0, count: 4096))])
        case .salt:
            var page = Array(try directory.bytes(of: "a.db")[0..<4096])
            page[7] ^= 1
            return Forgery.log(pageCount: pageCount, frames: [(1, page)])
        case .withoutFirstPage:
            // The engine would read page 1 from the file, and nothing would go wrong until a checkpoint.
            let foreign = Forgery.frames(of: try other(.rawKeyed)).filter { $0.page > 1 }
            return Forgery.log(pageCount: pageCount, frames: foreign)
        case .cut: return Forgery.log(pageCount: 1, frames: frames.filter { $0.page == 1 } + [frames[0]])
        case .grown: return Forgery.log(pageCount: 0x7fff_fff0, frames: frames)
        }
    }

    @Test(
        "is judged by the last frame of each page: earlier frames are not used",
        arguments: Access.allCases)
    func earlierFrames(access: Access) throws {
        _ = try directory.makeFile(rows: 300)
        let own = try directory.crashInWAL()
        let content = try directory.content(key: Keys.old)
        var frames = Forgery.frames(of: own.log)
        let earlier = frames.indices.filter { index in
            frames[(index + 1)...].contains { $0.page == frames[index].page }
        }
        try #require(!earlier.isEmpty)
        for index in earlier { frames[index].content = [UInt8](repeating: 7, count: 4096) }
        try directory.write(own.file, to: "b.db")
        try directory.write(
            Forgery.log(pageCount: UInt32(own.file.count / 4096), frames: frames), to: "b.db-wal")
        let writer = try directory.make(access, "b.db")
        try writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try writer.close()
        #expect(try directory.content("b.db", key: Keys.old) == content)
        #expect(try DatabaseFile(path: directory.path("b.db")).verify(key: Keys.old).isIntact)
    }

    @Test("without a complete transaction is ignored")
    func idle() throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let page = [UInt8](repeating: 7, count: 4096)
        var broken = Forgery.log(pageCount: 1, frames: [(1, page)])
        broken[60] ^= 1
        var uncommitted = Forgery.log(pageCount: 0, frames: [(1, page), (2, page)])
        uncommitted[31] ^= 0
        for log in [[], [1, 2, 3], broken, uncommitted, [UInt8](repeating: 0, count: 5000)] {
            try directory.write(log, to: "a.db-wal")
            #expect(try directory.content(key: Keys.old) == content)
        }
    }

    @Test(
        "that another queue or pool of this process has open is checked by each one",
        arguments: Access.allCases)
    func openElsewhere(access: Access) throws {
        _ = try directory.makeFile(wal: true, rows: 300)
        let pageCount = UInt32(try directory.bytes(of: "a.db").count / 4096)
        let first = try directory.make(access, "a.db")
        try first.write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('x')") }
        // Write it to the file that the first pool has open.
        try directory.write(
            Forgery.log(pageCount: pageCount, frames: [(3, [UInt8](repeating: 0, count: 4096))]),
            to: "a.db-wal")
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("a.db").close() }
        #expect(
            error?.encryptionFailure == .foreignSideFile(path: directory.path("a.db-wal"), isFileWhole: true))
        try? first.close()
    }

    @Test(
        "of a former file with the same name and key is refused while a pool still has that file open"
    )
    func sharedLog() throws {
        // With the salt in the key, nothing in the pages distinguishes the files.
        let key = DatabaseKey.rawKey(
            [UInt8](repeating: 0x42, count: 32), salt: [UInt8](repeating: 5, count: 16))
        let configuration = Configuration().with { $0.key = key }
        let pool = try directory.makePool("a.db", configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let backup = try directory.bytes(of: "a.db")
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try FileManager.default.removeItem(atPath: directory.path("a.db"))
        try directory.write(backup, to: "a.db")
        let error = #expect(throws: DatabaseError.self) { _ = try directory.makePool("a.db", configuration) }
        #expect(
            error?.encryptionFailure == .foreignSideFile(path: directory.path("a.db-wal"), isFileWhole: true))
        #expect(try directory.bytes(of: "a.db") == backup)
        try pool.close()
    }
}
