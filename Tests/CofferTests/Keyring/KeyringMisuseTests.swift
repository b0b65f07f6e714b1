import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Uses of a keyring that would lose a data key")
struct KeyringMisuseTests {
    private let fixture: KeyringFixture
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben
    private let key = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))

    init() throws { fixture = try KeyringFixture() }

    private var keyring: DatabaseKeyring { fixture.keyring }
    private var slots: [DatabaseKeyring.NewSlot] { [.secret(anna, name: "Anna")] }

    /// Creates a database with the raw key at the path of the fixture.
    private func makeDatabase() throws {
        var configuration = Configuration()
        configuration.key = key
        let queue = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE item (title TEXT)") }
        try queue.close()
    }

    /// Runs a call that creates the keyring of a database, with the given slots.
    private func create(_ use: Use, _ slots: [DatabaseKeyring.NewSlot], fails: Bool = false) throws {
        struct Killed: Error {}
        func open(_ key: DatabaseKey) throws {
            if fails { throw Killed() }
            var configuration = Configuration()
            configuration.key = key
            try DatabaseQueue(path: fixture.path, configuration: configuration).close()
        }
        switch use {
        case .adopt: try keyring.adopt(slots, key: key)
        case .copy: try keyring.make(slots, copying: open)
        case .restore: try keyring.adopt(slots, restoring: open)
        }
    }

    enum Use: CaseIterable { case adopt, copy, restore }

    @Test(
        "the keyring of a database that was moved is not used for another database", arguments: Use.allCases)
    func movedDatabase(_ use: Use) throws {
        try fixture.make()
        let moved = fixture.directory.path("moved.db")
        try FileManager.default.moveItem(atPath: fixture.path, toPath: moved)
        if use == .adopt { try makeDatabase() }
        // The note of a change of a slot that was killed.
        let note = NewFileNames(path: keyring.path).lock
        #expect(
            FileManager.default.createFile(
                atPath: note, contents: nil, attributes: [.posixPermissions: 0o600]))
        let error = #expect(throws: DatabaseFileError.self) { try create(use, slots) }
        #expect(error?.reason == .exists)
        try FileManager.default.moveItem(atPath: "\(fixture.path).keys", toPath: "\(moved).keys")
        #expect(
            try KeyringFixture(directory: fixture.directory, path: moved).items(anna) == ["letter", "photo"])
    }

    @Test(
        "the keyring of a killed run is completed with its own slots, and with no others",
        arguments: Use.allCases)
    func killedRun(_ use: Use) throws {
        if use == .adopt { try makeDatabase() }
        let identity = try DatabaseKeyring.Identity.random()
        let own: [DatabaseKeyring.NewSlot] =
            slots + [.secret(ben, name: "on paper"), .recipient(identity.recipient, name: "safe")]
        // The state in which a run is killed after it has created the keyring.
        _ = try NewKeyring(own, at: KeyringPlace(fixture.path), 0)
        let others: [[DatabaseKeyring.NewSlot]] = try [
            slots, slots + [.secret(KeyringFixture.secret(3), name: "on paper"), own[2]],
            slots + [own[1], .recipient(DatabaseKeyring.Identity.random().recipient, name: "safe")],
            slots + [own[1], .secret(DatabaseKeyring.Identity.random().secret, name: "safe")],
            [own[0], own[2], own[1]],
        ]
        for other in others {
            let error = #expect(throws: DatabaseFileError.self) { try create(use, other) }
            #expect(error?.reason == .exists)
        }
        // Other operations that fail do not change this.
        struct Failed: Error {}
        #expect(throws: Failed.self) {
            try keyring.keepingKeyring(unlockedBy: anna, lockTimeout: 0) { _ in throw Failed() }
        }
        let wrong = KeyringFixture.secret(9)
        #expect(throws: DatabaseFileError.self) { try keyring.add(.secret(wrong), unlockedBy: wrong) }
        try create(use, own)
        #expect(try keyring.check(unlockedBy: anna) == 1)
        #expect(try keyring.check(unlockedBy: ben) == 2)
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test("a restore with a keyring whose database is complete is refused, and does not wait for itself")
    func completeRestore() throws {
        try create(.restore, slots)
        let error = #expect(throws: DatabaseFileError.self) { try create(.restore, slots) }
        #expect(error?.reason == .exists)
    }

    @Test("a rotation from the key of a keyring is refused", arguments: [false, true])
    func rotation(inPlace: Bool) throws {
        try fixture.make()
        var options = DatabaseFile.RotationOptions()
        if inPlace { options.method = .inPlace }
        let file = DatabaseFile(path: fixture.path)
        for attempt in [
            { _ = try file.rotate(from: .keyring(unlockedBy: anna), to: .random(), options: options) },
            { _ = try file.rotationPlan(from: .keyring(unlockedBy: anna), to: .random(), options: options) },
        ] {
            let error = #expect(throws: DatabaseFileError.self) { try attempt() }
            #expect("\(error as Any)".contains("No slot of the keyring would open the database"))
        }
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("a rotation of the data key keeps no old file, which nothing would open")
    func keptOldFile() throws {
        try fixture.make()
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = fixture.directory.path("old.db")
        #expect(throws: DatabaseFileError.self) {
            try keyring.rotateDataKey(unlockedBy: anna, options: options)
        }
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("an older header does not replace the newest data key while the database is elsewhere")
    func headerWithoutDatabase() throws {
        try fixture.make()
        let header = fixture.directory.path("header.keys")
        let moved = fixture.directory.path("moved.db")
        try keyring.exportHeader(to: header)
        try keyring.rotateDataKey(unlockedBy: anna)
        try FileManager.default.moveItem(atPath: fixture.path, toPath: moved)
        #expect(throws: DatabaseFileError.self) {
            try keyring.restoreHeader(from: header, unlockedBy: anna, allowsOlder: true)
        }
        try FileManager.default.moveItem(atPath: moved, toPath: fixture.path)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }

    @Test("a key object opens its database after an older state was restored and rotated again")
    func restoredState() throws {
        try fixture.make()
        let names = ["items.db", "items.db.keys"]
        let copies = try names.map { try fixture.directory.bytes(of: $0) }
        let configuration = fixture.configuration(anna)
        func count() throws -> Int? {
            let queue = try DatabaseQueue(path: fixture.path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
        }
        try keyring.rotateDataKey(unlockedBy: anna)
        #expect(try count() == 2)
        for (name, copy) in zip(names, copies) { try fixture.directory.write(copy, to: name) }
        try keyring.rotateDataKey(unlockedBy: anna)
        #expect(try count() == 2)
    }

    @Test("a keyring that was partly overwritten can be destroyed", arguments: [0, 512, 1024])
    func tornDestruction(_ kept: Int) throws {
        try fixture.make()
        var bytes = try fixture.directory.bytes(of: "items.db.keys")
        for index in bytes.indices where index < kept || index >= kept + 512 { bytes[index] = 0 }
        // The titles are gone.
        for index in 0..<64 { bytes[index] = 0 }
        try fixture.directory.write(bytes, to: "items.db.keys")
        try keyring.destroy(confirming: "items.db")
        #expect(fixture.directory.fileNames() == ["items.db"])
    }
}
