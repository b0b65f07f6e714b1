import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Notes of interrupted runs")
struct LeftoverNoteTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// The kinds of work that look for a note next to the file.
    enum Work: String, CaseIterable {
        case rotate, rotateInPlace, vacuum, encrypt

        var operation: ReplacementOperation {
            switch self {
            case .rotate, .rotateInPlace: .rotate
            case .vacuum: .vacuum
            case .encrypt: .encrypt
            }
        }

        func run(_ file: DatabaseFile) throws {
            switch self {
            case .rotate, .rotateInPlace:
                var options = DatabaseFile.RotationOptions()
                options.method = self == .rotate ? .copy : .inPlace
                try file.rotate(from: Keys.old, to: Keys.new, options: options)
            case .vacuum: try file.vacuum(key: Keys.old)
            case .encrypt: try file.encrypt(key: Keys.new)
            }
        }
    }

    private func makeFile(_ work: Work) throws -> DatabaseFile {
        try directory.makeFile {
            if work == .encrypt { ($0.key, $0.allowsPlaintext) = (nil, true) }
        }
    }

    private func content(_ work: Work) throws -> [String] {
        try directory.content(key: work == .vacuum ? Keys.old : Keys.new)
    }

    private func writeNote(_ work: Work, id: String = "0123456789abcdef", kept: String? = nil) throws
        -> String
    {
        var note = ReplacementNote(work.operation, id: RunIdentifier(number: 1), step: "publish")
        note.id = id
        note.keepOldPath = kept
        let name = "a.db.\(work.operation.rawValue).json"
        try directory.write(note.encoded(), to: name)
        return name
    }

    // MARK: - Files that a note can remove

    @Test(
        "a note that names the database itself as the old file does not remove it, in any spelling of the name",
        arguments: Work.allCases)
    func namesTheDatabase(work: Work) throws {
        _ = try directory.makeFolder("sub")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("sub/here"), withDestinationPath: directory.path)
        let spellings = [
            directory.path("a.db"), "a.db", "./a.db", directory.path("sub/../a.db"),
            directory.path("sub/here/a.db"),
            "\(directory.path)//a.db", "/proc/self/cwd/a.db",
        ]
        for kept in spellings {
            let file = try makeFile(work)
            // The process that reads the note has a different current directory than the one that wrote it.
            let note = try writeNote(work, kept: kept)
            try work.run(file)
            #expect(try content(work).count > 200, "\(kept)")
            #expect(!directory.fileNames().contains(note))
            try FileManager.default.removeItem(atPath: file.path)
        }
    }

    @Test("a second link to the database is removed only if the note names it")
    func secondLink() throws {
        let file = try directory.makeFile()
        try FileManager.default.linkItem(atPath: file.path, toPath: directory.path("kept.db"))
        // The note does not name the second name, so the hard links are an error.
        _ = try writeNote(.rotate, kept: file.path)
        #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .unsafeFile(.hardLinks(count: 2)))
        #expect(directory.opens(key: Keys.old) && directory.opens("kept.db", key: Keys.old))
        // The note names it: the run was about to put its copy in place.
        _ = try writeNote(.rotate, kept: directory.path("kept.db"))
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["a.db"] && directory.opens(key: Keys.new))
    }

    @Test(
        "files that are named like copies are not removed, unless a note names them", arguments: Work.allCases
    )
    func userFiles(work: Work) throws {
        let file = try makeFile(work)
        let names = ReplacementNames(path: file.path, operation: work.operation)
        let mine =
            ["rotate", "vacuum", "encrypt", "upgrade", "decrypt"].map { "a.db.\($0)-20261122" }
            + [SystemFile.name(of: names.copy(RunIdentifier(number: 2))), ".coffer-notes"]
        for name in mine { try directory.write([1], to: name) }
        _ = try writeNote(work)
        let left = SystemFile.name(of: names.copy(RunIdentifier("0123456789abcdef") ?? .random()))
        try directory.write([2], to: left)
        try work.run(file)
        #expect(directory.fileNames() == (mine + ["a.db"]).sorted())
    }

    @Test(
        "an identifier in a note cannot refer to another file",
        arguments: ["../other.db", "../../x", "0123456789abcde", "0123456789ABCDEF", ""])
    func identifier(id: String) throws {
        let file = try directory.makeFile()
        try directory.write([1], to: "other.db")
        _ = try writeNote(.rotate, id: id)
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["a.db", "other.db"])
    }

    @Test("an identifier that contains a path removes nothing, even if the path resolves")
    func identifierWithPath() throws {
        let file = try directory.makeFile()
        let copy = ReplacementNames(path: file.path, operation: .rotate).copy(RunIdentifier(number: 0))
        let stem = SystemFile.name(of: copy).replacing("0000000000000000.rotate", with: "")
        _ = try directory.makeFolder(stem)
        try directory.write([1], to: "victim.rotate")
        _ = try writeNote(.rotate, id: "/../victim")
        #expect(FileManager.default.fileExists(atPath: directory.path("\(stem)/../victim.rotate")))
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["a.db", "victim.rotate"])
    }

    @Test(
        "a relative path in a note removes nothing: it was relative to the directory of an ended process")
    func relativePath() throws {
        let file = try directory.makeFile()
        try FileManager.default.linkItem(atPath: file.path, toPath: directory.path("kept.db"))
        _ = try writeNote(.rotate, kept: "kept.db")
        let result = try ChildProcess.run(
            "sh",
            [
                "-c", "cd \"$1\" && exec \"$2\" rotate a.db 66 23", "sh", directory.path,
                ChildProcess.built("CrashWorker"),
            ])
        #expect(result.outputText.hasPrefix("failed"), "\(result.outputText) \(result.errorText)")
        #expect(directory.opens(key: Keys.old) && directory.opens("kept.db", key: Keys.old))
    }

    // MARK: - Files that are not notes

    @Test(
        "a file of the user's that is named like a note is neither replaced nor removed, by any operation",
        arguments: ["report", "text", "binary", "empty report"], Work.allCases)
    func usersFile(kind: String, work: Work) throws {
        let file = try makeFile(work)
        let name = "a.db.\(work.operation.rawValue).json"
        let mine: [UInt8] =
            switch kind {
            case "report":
                Array(#"{"schema":1,"type":"result","command":"rotate","path":"a.db","code":0}"#.utf8)
            case "text": Array("my notes\n".utf8)
            case "binary": [UInt8](repeating: 0, count: 70_000)
            default: []
            }
        try directory.write(mine, to: name)
        // With the mode of a file that a shell creates for the output of a command.
        try #require(unsafe chmod(directory.path(name), 0o644) == 0)
        let before = try directory.bytes(of: "a.db")
        #expect(reason { try work.run(file) } == .unsafeFile(.foreignNote))
        #expect(try directory.bytes(of: name) == mine && directory.bytes(of: "a.db") == before)
        #expect(directory.fileNames() == ["a.db", name])
        #expect(try file.inspect().leftovers == [])
        // It does not count as a note when the database is erased either.
        try file.erase(confirming: "a.db")
        #expect(directory.fileNames() == [name])
    }

    @Test("an empty owner-only file is treated as an unwritten note, unless a process has it open")
    func unwritten() throws {
        let file = try directory.makeFile()
        let name = directory.path("a.db.rotate.json")
        try directory.write([], to: "a.db.rotate.json")
        try #require(unsafe chmod(name, 0o600) == 0)
        do {
            // For example, by a run that has just created it, or as the standard output of this process.
            let output = try FileHandle(forWritingTo: URL(fileURLWithPath: name))
            #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .busy([]))
            try output.close()
        }
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a database of this process that has the name of a note keeps its locks")
    func openDatabase() throws {
        let file = try directory.makeFile()
        let queue = try directory.makeQueue("a.db.rotate.json", .rawKeyed)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE u (a); BEGIN IMMEDIATE")
            _ = try file.leftovers()
            #expect(throws: DatabaseFileError.self) { try file.rotate(from: Keys.old, to: Keys.new) }
            // Locks of this kind respect those of connections, also in one process.
            let other = try FileDescriptor.open(directory.path("a.db.rotate.json"), forWriting: true)
            let isFree = other.lockAsDatabase()
            #expect(!isFree)
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        #expect(directory.opens(key: Keys.old))
    }

    // MARK: - Untrusted notes

    @Test(
        "a note that others could have written is ignored, and nothing is changed",
        arguments: ["link", "second name", "pipe", "folder", "writable", "owner"], Work.allCases)
    func foreign(kind: String, work: Work) throws {
        if kind == "owner" && getuid() != 0 { return }
        let file = try makeFile(work)
        try directory.write([1, 2, 3], to: "victim")
        let note = directory.path("a.db.\(work.operation.rawValue).json")
        switch kind {
        case "link":
            try FileManager.default.createSymbolicLink(
                atPath: note, withDestinationPath: directory.path("victim"))
        case "second name": try FileManager.default.linkItem(atPath: directory.path("victim"), toPath: note)
        case "pipe": try #require(unsafe mkfifo(note, 0o600) == 0)
        case "folder":
            try FileManager.default.createDirectory(atPath: note, withIntermediateDirectories: true)
        default:
            _ = try writeNote(work, kept: file.path)
            try #require(unsafe kind == "writable" ? chmod(note, 0o666) == 0 : chown(note, 65534, 65534) == 0)
        }
        let bytes = try directory.bytes(of: "a.db")
        #expect(reason { try work.run(file) } == .unsafeFile(.foreignNote))
        #expect(try directory.bytes(of: "a.db") == bytes)
        #expect(try directory.bytes(of: "victim") == [1, 2, 3])
        #expect(FileManager.default.fileExists(atPath: note))
    }

    @Test("erasing does not overwrite a file that has a hard link next to the database")
    func erasing() throws {
        let file = try directory.makeFile()
        try directory.write([1, 2, 3], to: "victim")
        for name in ["a.db-wal", "a.db.rotate.json"] {
            try FileManager.default.linkItem(atPath: directory.path("victim"), toPath: directory.path(name))
        }
        try file.erase(confirming: "a.db")
        #expect(try directory.bytes(of: "victim") == [1, 2, 3])
        #expect(!directory.fileNames().contains("a.db"))
    }

    // MARK: - Writing

    @Test("a note is replaced as a whole, and stays locked")
    func replacedWhole() throws {
        let (path, next) = (directory.path("note"), directory.path("next"))
        let file = try TakenNote(path, next: next, copies: { _ in [] }).cleared()
        var long = ReplacementNote(.rotate, id: .random(), step: "quiesce", journalMode: "wal")
        long.keepOldPath = String(repeating: "/long", count: 100)
        try file.write(long)
        let before = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        try file.write(ReplacementNote(.rotate, id: .random(), step: "copy", journalMode: "wal"))
        // A reader in the middle of the file sees one complete note, and so does the state after a crash in
        // the middle of a write.
        let bytes = try Array(before.readToEnd() ?? Data())
        #expect(ReplacementNote.decode(bytes)?.step == "quiesce")
        #expect(NoteFile.read(path)?.step == "copy")
        #expect(reason { _ = try TakenNote(path, next: next, copies: { _ in [] }) } == .busy([]))
        #expect(directory.fileNames() == ["note"])
        try file.remove()
        #expect(directory.fileNames() == [])
    }

    @Test("a relative path of an old file to keep is noted as an absolute one")
    func absolute() throws {
        let file = try directory.makeFile()
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = directory.path("./old.db")
        var noted: String?
        try file.rotate(from: Keys.old, to: Keys.new, options: options) { _ in
            noted = NoteFile.read(directory.path("a.db.rotate.json"))?.keepOldPath ?? noted
        }
        let expected = try SystemFile.resolved(directory.path) + "/old.db"
        #expect(noted == expected)
        #expect(directory.fileNames() == ["a.db", "old.db"])
    }

    @Test(
        "the path for the old file must not be that of the database",
        arguments: ["a.db", "./a.db", "sub/here/a.db"])
    func keptAsItself(name: String) throws {
        let file = try directory.makeFile()
        _ = try directory.makeFolder("sub")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("sub/here"), withDestinationPath: directory.path)
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = directory.path(name)
        for hasNote in [false, true] {
            if hasNote { _ = try writeNote(.rotate, kept: file.path) }
            #expect(
                reason { try file.rotationPlan(from: Keys.old, to: Keys.new, options: options) } == .exists)
            #expect(reason { try file.rotate(from: Keys.old, to: Keys.new, options: options) } == .exists)
        }
        #expect(directory.opens(key: Keys.old))
    }
}
