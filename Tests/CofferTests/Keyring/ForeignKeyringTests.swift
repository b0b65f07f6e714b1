import CofferTestSupport
import Foundation
import SystemCalls
import Testing

@testable import Coffer

@Suite("A keyring that its database does not confirm", .serialized)
struct ForeignKeyringTests {
    let fixture: KeyringFixture
    private let anna = KeyringFixture.anna

    init() throws { fixture = try KeyringFixture() }

    /// A flaw of a keyring file.
    enum Flaw: String, CaseIterable {
        case owner, mode, links
    }

    private static let flaws = Flaw.allCases.filter { $0 != .owner || getuid() == 0 }

    /// Gives the keyring a flaw.
    ///
    /// - Returns: the resulting problem.
    private func give(_ flaw: Flaw, _ path: String) throws -> EncryptionFailure.KeyringProblem {
        switch flaw {
        case .owner:
            try #require(unsafe chown(path, 65534, 65534) == 0)
            return .ofAnotherUser(userID: 65534)
        case .mode:
            try #require(unsafe chmod(path, 0o620) == 0)
            return .writableByOthers(mode: 0o620)
        case .links:
            try #require(unsafe link(path, fixture.directory.path("second")) == 0)
            return .hardLinks(count: 2)
        }
    }

    private func takeBack(_ path: String) throws {
        if getuid() == 0 { try #require(unsafe chown(path, 0, 0) == 0) }
        try #require(unsafe chmod(path, 0o600) == 0)
        try? FileManager.default.removeItem(atPath: fixture.directory.path("second"))
    }

    @Test(
        "a new or empty database does not take it, and nothing is written", arguments: flaws, [false, true])
    func refusesForNewDatabase(_ flaw: Flaw, _ isEmpty: Bool) throws {
        try fixture.keyring.make([.secret(anna)])
        if isEmpty { try fixture.directory.write([], to: "items.db") }
        let problem = try give(flaw, fixture.keyring.path)
        for access in Access.allCases {
            let found = KeyringFixture.problem {
                _ = try fixture.directory.make(access, "items.db", fixture.configuration(anna))
            }
            #expect(found == problem)
        }
        #expect(problem.description.contains("try again"))
        if FileManager.default.fileExists(atPath: fixture.path) {
            #expect(try fixture.directory.bytes(of: "items.db") == [])
        }
        try takeBack(fixture.keyring.path)
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        try queue.write { try $0.execute(sql: "CREATE TABLE item (title TEXT)") }
        try queue.close()
        #expect(try fixture.items(anna) == [])
    }

    @Test("a database with the same salt confirms it, regardless of the owner of the file", arguments: flaws)
    func confirmed(_ flaw: Flaw) throws {
        try fixture.make()
        _ = try give(flaw, fixture.keyring.path)
        #expect(try fixture.items(anna) == ["letter", "photo"])
        _ = try fixture.keyring.exportedKey(unlockedBy: anna)
        _ = try fixture.keyring.keyForRestoring(unlockedBy: anna)
        #expect(try fixture.keyring.slotsForCopies(unlockedBy: anna).count == 1)
    }

    @Test("its data key and its slots are not given out for a database that is missing", arguments: flaws)
    func givesNothingOut(_ flaw: Flaw) throws {
        try fixture.make()
        try FileManager.default.removeItem(atPath: fixture.path)
        let problem = try give(flaw, fixture.keyring.path)
        let keyring = fixture.keyring
        #expect(KeyringFixture.problem { _ = try keyring.exportedKey(unlockedBy: anna) } == problem)
        #expect(KeyringFixture.problem { _ = try keyring.keyForRestoring(unlockedBy: anna) } == problem)
        #expect(KeyringFixture.problem { _ = try keyring.slotsForCopies(unlockedBy: anna) } == problem)
        try takeBack(keyring.path)
        _ = try keyring.keyForRestoring(unlockedBy: anna)
    }

    @Test("the keyring of another database is not used for a missing one")
    func foreignSlots() throws {
        try fixture.make()
        let other = KeyringFixture(
            directory: fixture.directory, path: fixture.directory.path("other.db"))
        try other.make()
        try FileManager.default.removeItem(atPath: fixture.keyring.path)
        try FileManager.default.copyItem(atPath: other.keyring.path, toPath: fixture.keyring.path)
        let problem = try give(.mode, fixture.keyring.path)
        let found = KeyringFixture.problem { _ = try fixture.keyring.slotsForCopies(unlockedBy: anna) }
        #expect(found == problem)
    }

    @Test("the owner of a damaged database confirms a keyring of the same owner", .enabled(if: getuid() == 0))
    func sameOwner() throws {
        try fixture.make()
        var bytes = try fixture.directory.bytes(of: "items.db")
        bytes.replaceSubrange(0..<16, with: [UInt8](repeating: 7, count: 16))
        try fixture.directory.write(bytes, to: "items.db")
        let problem = try give(.owner, fixture.keyring.path)
        let found = KeyringFixture.problem { _ = try fixture.keyring.keyForRestoring(unlockedBy: anna) }
        #expect(found == problem)
        try #require(unsafe chown(fixture.path, 65534, 65534) == 0)
        _ = try fixture.keyring.keyForRestoring(unlockedBy: anna)
    }

    @Test("an exported header is not put back for a database that is missing", arguments: flaws)
    func restoresHeader(_ flaw: Flaw) throws {
        try fixture.make()
        let export = fixture.directory.path("header")
        try fixture.keyring.exportHeader(to: export)
        let problem = try give(flaw, export)
        for name in [fixture.path, fixture.keyring.path] { try FileManager.default.removeItem(atPath: name) }
        #expect(
            KeyringFixture.problem { try fixture.keyring.restoreHeader(from: export, unlockedBy: anna) }
                == problem)
        #expect(!FileManager.default.fileExists(atPath: fixture.keyring.path))
        try takeBack(export)
        try fixture.keyring.restoreHeader(from: export, unlockedBy: anna)
    }

