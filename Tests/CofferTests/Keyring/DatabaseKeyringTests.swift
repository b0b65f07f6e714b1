import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import SystemCalls
import Testing

@testable import Coffer

@Suite("The keyring of a database", .serialized)
struct DatabaseKeyringTests {
    let fixture: KeyringFixture
    private var keyring: DatabaseKeyring { fixture.keyring }
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben

    init() throws { fixture = try KeyringFixture() }

    // MARK: - Failures of callers that make copies

    /// An error such as a full audit log, which does not say whether the file has its name.
    private struct CallerFailure: Error {}

    @Test(
        "a failed copy keeps its keyring if the copy was published, and removes it otherwise",
        arguments: [false, true])
    func keepsKeyringOfPublishedCopy(_ isPublished: Bool) throws {
        try fixture.make()
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        let copy = KeyringFixture(directory: fixture.directory, path: fixture.directory.path("copy.db"))
        #expect(throws: CallerFailure.self) {
            try copy.keyring.make([.secret(ben)]) { key in
                if isPublished { try queue.vacuum(into: copy.path, key: key) }
                throw CallerFailure()
            }
        }
        #expect(FileManager.default.fileExists(atPath: copy.keyring.path) == isPublished)
        if isPublished { #expect(try copy.items(ben) == ["letter", "photo"]) }
    }

    @Test(
        "a failed restore keeps the keyring if the file was published, and removes it otherwise",
        arguments: [false, true])
    func keepsKeyringOfRestored(_ isPublished: Bool) throws {
        try fixture.make()
        let backup = fixture.directory.path("backup.db")
        let target = KeyringFixture(directory: fixture.directory, path: fixture.directory.path("target.db"))
        for path in [backup, target.path] {
            let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
            try queue.write { db in
                try db.execute(
                    sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter'), ('photo')")
            }
            try queue.close()
        }
        #expect(throws: CallerFailure.self) {
            try target.keyring.adopt([.secret(ben)]) { key in
                if isPublished {
                    try DatabaseFile(path: target.path).restore(
                        from: backup, key: Configuration.rawKeyed.key, newKey: key)
                }
                throw CallerFailure()
            }
        }
        #expect(FileManager.default.fileExists(atPath: target.keyring.path) == isPublished)
        if isPublished {
            #expect(try target.items(ben) == ["letter", "photo"])
        } else {
            _ = try DatabaseQueue(path: target.path, configuration: .rawKeyed)
        }
    }

