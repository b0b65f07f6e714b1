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
        "a failure after a copy has its name leaves the keyring, and a failure before leaves none",
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
        "a failure after a restored file is in place leaves the keyring, and a failure before leaves none",
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

    @Test("a file that is not a keyring, or has another name, is not destroyed")
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

    @Test("the keyring of a symbolic link is next to the database, and a link that leads nowhere has none")
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

    // MARK: - Opening

    @Test("each kind of slot opens the database, and nothing else does")
    func opensBySlots() throws {
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        let office = try DatabaseKeyring.Identity.random()
        try fixture.make([
            .secret(KeyringFixture.passphrase("correct horse"), name: "Änne"), .secret(recovery.secret),
            .recipient(office.recipient, name: "office"),
        ])
        let typed = unsafe recovery.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) }
        let stored = unsafe office.withUnsafeText { unsafe Array($0) }
        for secret in [
            anna, .passphrase("correct horse"), .recoveryKey(typed.utf8), .identity(stored + [10]),
            office.secret,
        ] {
            #expect(try fixture.items(secret) == ["letter", "photo"])
        }
        for secret in [
            ben, .passphrase("correct horse "), try DatabaseKeyring.RecoveryKey.random().secret,
            try DatabaseKeyring.Identity.random().secret,
        ] {
            #expect(fixture.problem(secret) == .noMatchingSlot)
        }
        #expect(try keyring.inspect().slots.map(\.kind) == [.rawKey, .passphrase, .recoveryKey, .recipient])
        #expect(try keyring.inspect().slots[3].recipient == office.recipient)
        #expect(try keyring.check(unlockedBy: office.secret) == 4)
    }

    @Test(
        "the exported raw key opens the database in the stock shell", .enabled(if: SQLCipherShell.isAvailable)
    )
    func opensInStockShell() throws {
        try fixture.make()
        let key = try keyring.exportedKey(unlockedBy: anna)
        let exported = unsafe key.withUnsafeRawKeyBytes { unsafe Array($0) }
        let bytes = try #require(exported)
        #expect(
            try SQLCipherShell(path: fixture.path, rawKey: bytes).run(
                "SELECT title FROM item ORDER BY title;") == ["letter", "photo"])
        #expect(!(try fixture.directory.bytes(of: "items.db.keys")).contains(bytes))
    }

    @Test("a pool by a passphrase derives once, also when it is opened again from the same configuration")
    func derivesOnce() throws {
        try keyring.make([.secret(KeyringFixture.passphrase("correct horse"))])
        let configuration = fixture.configuration(.passphrase("correct horse"))
        let before = PassphraseStretching.derivationCount
        for _ in 0..<2 {
            let pool = try DatabasePool(path: fixture.path, configuration: configuration)
            try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)") }
            try pool.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            try pool.close()
        }
        #expect(PassphraseStretching.derivationCount == before + 1)
    }

    @Test("files are inspected and verified by their keyring, and leave it by their exported key only")
    func worksOnFiles() throws {
        try fixture.make()
        let key = DatabaseKey.keyring(unlockedBy: anna)
        let file = DatabaseFile(path: fixture.path)
        #expect(try file.inspect(key: key).pageCount > 0)
        #expect(try file.verify(key: .keyring(unlockedBy: anna)).isIntact)
        let before = try fixture.directory.bytes(of: "items.db")
        #expect(
            KeyringFixture.problem { _ = try file.rotate(from: key, to: .passphrase("plain")) } == .noPlace)
        #expect(try fixture.directory.bytes(of: "items.db") == before)
        #expect(
            try file.rotate(from: keyring.exportedKey(unlockedBy: anna), to: .passphrase("plain")).isChanged)
        #expect(try file.verify(key: .passphrase("plain")).isIntact)
        #expect(fixture.problem() == .ofAnotherFile)
    }

    @Test("keyrings and databases that do not belong together are distinguished")
    func tellsMismatches() throws {
        try fixture.make()
        let keys = try fixture.directory.bytes(of: "items.db.keys")
        let old = try fixture.directory.bytes(of: "items.db")
        try keyring.rotateDataKey(unlockedBy: anna)
        #expect(try fixture.items(anna) == ["letter", "photo"])
        let new = try fixture.directory.bytes(of: "items.db.keys")

        try fixture.directory.write(keys, to: "items.db.keys")
        #expect(fixture.problem() == .olderThanFile)
        try fixture.directory.write(new, to: "items.db.keys")
        try fixture.directory.write(old, to: "items.db")
        #expect(fixture.problem() == .newerThanFile)

        let other = try KeyringFixture()
        try other.make()
        try fixture.directory.write(other.directory.bytes(of: "items.db.keys"), to: "items.db.keys")
        #expect(fixture.problem() == .ofAnotherFile)
        try FileManager.default.removeItem(atPath: keyring.path)
        #expect(fixture.problem() == .missing)
        try FileManager.default.createDirectory(atPath: keyring.path, withIntermediateDirectories: false)
        #expect(fixture.problem() == .notAFile)
    }

    @Test("a slot that is moved into another keyring opens nothing")
    func slotsStayInTheirKeyring() throws {
        try fixture.make()
        let other = try KeyringFixture()
        try other.make([.secret(ben)])
        var document = try KeyringText.read(fixture.directory.bytes(of: "items.db.keys")).document
        let foreign = try KeyringText.read(other.directory.bytes(of: "items.db.keys")).document
        document.slots = [foreign.slots[1]]
        try fixture.directory.write(KeyringText.file(of: document), to: "items.db.keys")
        #expect(fixture.problem(ben) == .notAuthentic)
        let identity = try DatabaseKeyring.Identity.random()
        try other.keyring.add(.recipient(identity.recipient), unlockedBy: anna)
        document.slots = [
            try #require(KeyringText.read(other.directory.bytes(of: "items.db.keys")).document.slots.last)
        ]
        try fixture.directory.write(KeyringText.file(of: document), to: "items.db.keys")
        #expect(fixture.problem(identity.secret) == .notAuthentic)
    }

    @Test("a copy needs a key of its own, and an attached file too")
    func copiesNeedKeys() throws {
        try fixture.make()
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        #expect(
            KeyringFixture.problem { try queue.vacuum(into: fixture.directory.path("copy.db")) } == .noPlace)
        #expect(!fixture.directory.fileNames().contains("copy.db"))
        try queue.vacuum(into: fixture.directory.path("copy.db"), key: .passphrase("another"))
        #expect(throws: (any Error).self) { try queue.rotateKey(to: .keyring(unlockedBy: anna)) }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 2)
    }

    @Test(
        "a copy for a recipient is opened by its identity only, and a copy with the same slots by all of them"
    )
    func copiesHaveKeyrings() throws {
        try fixture.make([.secret(KeyringFixture.passphrase("correct horse"))])
        let owner = try DatabaseKeyring.Identity.random()
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        let copies = [
            KeyringFixture(directory: fixture.directory, path: fixture.directory.path("copy.db")),
            KeyringFixture(directory: fixture.directory, path: fixture.directory.path("same.db")),
        ]
        try copies[0].keyring.make([.recipient(owner.recipient)]) {
            try queue.vacuum(into: copies[0].path, key: $0)
        }
        try copies[1].keyring.make(keyring.slotsForCopies(unlockedBy: anna)) {
            try queue.vacuum(into: copies[1].path, key: $0)
        }
        try queue.close()
        #expect(try copies[0].items(owner.secret) == ["letter", "photo"])
        #expect(copies[0].problem(anna) == .noMatchingSlot)
        for secret in [anna, .passphrase("correct horse")] {
            #expect(try copies[1].items(secret) == ["letter", "photo"])
        }
        // The copy has another data key, so the keyrings are not interchangeable.
        try fixture.directory.write(fixture.directory.bytes(of: "items.db.keys"), to: "same.db.keys")
        #expect(copies[1].problem(anna) == .ofAnotherFile)
        struct Failure: Error {}
        let failing = DatabaseKeyring(databasePath: fixture.directory.path("none.db"))
        #expect(throws: Failure.self) {
            try failing.make([.recipient(owner.recipient)]) { _ in throw Failure() }
        }
        #expect(
            fixture.directory.fileNames() == [
                "copy.db", "copy.db.keys", "items.db", "items.db.keys", "same.db", "same.db.keys",
            ])
    }

    // MARK: - Changing

    @Test("slots are added, changed and removed without a byte of the database")
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
        "a keyring is changed while a connection of this process is open, whose locks stay",
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
        arguments: FailPoint.allCases.filter { ![.rekeyed, .released].contains($0) })
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

    @Test("a data key that a damaged database did not get leaves the keyring, and a backup can be restored")
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
        #expect(throws: (any Error).self) {
            try FailPoint.$failing.withValue(point) { try keyring.change(to: ben, unlockedBy: anna) }
        }
        let opening = [anna, ben].filter { (try? fixture.items($0)) == ["letter", "photo"] }
        #expect(opening.count == 1)
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
        arguments: FailPoint.allCases.filter { ![.rekeyed, .released].contains($0) })
    func completesAdoptions(_ point: FailPoint) throws {
        let old = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        let queue = try DatabaseQueue(path: fixture.path, configuration: Configuration.rawKeyed)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
        }
        try queue.close()
        // A killed process does not clean up, so the keyring stays and the database keeps its former key.
        _ = try NewKeyring(making: [.secret(anna, name: "Anna")], at: KeyringPlace(keyring.databasePath))
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

    @Test("a keyring whose database was not made before a process was killed is used by the next run")
    func takesOrphans() throws {
        _ = try NewKeyring(making: [.secret(anna)], at: KeyringPlace(keyring.databasePath))
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
        _ = try NewKeyring(making: [.secret(anna)], at: KeyringPlace(keyring.databasePath))
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

    // MARK: - Headers

    @Test("an exported header is put back, unless it is older or of another database")
    func restoresHeaders() throws {
        try fixture.make([.secret(ben)])
        let header = fixture.directory.path("header.keys")
        try keyring.exportHeader(to: header)
        try keyring.remove(slot: 2, unlockedBy: anna)
        #expect(
            KeyringFixture.problem { try keyring.restoreHeader(from: header, unlockedBy: ben) }
                == .olderKeyring(generation: 1, present: 2))
        #expect(fixture.problem(ben) == .noMatchingSlot)
        try keyring.restoreHeader(from: header, unlockedBy: ben, allowsOlder: true)
        #expect(try fixture.items(ben) == ["letter", "photo"])
        try keyring.destroy(confirming: "items.db")
        #expect(fixture.problem() == .missing)
        #expect(
            KeyringFixture.problem {
                try keyring.restoreHeader(from: header, unlockedBy: KeyringFixture.secret(9))
            } == .noMatchingSlot)
        try keyring.restoreHeader(from: header, unlockedBy: anna)
        #expect(try fixture.items(ben) == ["letter", "photo"])

        let other = try KeyringFixture()
        try other.make()
        #expect(
            KeyringFixture.problem {
                try other.keyring.restoreHeader(from: header, unlockedBy: anna, allowsOlder: true)
            } == .ofAnotherFile)
        #expect(try other.items(anna) == ["letter", "photo"])
    }

    @Test("a header replaces the remains of a keyring, and no other file")
    func restoresHeadersOverDamage() throws {
        try fixture.make()
        let header = fixture.directory.path("header.keys")
        try keyring.exportHeader(to: header)
        for size in [0, 100, KeyringText.limit + 1, 1 << 30] {
            #expect(unsafe truncate(keyring.path, off_t(size)) == 0)
            try keyring.restoreHeader(from: header, unlockedBy: anna)
            #expect(try fixture.items(anna) == ["letter", "photo"], "\(size)")
        }
        let files = FileManager.default
        let kinds: [(String) throws -> Void] = [
            { try files.createDirectory(atPath: $0, withIntermediateDirectories: false) },
            { try files.createSymbolicLink(atPath: $0, withDestinationPath: header) },
            { #expect(unsafe mkfifo($0, 0o600) == 0) },
        ]
        for make in kinds {
            try files.removeItem(atPath: keyring.path)
            try make(keyring.path)
            for change in [
                { try keyring.restoreHeader(from: header, unlockedBy: anna) },
                { try keyring.destroy(confirming: "items.db") },
                { _ = try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0) },
            ] {
                #expect(KeyringFixture.problem(change) == .notAFile)
            }
            #expect(try SystemFile.status(keyring.path)?.isRegular == false)
        }
        // The error message recommends moving it away.
        try files.moveItem(atPath: keyring.path, toPath: fixture.directory.path("away"))
        try keyring.restoreHeader(from: header, unlockedBy: anna)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("nothing is destroyed without the name")
    func destroysByName() throws {
        try fixture.make()
        #expect(throws: DatabaseFileError.self) { try keyring.destroy(confirming: "others.db") }
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("damage of one copy is reported by a check, and repaired by the next change")
    func mendsCopies() throws {
        try fixture.make()
        var bytes = try fixture.directory.bytes(of: "items.db.keys")
        bytes[100] ^= 1
        try fixture.directory.write(bytes, to: "items.db.keys")
        #expect(try fixture.items(anna) == ["letter", "photo"])
        #expect(try keyring.inspect().damage.map(\.copy) == [1])
        guard case .damaged(let places) = KeyringFixture.problem({ _ = try keyring.check(unlockedBy: anna) })
        else {
            Issue.record("not told")
            return
        }
        #expect(places.count == 1)
        try keyring.change(to: ben, unlockedBy: anna)
        try keyring.check(unlockedBy: ben)
    }

    // MARK: - Texts

    @Test("a recovery key is read as people type it, and each wrong character is found")
    func readsRecoveryKeys() throws {
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        let text = unsafe recovery.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(text.split(separator: "-").map(\.count) == Array(repeating: 4, count: 14))
        try keyring.make([.secret(recovery.secret)])
        let typed = text.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing(
            "1", with: "l")
        try keyring.check(unlockedBy: .recoveryKey("\(typed)\n".utf8))
        for index in text.indices where text[index] != "-" {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "7" ? "8" : "7")
            let secret = DatabaseKeyring.Secret.recoveryKey(wrong.utf8)
            #expect(
                KeyringFixture.problem { _ = try keyring.check(unlockedBy: secret) } == .invalidRecoveryKey)
        }
        for wrong in ["", "abc", text + "0", String(text.dropLast()), "U" + text.dropFirst()] {
            #expect(
                KeyringFixture.problem { _ = try keyring.check(unlockedBy: .recoveryKey(wrong.utf8)) }
                    == .invalidRecoveryKey)
        }
    }

    @Test("the text of a recipient is read, and each wrong character is found")
    func readsRecipients() throws {
        let identity = try DatabaseKeyring.Identity.random()
        let text = identity.recipient.description
        #expect(try DatabaseKeyring.Recipient(" \(text)\n") == identity.recipient)
        for index in text.indices {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "7" ? "8" : "7")
            #expect(throws: DatabaseError.self) { try DatabaseKeyring.Recipient(wrong) }
        }
    }

    @Test("secrets show nothing")
    func showsNothing() throws {
        let identity = try DatabaseKeyring.Identity.random()
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        for text in ["\(anna)", "\(identity)", "\(recovery)", String(reflecting: anna)] {
            #expect(text.hasSuffix("(<redacted>)"))
        }
        #expect(Mirror(reflecting: identity).children.isEmpty && Mirror(reflecting: anna).children.isEmpty)
    }
}
