import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Backups with a keyring", .serialized)
struct CopyKeyringTests {
    let fixture: KeyringFixture
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben
    private let file: DatabaseFile
    private let key: DatabaseKey

    init() throws {
        fixture = try KeyringFixture()
        try fixture.make()
        file = DatabaseFile(path: fixture.path)
        key = .keyring(unlockedBy: KeyringFixture.anna)
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("are opened by their own slots, and not by the slots of the file")
    func opens() throws {
        let copy = KeyringFixture(directory: fixture.directory, path: fixture.directory.path("copy.db"))
        let made = try file.backup(to: copy.path, key: key, slots: [.secret(ben)])
        #expect(made.path == copy.path)
        #expect(try copy.items(ben) == ["letter", "photo"])
        #expect(copy.problem(anna) == .noMatchingSlot)
        #expect(throws: DatabaseFileError.self) {
            try file.backup(to: copy.path, key: key, slots: [.secret(ben)])
        }
        #expect(try copy.items(ben) == ["letter", "photo"])
    }

    @Test("leave no keyring if the name of the copy is taken at the last moment")
    func takesBack() throws {
        let copy = KeyringFixture(directory: fixture.directory, path: fixture.directory.path("copy.db"))
        let other = [UInt8](repeating: 7, count: 4096)
        let error = #expect(throws: DatabaseFileError.self) {
            try file.backup(to: copy.path, key: key, slots: [.secret(ben)]) { step in
                if step.phase == .publishing { try fixture.directory.write(other, to: "copy.db") }
            }
        }
        #expect(error?.reason == .exists)
        #expect(try fixture.directory.bytes(of: "copy.db") == other)
        #expect(fixture.directory.fileNames() == ["copy.db", "items.db", "items.db.keys"])
    }

    @Test("are refused before copying if another keyring already has the name")
    func keepsStranger() throws {
        let copy = fixture.directory.path("copy.db")
        try fixture.directory.write([1], to: "copy.db.keys")
        var hasCopied = false
        let error = #expect(throws: DatabaseFileError.self) {
            try file.backup(to: copy, key: key, slots: [.secret(ben)]) { step in
                if step.completedPageCount > 0 { hasCopied = true }
            }
        }
        #expect(error?.reason == .exists && error?.path == "\(copy).keys")
        #expect(!hasCopied)
        #expect(fixture.directory.fileNames() == ["copy.db.keys", "items.db", "items.db.keys"])
    }

    @Test("whose removal was interrupted are removed completely by the next backup")
    func interruptedRemoval() throws {
        let folder = try fixture.directory.makeFolder("safe")
        let old = try file.backup(into: folder, key: key, slots: [.secret(ben)])
        try file.backup(into: folder, key: key, slots: [.secret(ben)])
        let outdated = try file.backupPruning(in: folder, keeping: .init()).outdated
        #expect(outdated.map(\.path) == [old.path])
        #expect(throws: (any Error).self) {
            try FailPoint.$failing.withValue(.renamed) { try file.removeBackup(outdated[0]) }
        }
        #expect(!exists(old.path) && exists("\(old.path).keys"))
        #expect(try file.backupPruning(in: folder, keeping: .init()).strayKeyrings == ["\(old.path).keys"])
        try file.backup(into: folder, key: key, newKey: .random())
        #expect(!exists("\(old.path).keys"))
        #expect(try file.backupPruning(in: folder, keeping: .init()).strayKeyrings == [])
    }
}
