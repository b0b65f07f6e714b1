import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Erasing a database with its keyring", .serialized)
struct KeyringErasureTests {
    let fixture: KeyringFixture
    private let anna = KeyringFixture.anna
    private let ben = KeyringFixture.ben

    init() throws {
        fixture = try KeyringFixture()
        try fixture.make()
    }

    private var keyring: DatabaseKeyring { fixture.keyring }
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("never destroys the keyring of a new database that is made in the meantime")
    func newDatabase() throws {
        let steps = Mutex<[FailPoint]>([])
        let made = Mutex(false)
        let (fixture, ben) = (fixture, ben)
        try FailPoint.$passing.withValue({ step in
            steps.withLock { $0.append(step) }
            // The keyring is destroyed by then, but the file still has its name.
            if step == .rekeyed { return }
            // Without a failing step of its own.
            FailPoint.$passing.withValue(nil) {
                do {
                    try fixture.keyring.make([.secret(ben)])
                    try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(ben)).close()
                    made.withLock { $0 = true }
                } catch {}
            }
        }) {
            _ = try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
        }
        #expect(steps.withLock { $0 } == [.locked, .rekeyed, .directorySynchronized])
        if made.withLock({ $0 }) {
            try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(ben)).close()
        } else {
            #expect(fixture.directory.fileNames() == [])
        }
    }

    @Test("changes nothing while the database is in use, or if the keyring's file is not a keyring")
    func refusals() throws {
        let queue = try DatabaseQueue(path: fixture.path, configuration: fixture.configuration(anna))
        #expect(throws: DatabaseFileError.self) {
            try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
        }
        try queue.close()
        #expect(try fixture.items(anna) == ["letter", "photo"])
        #expect(throws: DatabaseFileError.self) {
            try keyring.eraseDatabase(confirming: "other.db", lockTimeout: 0)
        }
        let bytes = try fixture.directory.bytes(of: "items.db.keys")
        try fixture.directory.write(Array("my keys".utf8), to: "items.db.keys")
        #expect(throws: DatabaseFileError.self) {
            try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
        }
        #expect(throws: DatabaseFileError.self) { try keyring.erasurePlan() }
        #expect(try fixture.directory.bytes(of: "items.db.keys") == Array("my keys".utf8))
        try fixture.directory.write(bytes, to: "items.db.keys")
        #expect(try fixture.items(anna) == ["letter", "photo"])
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test("does not touch a file that replaces the keyring during the erasure")
    func swappedKeyring() throws {
        let other = Array("another file of the same user".utf8)
        try fixture.directory.write(other, to: "other")
        let (path, target) = (fixture.directory.path("other"), keyring.path)
        let problem = FailPoint.$passing.withValue({ step in
            if step == .locked { unsafe #expect(rename(path, target) == 0) }
        }) {
            KeyringFixture.problem {
                _ = try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
            }
        }
        #expect(problem == .changed)
        #expect(try fixture.directory.bytes(of: "items.db.keys") == other && exists(fixture.path))
    }

    @Test("a key for restoring does not outlive its keyring")
    func restoringAfterwards() throws {
        let (backup, backupKey) = (fixture.directory.path("backup.db"), DatabaseKey.random())
        try DatabaseFile(path: fixture.path).backup(
            to: backup, key: keyring.exportedKey(unlockedBy: anna), newKey: backupKey)
        let key = try keyring.keyForRestoring(unlockedBy: anna)
        func restore() throws {
            try DatabaseFile(path: fixture.path).restore(from: backup, key: backupKey, newKey: key)
        }
        try keyring.add(.secret(ben), unlockedBy: anna)
        try restore()
        #expect(try fixture.items(ben) == ["letter", "photo"])
        _ = try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
        #expect(KeyringFixture.problem { try restore() } == .missing)
        #expect(!exists(fixture.path))
        try keyring.make([.secret(ben)])
        #expect(KeyringFixture.problem { try restore() } == .changed)
        #expect(!exists(fixture.path))
    }

    @Test("an unlocked keyring that was erased does not give its key to a new database")
    func creatingAfterwards() throws {
        let configuration = fixture.configuration(anna)
        let queue = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try queue.close()
        _ = try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0)
        for content in [nil, []] as [[UInt8]?] {
            if let content { try fixture.directory.write(content, to: "items.db") }
            #expect(
                KeyringFixture.problem {
                    _ = try DatabaseQueue(path: fixture.path, configuration: configuration)
                } == .missing)
            #expect(
                KeyringFixture.problem {
                    _ = try DatabasePool(path: fixture.path, configuration: configuration)
                } == .missing)
            // At most an empty file was made.
            #expect((try? fixture.directory.bytes(of: "items.db"))?.isEmpty ?? true)
        }
    }

    @Test("plans and removes the keyring if there is no database")
    func withoutDatabase() throws {
        try FileManager.default.removeItem(atPath: fixture.path)
        #expect(try keyring.erasurePlan() == [keyring.path])
        #expect(try keyring.eraseDatabase(confirming: "items.db", lockTimeout: 0) == [keyring.path])
        #expect(fixture.directory.fileNames() == [])
    }

    struct Stop: Error {}

    @Test("a new keyring is kept after a failure while the database is open and may need it")
    func openDatabase() throws {
        let path = fixture.directory.path("new.db")
        let new = DatabaseKeyring(databasePath: path)
        var open: FileHandle?
        #expect(throws: Stop.self) {
            try new.make([.secret(anna)]) { _ in
                try fixture.directory.write([], to: "new.db")
                open = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                throw Stop()
            }
        }
        #expect(exists(new.path))
        try open?.close()
        try DatabaseQueue(path: path, configuration: fixture.configuration(anna)).close()
    }

    @Test("a new keyring is removed after a failure if the file is missing, empty or has another key")
    func failedWork() throws {
        for content in [nil, [], [UInt8](repeating: 7, count: 4096)] as [[UInt8]?] {
            let new = DatabaseKeyring(databasePath: fixture.directory.path("new.db"))
            #expect(throws: Stop.self) {
                try new.make([.secret(anna)]) { _ in
                    if let content { try fixture.directory.write(content, to: "new.db") }
                    throw Stop()
                }
            }
            #expect(!exists(new.path))
            #expect(exists(new.databasePath) == (content != nil))
            #expect(
                fixture.directory.fileNames()
                    == ["items.db", "items.db.keys"] + (content == nil ? [] : ["new.db"]))
            try? FileManager.default.removeItem(atPath: new.databasePath)
        }
    }

    @Test("a keyring cannot be changed while a backup is restored over its database")
    func lockedWhileRestoring() throws {
        let (keyring, anna) = (keyring, anna)
        try keyring.keepingKeyring(unlockedBy: anna, lockTimeout: 0) { _ in
            #expect(
                KeyringFixture.problem { try keyring.rotateDataKey(unlockedBy: anna) } == .changeUnderWay)
        }
        try keyring.rotateDataKey(unlockedBy: anna)
        #expect(fixture.directory.fileNames() == ["items.db", "items.db.keys"])
    }

    @Test("a restore that fails removes the copy of the keyring, or leaves the note that names it")
    func failedCopy() throws {
        let (backup, backupKey) = (fixture.directory.path("backup.db"), DatabaseKey.random())
        let file = DatabaseFile(path: fixture.path)
        try file.backup(to: backup, key: keyring.exportedKey(unlockedBy: anna), newKey: backupKey)
        let key = try keyring.keyForRestoring(unlockedBy: anna)
        var options = DatabaseFile.ConversionOptions()
        options.keepsKeyring = true
        func restore() throws {
            try file.restore(from: backup, key: backupKey, newKey: key, options: options)
        }
        let names = NewFileNames(path: fixture.path)
        let before = fixture.directory.fileNames()
        for canBeRemoved in [true, false] {
            let taken = Mutex("")
            let problem = FailPoint.$passing.withValue({ step in
                guard step == .copySynchronized,
                    let run = NoteFile.read(names.lock).flatMap({ RunIdentifier($0.id) })
                else { return }
                taken.withLock { $0 = names.keyring(run) }
                if canBeRemoved {
                    #expect(FileManager.default.createFile(atPath: names.keyring(run), contents: nil))
                } else {
                    unsafe #expect(mkdir(names.keyring(run), 0o700) == 0)
                }
            }) {
                reason { try restore() }
            }
            #expect(problem == .exists)
            let path = taken.withLock { $0 }
            #expect(exists(path) == !canBeRemoved)
            #expect(exists(names.lock) == !canBeRemoved)
            #expect(fixture.directory.fileNames().filter { !$0.hasPrefix(".coffer-") } == before)
            if !canBeRemoved { unsafe #expect(rmdir(path) == 0) }
        }
        try restore()
        #expect(!exists(names.lock) && fixture.directory.fileNames().count == before.count + 2)
    }
}
