import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("A journal or log next to a missing or empty file")
struct EmptyFilePlaceTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func expectRefusal(
        _ side: String, _ body: () throws -> Void, at place: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DatabaseError.self, sourceLocation: place) { try body() }
        #expect(
            error?.encryptionFailure == .foreignSideFile(path: directory.path(side), isFileWhole: true),
            sourceLocation: place)
    }

    @Test(
        "is not deleted if it is an unrelated file", arguments: ["a.db-wal", "a.db-journal"], Access.allCases)
    func thesis(side: String, access: Access) throws {
        let thesis = Array("My thesis. Chapter one.".utf8)
        try directory.write(thesis, to: side)
        for isThere in [false, true] {
            if isThere { try directory.write([], to: "a.db") }
            let names = directory.fileNames()
            expectRefusal(side) { _ = try directory.make(access, "a.db") }
            expectRefusal(side) {
                _ = try directory.make(
                    access, "a.db", Configuration().with { $0.prepareDatabase { try $0.usePassphrase("p") } })
            }
            if isThere {
                expectRefusal(side) {
                    _ = try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true })
                }
            }
            #expect(directory.fileNames() == names)
            #expect(try directory.bytes(of: side) == thesis)
        }
        try FileManager.default.removeItem(atPath: directory.path(side))
        try directory.make(access, "a.db").close()
    }

    @Test("is not deleted by ATTACH", arguments: ["b.db-wal", "b.db-journal"], ["", " KEY 'secret'"])
    func attached(side: String, key: String) throws {
        let queue = try directory.makeQueue()
        try directory.write([1, 2, 3], to: side)
        for isThere in [false, true] {
            if isThere { try directory.write([], to: "b.db") }
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase {
                    try $0.execute(sql: "ATTACH ? AS b\(key)", arguments: [directory.path("b.db")])
                }
            }
            #expect(error?.message?.contains(side) == true, "\(String(describing: error))")
            #expect(try directory.bytes(of: side) == [1, 2, 3])
        }
    }

    @Test("is found next to the file that a link leads to")
    func link() throws {
        _ = try directory.makeFolder("real")
        try directory.write([], to: "real/a.db")
        try directory.write([1, 2, 3], to: "real/a.db-wal")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link.db"), withDestinationPath: "real/a.db")
        expectRefusal("real/a.db-wal") { _ = try directory.makeQueue("link.db") }
        #expect(try directory.bytes(of: "real/a.db-wal") == [1, 2, 3])
    }

    @Test("is used by its database once the database is moved back", arguments: [false, true])
    func movedDatabase(isLog: Bool) throws {
        _ = try directory.makeFile(rows: 300)
        let crash: (file: [UInt8], side: [UInt8])
        if isLog {
            let state = try directory.crashInWAL()
            crash = (state.file, state.log)
        } else {
            let state = try directory.crash()
            crash = (state.file, state.journal)
        }
        let content = try directory.content(key: Keys.old)
        let side = isLog ? "b.db-wal" : "b.db-journal"
        try directory.write(crash.side, to: side)
        expectRefusal(side) { _ = try directory.makeQueue("b.db") }
        try directory.write(crash.file, to: "b.db")
        #expect(try directory.content("b.db", key: Keys.old) == content)
    }

    @Test("is played back as before if it is of an interrupted first transaction, or has no bytes")
    func firstTransaction() throws {
        let unsynced =
            [UInt8](repeating: 0, count: 12) + Forgery.journal(pageCount: 0, records: []).dropFirst(12)
        let journals: [[UInt8]] = [
            [], Forgery.journal(pageCount: 0, records: []), unsynced, [UInt8](repeating: 0, count: 512),
        ]
        for journal in journals {
            for isThere in [false, true] {
                try directory.write(journal, to: "a.db-journal")
                try directory.write([], to: "a.db-wal")
                if isThere { try directory.write([], to: "a.db") }
                let queue = try directory.makeQueue()
                try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                try queue.close()
                #expect(try DatabaseFile(path: directory.path("a.db")).verify(key: Keys.old).isIntact)
                for name in directory.fileNames() {
                    try FileManager.default.removeItem(atPath: directory.path(name))
                }
            }
        }
    }

    @Test("does not prevent opening the file if the engine left it in an interrupted first transaction")
    func realFirstTransaction() throws {
        struct Stop: Error {}
        var journal: [UInt8] = []
        let queue = try directory.makeQueue("a.db", Configuration().with { $0.allowsPlaintext = true })
        #expect(throws: Stop.self) {
            try queue.write { db in
                try db.execute(sql: "PRAGMA cache_size = 2; CREATE TABLE t (a)")
                for _ in 0..<50 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
                journal = try directory.bytes(of: "a.db-journal")
                throw Stop()
            }
        }
        try queue.close()
        #expect(!journal.isEmpty)
        try directory.write([], to: "b.db")
        try directory.write(journal, to: "b.db-journal")
        let new = try directory.makeQueue("b.db")
        try new.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    }
}