    @Test(
        "a keyring that the superuser makes belongs to the owner of its database", .enabled(if: getuid() == 0)
    )
    func ownerOfDatabase() throws {
        func makeDatabase(ofUser user: UInt32) throws {
            let queue = try DatabaseQueue(path: fixture.path, configuration: .rawKeyed)
            try queue.write { try $0.execute(sql: "CREATE TABLE item (title TEXT)") }
            try queue.close()
            try #require(unsafe chown(fixture.path, user, user) == 0 && chmod(fixture.path, 0o644) == 0)
        }
        func expectOwner() throws {
            let status = try #require(try SystemFile.status(fixture.keyring.path))
            #expect(status.userID == 65534 && status.groupID == 65534 && status.permissions == 0o600)
        }
        let (keyring, key) = (fixture.keyring, try #require(Configuration.rawKeyed.key))
        try makeDatabase(ofUser: 65534)
        try keyring.adopt([.secret(anna)], key: key)
        try expectOwner()
        #expect(try fixture.items(anna) == [])
        // A change keeps the owner.
        try keyring.add(.secret(KeyringFixture.ben), unlockedBy: anna)
        try expectOwner()
        let export = fixture.directory.path("header")
        try keyring.exportHeader(to: export)
        #expect(try SystemFile.status(export)?.userID == 0)
        try FileManager.default.removeItem(atPath: keyring.path)
        try keyring.restoreHeader(from: export, unlockedBy: anna)
        try expectOwner()
    }

    @Test("a user accepts a keyring of the superuser, but not of a third user", .enabled(if: getuid() == 0))
    func ofSuperuser() async {
        await #expect(processExitsWith: .success) {
            let fixture = try KeyringFixture()
            try fixture.keyring.make([.secret(KeyringFixture.anna)])
            try #require(unsafe chmod(fixture.keyring.path, 0o644) == 0)
            try #require(unsafe chmod(fixture.directory.path, 0o777) == 0)
            try #require(setegid(65534) == 0 && seteuid(65534) == 0)
            let queue = try DatabaseQueue(
                path: fixture.path, configuration: fixture.configuration(KeyringFixture.anna))
            try queue.write { try $0.execute(sql: "CREATE TABLE item (title TEXT)") }
            try queue.close()
            try #require(seteuid(0) == 0)
            try FileManager.default.removeItem(atPath: fixture.path)
            try #require(unsafe chown(fixture.keyring.path, 1, 1) == 0 && seteuid(65534) == 0)
            let problem = KeyringFixture.problem {
                _ = try DatabaseQueue(
                    path: fixture.path, configuration: fixture.configuration(KeyringFixture.anna))
            }
            #expect(problem == .ofAnotherUser(userID: 1))
            try #require(seteuid(0) == 0)
        }
    }
}
