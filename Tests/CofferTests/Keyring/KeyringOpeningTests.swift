import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Opening a database by its keyring", .serialized)
struct KeyringOpeningTests {
    let fixture: KeyringFixture
    private var keyring: DatabaseKeyring { fixture.keyring }
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben

    init() throws { fixture = try KeyringFixture() }

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

    @Test("the key of a passphrase is derived once per configuration, even if a pool is opened again")
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

    @Test("files are inspected and verified with their keyring; rotating away needs the exported key")
    func worksOnFiles() throws {
        try fixture.make()
        let key = DatabaseKey.keyring(unlockedBy: anna)
        let file = DatabaseFile(path: fixture.path)
        #expect(try file.inspect(key: key).pageCount > 0)
        #expect(try file.verify(key: .keyring(unlockedBy: anna)).isIntact)
        let before = try fixture.directory.bytes(of: "items.db")
        #expect(throws: DatabaseFileError.self) { try file.rotate(from: key, to: .passphrase("plain")) }
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
}
