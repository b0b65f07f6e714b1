import CofferTestSupport
import Foundation
import SQLCipherBridge
import SystemCalls
import Testing

@testable import Coffer

/// A folder with the name of a leftover file cannot be removed as a file.
@Suite("An error while the files of a killed run are removed")
struct LeftoverErrorTests {
    let directory: TestDirectory
    private let killed = RunIdentifier(number: 5)

    init() throws { directory = try TestDirectory() }

    /// Runs `body` twice: it fails while the leftover copy cannot be removed, and then completes.
    private func check(
        note: String, copy: String, _ operation: ReplacementOperation?, _ body: () throws -> Void
    ) throws {
        let content = try ReplacementNote(operation, id: killed, step: "copy").encoded()
        let (note, copy) = (SystemFile.name(of: note), SystemFile.name(of: copy))
        try directory.write(content, to: note)
        let folder = try directory.makeFolder(copy)
        #expect(reason(body) == .inputOutput(call: "unlink", errno: EISDIR))
        #expect(try directory.bytes(of: note) == content)
        try FileManager.default.removeItem(atPath: folder)
        try directory.write([1, 2, 3], to: copy)
        try body()
        #expect(!directory.fileNames().contains { $0 == note || $0 == copy })
    }

    @Test("keeps the note of a replacement", arguments: LeftoverNoteTests.Work.allCases)
    func replacement(work: LeftoverNoteTests.Work) throws {
        let file = try directory.makeFile {
            if work == .encrypt { ($0.key, $0.allowsPlaintext) = (nil, true) }
        }
        let names = ReplacementNames(path: file.path, operation: work.operation)
        try check(note: names.note, copy: names.copy(killed), work.operation) { try work.run(file) }
    }

    @Test("keeps the note of a new file", arguments: ["backup", "vacuum", "decrypt", "restore"])
    func newFile(kind: String) throws {
        let file = try directory.makeFile()
        let copy = directory.path("copy.db")
        if kind == "restore" { try directory.makeFile("copy.db", rows: 10) }
        let names = NewFileNames(path: copy)
        for name in [names.temporary(killed), names.merged(killed), names.keyring(killed)] {
            try check(note: names.lock, copy: name, nil) {
                switch kind {
                case "backup": try file.backup(to: copy, key: Keys.old)
                case "vacuum": try file.vacuum(into: copy, key: Keys.old)
                case "restore":
                    var options = DatabaseFile.ConversionOptions()
                    options.keepOldPath = directory.path("kept\(SystemFile.name(of: name))")
                    try DatabaseFile(path: copy).restore(from: file.path, key: Keys.old, options: options)
                default:
                    try file.decrypt(to: copy, key: Keys.old, confirming: .contentBecomesReadableByAnyone)
                }
            }
            if kind != "restore" { try FileManager.default.removeItem(atPath: copy) }
        }
    }

    @Test("keeps the note of a keyring")
    func keyring() throws {
        let fixture = KeyringFixture(directory: directory, path: directory.path("items.db"))
        try fixture.make()
        let names = NewFileNames(path: fixture.keyring.path)
        try check(note: names.lock, copy: names.temporary(killed), nil) {
            try fixture.keyring.add(.secret(KeyringFixture.ben), unlockedBy: KeyringFixture.anna)
        }
        try check(note: names.lock, copy: names.temporary(killed), nil) {
            try fixture.keyring.destroy(confirming: "items.db")
        }
    }

    /// The ways in which the old file or its keyring cannot be looked at for a moment.
    enum Obstacle: CaseIterable {
        case folderIsFile, keyringIsOpen
    }

    @Test(
        "keeps the note that names the kept keyring, which opens the kept file", arguments: Obstacle.allCases)
    func keptKeyring(obstacle: Obstacle) throws {
        let fixture = KeyringFixture(directory: directory, path: directory.path("items.db"))
        let (keyring, anna, ben) = (fixture.keyring, KeyringFixture.anna, KeyringFixture.ben)
        try fixture.make([.secret(ben)])
        let (backup, backupKey) = (directory.path("backup.db"), DatabaseKey.random())
        let file = DatabaseFile(path: fixture.path)
        try file.backup(to: backup, key: keyring.exportedKey(unlockedBy: anna), newKey: backupKey)
        let kept = try directory.makeFolder("kept") + "/old.db"
        try FileManager.default.linkItem(atPath: fixture.path, toPath: kept)
        try FileManager.default.copyItem(atPath: keyring.path, toPath: "\(kept).keys")
        var note = ReplacementNote(nil, id: killed, step: "publish")
        note.keepOldPath = kept
        note.original = try SystemFile.status(fixture.path)?.identity
        note.keyringDigest = try KeptKeyring.digest(of: keyring.path)
        let names = NewFileNames(path: fixture.path)
        try directory.write(note.encoded(), to: SystemFile.name(of: names.lock))

        let folder = SystemFile.directory(of: kept)
        let key = try keyring.keyForRestoring(unlockedBy: anna)
        func problem() -> DatabaseFileError.Reason? {
            reason { try file.restore(from: backup, key: backupKey, newKey: key) }
        }
        switch obstacle {
        case .folderIsFile:
            try FileManager.default.moveItem(atPath: folder, toPath: "\(folder).away")
            try directory.write([], to: "kept")
            #expect(problem() == .inputOutput(call: "stat", errno: ENOTDIR))
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.moveItem(atPath: "\(folder).away", toPath: folder)
        case .keyringIsOpen:
            // Closing another descriptor of a file that a connection has open would release its locks.
            let connection = try EngineConnection(path: "\(kept).keys", flags: .readOnly)
            #expect(problem() == .busy([FileUsers.thisProcess]))
            withExtendedLifetime(connection) {}
        }
        #expect(NoteFile.read(names.lock)?.id == killed.text)
        try keyring.remove(slot: 2, unlockedBy: anna)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
}