    @Test(
        "using a new keyring while it is being made is refused, and nothing is lost if making it fails"
    )
    func refusesTwoAdoptions() throws {
        let queue = try DatabaseQueue(path: fixture.path, configuration: .rawKeyed)
        try queue.write { try $0.execute(sql: "CREATE TABLE item (title TEXT)") }
        try queue.close()
        let key = try #require(Configuration.rawKeyed.key)
        var other: DatabaseFileError?
        #expect(throws: CallerFailure.self) {
            try keyring.adopt([.secret(ben)]) { _ in
                do { try keyring.adopt([.secret(ben)], key: key) } catch {
                    other = error as? DatabaseFileError
                }
                throw CallerFailure()
            }
        }
        #expect(other?.reason == .key(.keyring(path: keyring.path, .changeUnderWay)))
        // The key of the database opens it.
        try DatabaseQueue(path: fixture.path, configuration: .rawKeyed).close()
        try keyring.adopt([.secret(ben)], key: key)
        #expect(try fixture.items(ben).isEmpty)
    }

    @Test("each change is refused while another one is under way, and waits if asked to")
    func waitsForOtherChanges() throws {
        try fixture.make([.secret(ben)])
        let header = fixture.directory.path("header.keys")
        try keyring.exportHeader(to: header)
        let (waits, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcome = Mutex<Result<Int, any Error>?>(nil)
        let changes: [() throws -> Void] = [
            { try keyring.add(.secret(KeyringFixture.secret(3)), unlockedBy: anna) },
            { try keyring.remove(slot: 2, unlockedBy: anna) },
            { try keyring.change(to: KeyringFixture.secret(3), unlockedBy: ben) },
            { try keyring.rotateDataKey(unlockedBy: anna) },
            { try keyring.restoreHeader(from: header, unlockedBy: anna) },
            { try keyring.destroy(confirming: "items.db") },
        ]
        try KeyringFile(path: keyring.path).changing(waiting: 0) { before, _ in
            for change in changes { #expect(KeyringFixture.problem(change) == .changeUnderWay) }
            let after = try KeyringFile(path: keyring.path).bytes()
            #expect(after == before)
            let (keyring, anna) = (keyring, anna)
            Thread.detachNewThread {
                waits.signal()
                let result = Result {
                    try keyring.add(
                        .secret(KeyringFixture.secret(3)), unlockedBy: anna, lockTimeout: 60)
                }
                outcome.withLock { $0 = result }
                hasEnded.signal()
            }
            waits.wait()
            Thread.sleep(forTimeInterval: 0.1)
            #expect(outcome.withLock { $0 == nil })
        }
        hasEnded.wait()
        #expect(try outcome.withLock { try $0?.get() } == 3)
        #expect(try fixture.items(KeyringFixture.secret(3)) == ["letter", "photo"])
    }

    @Test("a file that is not a keyring, or has a second hard link, is not destroyed")
    func destroysKeyringsOnly() throws {
        try fixture.make()
        let whole = try fixture.directory.bytes(of: "items.db.keys")
        let other = fixture.directory.path("kept")
        try FileManager.default.linkItem(atPath: keyring.path, toPath: other)
        #expect(throws: DatabaseFileError.self) { try keyring.destroy(confirming: "items.db") }
        #expect(try fixture.directory.bytes(of: "kept") == whole)
        try FileManager.default.removeItem(atPath: other)
        try fixture.directory.write(Array("precious".utf8), to: "items.db.keys")
        #expect(throws: DatabaseFileError.self) { try keyring.destroy(confirming: "items.db") }
        #expect(try fixture.directory.bytes(of: "items.db.keys") == Array("precious".utf8))
        // A file that is too long for a keyring may be anything.
        #expect(unsafe truncate(keyring.path, 1 << 30) == 0)
        #expect(throws: DatabaseFileError.self) { try keyring.destroy(confirming: "items.db") }
        #expect(try SystemFile.status(keyring.path)?.size == 1 << 30)
        // A damaged keyring is destroyed.
        try fixture.directory.write(Array(whole.dropFirst(100)), to: "items.db.keys")
        try keyring.destroy(confirming: "items.db")
        #expect(!FileManager.default.fileExists(atPath: keyring.path))
    }

    @Test("the keyring of a symbolic link is next to the database, and a circular link has none")
    func linkedDatabase() throws {
        try fixture.make()
        let (link, loop) = (fixture.directory.path("link.db"), fixture.directory.path("loop.db"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
        let linked = DatabaseKeyring(databasePath: link)
        #expect(linked.path == keyring.path)
        #expect(try linked.check(unlockedBy: anna) == 1)

        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        // A keyring next to the link is another one's.
        try fixture.directory.write(fixture.directory.bytes(of: "items.db.keys"), to: "loop.db.keys")
        let lost = DatabaseKeyring(databasePath: loop)
        #expect(KeyringFixture.problem { _ = try lost.inspect() } == .unreadable(errno: ELOOP))
    }

    // MARK: - Changing

    @Test("slots are added, changed and removed without changing the database")
    func changesSlots() throws {
        try fixture.make()
        let database = try fixture.directory.bytes(of: "items.db")
        let before = try SystemFile.status(fixture.path)
        #expect(try keyring.add(.secret(ben, name: "Ben"), unlockedBy: anna) == 2)
        #expect(try fixture.items(ben) == ["letter", "photo"])
        let carla = KeyringFixture.secret(3)
        try keyring.change(to: carla, unlockedBy: ben)
        #expect(fixture.problem(ben) == .noMatchingSlot)
        #expect(try keyring.inspect().slots.map(\.name) == ["Anna", "Ben"])
        try keyring.remove(slot: 1, unlockedBy: carla)
        #expect(fixture.problem(anna) == .noMatchingSlot)
        #expect(try fixture.items(carla) == ["letter", "photo"])
        #expect(KeyringFixture.problem { try keyring.remove(slot: 2, unlockedBy: carla) } == .lastSlot)
        #expect(KeyringFixture.problem { try keyring.remove(slot: 9, unlockedBy: carla) } == .noSlot(9))
        #expect(
            KeyringFixture.problem { _ = try keyring.add(.secret(anna), unlockedBy: ben) } == .noMatchingSlot)
        #expect(try keyring.inspect().generation == 4)
        #expect(try fixture.directory.bytes(of: "items.db") == database)
        #expect(try SystemFile.status(fixture.path) == before)
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
        #expect(try SystemFile.status(keyring.path)?.permissions == 0o600)
    }

    @Test(
        "changing a keyring does not drop the locks of an open connection of this process",
        .enabled(if: SQLCipherShell.isAvailable))
    func keepsLocks() throws {
        try fixture.make()
        let exported = unsafe try keyring.exportedKey(unlockedBy: anna).withUnsafeRawKeyBytes {
            unsafe Array($0)
        }
        let shell = SQLCipherShell(path: fixture.path, rawKey: try #require(exported))
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        try queue.write { db in
            try db.execute(sql: "INSERT INTO item VALUES ('map')")
            try keyring.change(to: ben, unlockedBy: anna)
            try keyring.check(unlockedBy: ben)
            _ = try keyring.exportedKey(unlockedBy: ben)
            #expect(throws: SQLCipherShell.Failure.self) { try shell.run("BEGIN IMMEDIATE;") }
        }
        try queue.close()
        #expect(try fixture.items(ben) == ["letter", "map", "photo"])
        #expect(try shell.run("BEGIN IMMEDIATE; ROLLBACK; SELECT count(*) FROM item;") == ["3"])
    }

    @Test("a keyring takes 32 slots, and no more")
    func limitsSlots() throws {
        try fixture.make((2...32).map { .secret(KeyringFixture.secret($0)) })
        #expect(
            KeyringFixture.problem {
                _ = try keyring.add(.secret(KeyringFixture.secret(40)), unlockedBy: anna)
            } == .full)
        #expect(try fixture.items(KeyringFixture.secret(32)) == ["letter", "photo"])
    }

    @Test("the data key is rotated for all slots by one secret, and the former data key opens nothing")
    func rotatesDataKey() throws {
        let office = try DatabaseKeyring.Identity.random()
        try fixture.make([.secret(ben), .recipient(office.recipient)])
        let old = try keyring.exportedKey(unlockedBy: anna)
        let result = try keyring.rotateDataKey(unlockedBy: ben)
        #expect(result.isChanged && result.proof?.isContentEqual == true)
        for secret in [anna, ben, office.secret] {
            #expect(try fixture.items(secret) == ["letter", "photo"])
        }
        let contents = try keyring.inspect()
        #expect(contents.epoch == 2 && !contents.isRotating && contents.slots.count == 3)
        #expect(throws: (any Error).self) { try DatabaseFile(path: fixture.path).inspect(key: old) }
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test(
        "a rotation of the data key that fails at any point leaves a database that opens, and is completed by another run",
        arguments: FailPoint.allCases.filter {
            ![.rekeyed, .oldCopied, .released, .statePinned].contains($0)
        })
    func completesRotations(_ point: FailPoint) throws {
        try fixture.make([.secret(ben)])
        _ = try? FailPoint.$failing.withValue(point) { try keyring.rotateDataKey(unlockedBy: anna) }
        #expect(try fixture.items(ben) == ["letter", "photo"])
        _ = try keyring.check(unlockedBy: anna)
        _ = try keyring.keyForRestoring(unlockedBy: anna)
        let isRotating = try keyring.inspect().isRotating
        if isRotating {
            #expect(
                KeyringFixture.problem { try keyring.remove(slot: 2, unlockedBy: anna) } == .rotationUnderWay)
        }
        try keyring.rotateDataKey(unlockedBy: ben)
        #expect(try fixture.items(anna) == ["letter", "photo"])
        #expect(try !keyring.inspect().isRotating)
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test("a failed data key rotation of a damaged database is undone, and a backup can be restored")
    func takesRotationsBack() throws {
        try fixture.make([.secret(ben)])
        let backup = fixture.directory.path("backup.db")
        try DatabaseFile(path: fixture.path).backup(
            to: backup, key: keyring.exportedKey(unlockedBy: anna), newKey: .passphrase("backup"))
        let whole = try fixture.directory.bytes(of: "items.db")
        var damaged = whole
        damaged[damaged.count - 1000] ^= 1
        try fixture.directory.write(damaged, to: "items.db")
        #expect(throws: DatabaseFileError.self) { try keyring.rotateDataKey(unlockedBy: anna) }
        #expect(try !keyring.inspect().isRotating && keyring.inspect().epoch == 1)
        try keyring.remove(slot: 2, unlockedBy: anna)
        try DatabaseFile(path: fixture.path).restore(
            from: backup, key: .passphrase("backup"), newKey: keyring.keyForRestoring(unlockedBy: anna))
        #expect(try fixture.items(anna) == ["letter", "photo"])
        #expect(try keyring.rotateDataKey(unlockedBy: anna).isChanged)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test(
        "a change that fails at any step leaves the old keyring or the new one",
        arguments: [FailPoint.copyCreated, .copySynchronized, .renamed, .directorySynchronized])
    func failingChanges(_ point: FailPoint) throws {
        try fixture.make()
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(point) { try keyring.change(to: ben, unlockedBy: anna) }
        }
        let opening = [anna, ben].filter { (try? fixture.items($0)) == ["letter", "photo"] }
        #expect(opening.count == 1)
        #expect(error?.isPublished == ((try? fixture.items(ben)) != nil))
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
        try keyring.add(.secret(KeyringFixture.secret(3)), unlockedBy: try #require(opening.first))
    }

    @Test("an encrypted database gets a keyring, and loses its former key")
    func adoptsDatabases() throws {
        let queue = try DatabaseQueue(path: fixture.path, configuration: Configuration.passphrase("old"))
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
        }
        try queue.close()
        #expect(throws: (any Error).self) { try keyring.make([.secret(anna)]) }
        #expect(throws: (any Error).self) { try keyring.adopt([.secret(anna)], key: .passphrase("wrong")) }
        #expect(fixture.directory.fileNames() == ["items.db"])
        try keyring.adopt([.secret(anna)], key: .passphrase("old"))
        #expect(try fixture.items(anna) == ["letter"])
        #expect(throws: (any Error).self) {
            try DatabaseFile(path: fixture.path).inspect(key: .passphrase("old"))
        }
    }

    @Test(
        "adding a keyring to a database is completed by another run after any interruption, and only with the same secret",
        arguments: FailPoint.allCases.filter {
            ![.rekeyed, .oldCopied, .released, .statePinned].contains($0)
        })
    func completesAdoptions(_ point: FailPoint) throws {
        let old = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        let queue = try DatabaseQueue(path: fixture.path, configuration: Configuration.rawKeyed)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
        }
        try queue.close()
        // A killed process does not clean up, so the keyring stays and the database keeps its former key.
        _ = try NewKeyring([.secret(anna, name: "Anna")], at: KeyringPlace(keyring.databasePath), 0)
        _ = try? FailPoint.$failing.withValue(point) {
            try keyring.adopt([.secret(anna, name: "Anna")], key: old)
        }
        #expect(throws: (any Error).self) { try keyring.adopt([.secret(ben, name: "Anna")], key: old) }
        #expect(throws: (any Error).self) { try keyring.adopt([.secret(anna)], key: old) }
        // If the new key opens the database, the work is done, regardless of the given former key.
        if (try? fixture.items(anna)) == nil {
            let wrong = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
            #expect(throws: (any Error).self) { try keyring.adopt([.secret(anna, name: "Anna")], key: wrong) }
        }
        try keyring.adopt([.secret(anna, name: "Anna")], key: old)
        #expect(try fixture.items(anna) == ["letter"])
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test("a keyring left without a database by a killed process is used by the next run")
    func takesOrphans() throws {
        _ = try NewKeyring([.secret(anna)], at: KeyringPlace(keyring.databasePath), 0)
        let orphan = try fixture.directory.bytes(of: "items.db.keys")
        #expect(throws: DatabaseFileError.self) { try keyring.make([.secret(ben)]) { _ in } }
        try keyring.make([.secret(anna)]) { key in
            let queue = try DatabaseQueue(
                path: fixture.path, configuration: Configuration().with { $0.key = key })
            try queue.write {
                try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
            }
            try queue.close()
        }
        #expect(try fixture.items(anna) == ["letter"])
        #expect(try fixture.directory.bytes(of: "items.db.keys") == orphan)
    }

    @Test("a keyring that another user may have placed is never treated as the keyring of an interrupted run")
    func takesOwnOrphansOnly() throws {
        _ = try NewKeyring([.secret(anna)], at: KeyringPlace(keyring.databasePath), 0)
        let other = fixture.directory.path("other.keys")
        try FileManager.default.linkItem(atPath: keyring.path, toPath: other)
        #expect(throws: DatabaseFileError.self) {
            try keyring.make([.secret(anna)]) { _ in Issue.record("taken") }
        }
        try FileManager.default.removeItem(atPath: other)
        if geteuid() == 0 {
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: keyring.path)
            #expect(throws: DatabaseFileError.self) {
                try keyring.make([.secret(anna)]) { _ in Issue.record("taken") }
            }
            try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: keyring.path)
        }
        try keyring.make([.secret(anna)]) { _ in }
    }
}
