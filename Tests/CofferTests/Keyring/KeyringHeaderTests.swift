import CofferTestSupport
import Foundation
import SystemCalls
import Testing

@testable import Coffer

@Suite("Headers of keyrings", .serialized)
struct KeyringHeaderTests {
    let fixture: KeyringFixture
    private var keyring: DatabaseKeyring { fixture.keyring }
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben

    init() throws { fixture = try KeyringFixture() }

    @Test("a keyring with one damaged copy is exported with two intact ones, and a check reports it")
    func damagedCopy() throws {
        try fixture.make()
        let path = "\(fixture.path).keys"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        guard case .damaged(let places) = KeyringFixture.problem({ try keyring.check(unlockedBy: anna) })
        else {
            Issue.record("no damage")
            return
        }
        #expect(places.map(\.copy) == [1])
        let words = EncryptionFailure.keyring(path: path, .damaged(places)).description
        #expect(words.contains("One of the two copies"))
        let header = fixture.directory.path("header.keys")
        try keyring.exportHeader(to: header)
        #expect(try KeyringFile(path: header).document().damage.isEmpty)
    }

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

    @Test("a header of a diverged keyring, with another data key of the same epoch, is refused")
    func otherHistory() throws {
        try fixture.make()
        let (database, file) = (fixture.path, "\(fixture.path).keys")
        let header = fixture.directory.path("header.keys")
        let copies = try [database, file].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try keyring.rotateDataKey(unlockedBy: anna)
        try keyring.exportHeader(to: header)
        for (path, content) in zip([database, file], copies) {
            try content.write(to: URL(fileURLWithPath: path))
        }
        try keyring.rotateDataKey(unlockedBy: anna)
        let right = try Data(contentsOf: URL(fileURLWithPath: file))
        for allowsOlder in [false, true] {
            let error = #expect(throws: DatabaseFileError.self) {
                try keyring.restoreHeader(from: header, unlockedBy: anna, allowsOlder: allowsOlder)
            }
            #expect("\(error as Any)".contains("No page of the database confirms the keyring"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == right)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("a header is not exported to the name of another database's keyring")
    func exportingOverNames() throws {
        try fixture.make()
        try fixture.directory.write([1], to: "other.db")
        let path = fixture.directory.path("other.db.keys")
        #expect(throws: DatabaseFileError.self) { try keyring.exportHeader(to: path) }
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys", "other.db"])
        try keyring.exportHeader(to: fixture.directory.path("later.db.keys"))
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
        try files.removeItem(atPath: keyring.path)
        let letter = Array("Dear Anna, these are the keys to the garden.".utf8)
        try fixture.directory.write(letter, to: "items.db.keys")
        let error = #expect(throws: DatabaseFileError.self) {
            try keyring.restoreHeader(from: header, unlockedBy: anna)
        }
        #expect("\(error as Any)".contains("This is not a keyring"))
        #expect(try fixture.directory.bytes(of: "items.db.keys") == letter)
        // The error message recommends moving it away.
        try files.moveItem(atPath: keyring.path, toPath: fixture.directory.path("away"))
        try keyring.restoreHeader(from: header, unlockedBy: anna)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("a keyring is destroyed only if its database's name is confirmed")
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
}
