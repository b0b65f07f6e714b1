import Coffer
import CofferTestSupport
import Foundation
import Testing

/// `ATTACH` opens a file, unlocks it and rolls back its journal in a single call to the engine.
@Suite("A side file of an attached file")
struct AttachedSideFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// The ways in which a statement supplies the key.
    enum Way: String, CaseIterable, Sendable {
        case inherited, inheritedWithSameSalt, inheritedPassphrase, passphrase, rawKey, rawKeyAsBlob,
            rawKeyWithSalt

        var isPassphrase: Bool {
            self == .passphrase || self == .inheritedPassphrase || self == .inheritedWithSameSalt
        }
        var configuration: Configuration { isPassphrase ? .passphrase("secret") : .rawKeyed }
    }

    private func attach(_ way: Way, _ name: String = "a.db") throws -> SQL {
        let path = directory.path(name)
        let digits =
            "x'" + [UInt8](repeating: 0x42, count: 32).map { String(format: "%02x", $0) }.joined() + "'"
        switch way {
        case .inherited, .inheritedWithSameSalt, .inheritedPassphrase: return "ATTACH \(path) AS b"
        case .passphrase: return "ATTACH \(path) AS b KEY 'secret'"
        case .rawKey: return "ATTACH \(path) AS b KEY \(digits)"
        case .rawKeyAsBlob: return "ATTACH \(path) AS b KEY \(Data(digits.utf8))"
        case .rawKeyWithSalt:
            let salt = try directory.bytes(of: name).prefix(16).map { String(format: "%02x", $0) }.joined()
            let text = String(digits.dropLast()) + salt + "'"
            return "ATTACH \(path) AS b KEY \(text)"
        }
    }

    private func makeMain(_ way: Way) throws -> DatabaseQueue {
        guard way != .inheritedWithSameSalt else {
            try directory.write(directory.bytes(of: "a.db"), to: "main.db")
            return try directory.makeQueue("main.db", way.configuration)
        }
        let isForeign = way == .passphrase || way == .rawKey || way == .rawKeyAsBlob || way == .rawKeyWithSalt
        return try directory.makeQueue("main.db", isForeign ? .rawKeyed(0x17) : way.configuration)
    }

    @Test(
        "is refused if it does not belong to the file, and nothing changes", arguments: Way.allCases,
        ["-journal", "-wal"])
    func foreign(way: Way, suffix: String) throws {
        let key = try #require(way.configuration.key)
        _ = try directory.makeFile(key: key, rows: 300)
        let before = try directory.bytes(of: "a.db")
        let main = try makeMain(way)
        let zeros = [UInt8](repeating: 0, count: 4096)
        try directory.write(
            suffix == "-wal"
                ? Forgery.log(pageCount: UInt32(before.count / 4096), frames: [(3, zeros)])
                : Forgery.journal(pageCount: 1, records: [(1, zeros)]),
            to: "a.db\(suffix)")
        let side = try directory.bytes(of: "a.db\(suffix)")
        let sql = try attach(way)
        for _ in 1...2 {
            let error = #expect(throws: DatabaseError.self) {
                try main.inDatabase { db in
                    try db.execute(literal: sql)
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM b.t")
                }
            }
            #expect(error?.message?.contains("a.db\(suffix)") == true, "\(String(describing: error))")
        }
        #expect(try directory.bytes(of: "a.db") == before)
        #expect(try directory.bytes(of: "a.db\(suffix)") == side)
        for name in directory.fileNames() where name.hasPrefix("a.db-") {
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
        try main.inDatabase { db in
            try db.execute(literal: sql)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM b.t") == 300)
        }
    }

    @Test(
        "is checked even if the name of the directory is not valid text",
        arguments: [Way.passphrase, .rawKey, .inheritedWithSameSalt])
    func nameOfBytes(way: Way) throws {
        _ = try directory.makeFile(key: #require(way.configuration.key), rows: 300)
        let main = try makeMain(way)
        let folder = directory.path("d").utf8.map { CChar(bitPattern: $0) } + [-1, 0]
        try #require(unsafe mkdir(folder, 0o700) == 0 && symlink(folder, directory.path("link")) == 0)
        defer {
            for name in ["a.db", "a.db-journal"] {
                try? FileManager.default.removeItem(atPath: directory.path("link/\(name)"))
            }
            unsafe rmdir(folder)
        }
        let before = try directory.bytes(of: "a.db")
        try directory.write(before, to: "link/a.db")
        let journal = Forgery.journal(pageCount: 1, records: [(1, [UInt8](repeating: 0, count: 4096))])
        try directory.write(journal, to: "link/a.db-journal")
        let sql = try attach(way, "link/a.db")
        #expect(throws: DatabaseError.self) {
            try main.inDatabase { db in
                try db.execute(literal: sql)
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM b.t")
            }
        }
        #expect(try directory.bytes(of: "link/a.db") == before)
        #expect(try directory.bytes(of: "link/a.db-journal") == journal)
    }

    @Test("is played back if it belongs to the file", arguments: Way.allCases, [false, true])
    func own(way: Way, isLog: Bool) throws {
        let key = try #require(way.configuration.key)
        _ = try directory.makeFile(key: key, rows: 300)
        let content = "SELECT count(*) || ' ' || sum(length(a)) || ' ' || max(id) FROM "
        let crash: (file: [UInt8], side: [UInt8])
        if isLog {
            let state = try directory.crashInWAL("a.db", way.configuration)
            crash = (state.file, state.log)
        } else {
            let state = try directory.crash("a.db", way.configuration)
            crash = (state.file, state.journal)
        }
        let expected = try directory.makeQueue("a.db", way.configuration).read {
            try String.fetchOne($0, sql: content + "t")
        }
        let main = try makeMain(way)
        try directory.write(crash.file, to: "b.db")
        try directory.write(crash.side, to: isLog ? "b.db-wal" : "b.db-journal")
        let sql = try attach(way, "b.db")
        try main.inDatabase { db in
            try db.execute(literal: sql)
            #expect(try String.fetchOne(db, sql: content + "b.t") == expected)
            try db.execute(sql: "INSERT INTO b.t (a) VALUES ('more'); DETACH b")
        }
        #expect(try DatabaseFile(path: directory.path("b.db")).verify(key: key).isIntact)
    }

    @Test(
        "is not played back with a wrong key, nor into an encrypted file without one",
        arguments: [" KEY 'wrong'", " KEY ''", ""])
    func wrongKey(key: String) throws {
        _ = try directory.makeFile(rows: 300)
        let crash = try directory.crash()
        let content = try directory.content(key: Keys.old)
        try directory.write(crash.file, to: "b.db")
        try directory.write(crash.journal, to: "b.db-journal")
        let before = try directory.snapshot()
        let plain = Configuration().with { $0.allowsPlaintext = true }
        let main = try DatabaseQueue(configuration: plain)
        let error = #expect(throws: DatabaseError.self) {
            try main.inDatabase {
                try $0.execute(sql: "ATTACH ? AS b\(key)", arguments: [directory.path("b.db")])
            }
        }
        #expect(error?.resultCode == .SQLITE_NOTADB, "\(String(describing: error))")
        #expect(try directory.snapshot() == before)
        #expect(try directory.content("b.db", key: Keys.old) == content)
    }
}
