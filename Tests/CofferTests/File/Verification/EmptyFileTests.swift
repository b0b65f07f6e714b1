import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Files without bytes")
struct EmptyFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "an empty file is not intact, unless empty files are allowed",
        arguments: [nil, Keys.old] as [DatabaseKey?])
    func verification(key: DatabaseKey?) throws {
        try directory.write([], to: "a.db")
        let file = DatabaseFile(path: directory.path("a.db"))
        let found = try file.verify(key: key)
        #expect(!found.isIntact && found.findings == [.empty] && found.damagedPages.isEmpty)
        var options = DatabaseFile.VerificationOptions()
        options.allowsEmptyFile = true
        #expect(try file.verify(key: key, options: options).isIntact)
        #expect(directory.fileNames() == ["a.db"])
    }

    // The engine removes the side files of an empty file, which may contain the only remaining content.
    @Test(
        "no operation uses an empty file or its side files, and each operation and plan reports the same",
        arguments: [nil, "a.db-wal", "a.db-journal"])
    func works(beside: String?) throws {
        let path = directory.path("a.db")
        try directory.makeFile(rows: 30)
        let left = try beside == "a.db-wal" ? directory.crashInWAL().log : directory.crash().journal
        try directory.write([], to: "a.db")
        if let beside { try directory.write(left, to: beside) }
        let names = ["a.db"] + [beside].compactMap { $0 }
        let file = DatabaseFile(path: path)
        let copy = directory.path("copy.db")
        var inPlace = DatabaseFile.RotationOptions()
        inPlace.method = .inPlace
        let meant = DatabaseFile.PlaintextConfirmation.contentBecomesReadableByAnyone
        let works: [(String, () throws -> Void)] = [
            ("rotate", { try file.rotate(from: Keys.old, to: Keys.new) }),
            ("rotate, plan", { _ = try file.rotationPlan(from: Keys.old, to: Keys.new) }),
            ("in place", { try file.rotate(from: Keys.old, to: Keys.new, options: inPlace) }),
            ("in place, plan", { _ = try file.rotationPlan(from: Keys.old, to: Keys.new, options: inPlace) }),
            ("vacuum", { try file.vacuum(key: Keys.old) }),
            ("vacuum, plan", { _ = try file.vacuumPlan(key: Keys.old) }),
            ("vacuum, plaintext", { try file.vacuum(key: nil) }),
            ("upgrade", { try file.upgrade(key: Keys.old) }),
            ("upgrade, plan", { _ = try file.upgradePlan(key: Keys.old) }),
            ("encrypt", { try file.encrypt(key: Keys.old) }),
            ("encrypt, plan", { _ = try file.encryptionPlan(key: Keys.old) }),
            ("encrypt into", { try file.encrypt(to: copy, key: Keys.old) }),
            ("decrypt", { try file.decrypt(key: Keys.old, confirming: meant) }),
            ("decrypt, plan", { _ = try file.decryptionPlan(key: Keys.old) }),
            ("decrypt into", { try file.decrypt(to: copy, key: Keys.old, confirming: meant) }),
            ("backup", { try file.backup(to: copy, key: Keys.old) }),
            ("backup, plan", { _ = try file.copyPlan(to: copy, key: Keys.old) }),
            ("backup, plaintext", { try file.backup(to: copy, key: nil) }),
            ("vacuum into", { try file.vacuum(into: copy, key: Keys.old) }),
        ]
        for (name, work) in works {
            let problem = reason { try work() }
            #expect(problem == .emptyFile, "\(name)")
            #expect(directory.fileNames() == names, "\(name)")
            #expect(try directory.bytes(of: "a.db").isEmpty, "\(name)")
            if let beside { #expect(try directory.bytes(of: beside) == left, "\(name)") }
        }
        #expect(DatabaseFileError(.emptyFile, path: path).databaseError.resultCode == .SQLITE_CORRUPT)
    }

    @Test("a file that is empty after its journal is rolled back is treated as an empty file")
    func emptyAfterJournal() throws {
        let file = DatabaseFile(path: directory.path("a.db"))
        var inPlace = DatabaseFile.RotationOptions()
        inPlace.method = .inPlace
        let works: [(String, () throws -> Void)] = [
            ("rotate", { try file.rotate(from: Keys.old, to: Keys.new) }),
            ("in place", { try file.rotate(from: Keys.old, to: Keys.new, options: inPlace) }),
            ("vacuum", { try file.vacuum(key: Keys.old) }), ("upgrade", { try file.upgrade(key: Keys.old) }),
            ("decrypt", { try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone) }),
        ]
        for (name, work) in works {
            try directory.write([UInt8](repeating: 7, count: 4096), to: "a.db")
            try directory.write(Forgery.journal(pageCount: 0, records: []), to: "a.db-journal")
            let problem = reason { try work() }
            #expect(problem == .emptyFile, "\(name)")
            #expect(directory.fileNames() == ["a.db"], "\(name)")
            #expect(try directory.bytes(of: "a.db").isEmpty, "\(name)")
        }
    }

    @Test("an empty file can still become a new database")
    func opening() throws {
        try directory.write([], to: "a.db")
        let queue = try directory.makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        #expect(try DatabaseFile(path: directory.path("a.db")).verify(key: Keys.old).isIntact)
    }
}
