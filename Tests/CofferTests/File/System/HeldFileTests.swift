import CofferTestSupport
import Foundation
import Synchronization
import SystemCalls
import Testing

@testable import Coffer

/// Attacks by another user who may rename files in the directory. The progress function makes them in the
/// middle of the work.
@Suite("Files that are kept open while they are created")
struct HeldFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    enum Work: String, CaseIterable {
        case rotate, vacuum, decrypt, backup, vacuumInto, decryptInto

        var makesNewFile: Bool { [.backup, .vacuumInto, .decryptInto].contains(self) }
        var makesPlaintext: Bool { [.decrypt, .decryptInto].contains(self) }
    }

    private func run(_ work: Work, _ file: DatabaseFile, _ progress: DatabaseFile.ProgressFunction? = nil)
        throws
    {
        let copy = directory.path("copy.db")
        switch work {
        case .rotate: try file.rotate(from: Keys.old, to: Keys.new, progress: progress)
        case .vacuum: try file.vacuum(key: Keys.old, progress: progress)
        case .decrypt:
            try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone, progress: progress)
        case .backup: try file.backup(to: copy, key: Keys.old, progress: progress)
        case .vacuumInto: try file.vacuum(into: copy, key: Keys.old, progress: progress)
        case .decryptInto:
            try file.decrypt(
                to: copy, key: Keys.old, confirming: .contentBecomesReadableByAnyone, progress: progress)
        }
    }

    private func unfinishedCopies() -> [String] {
        directory.fileNames().filter {
            $0.hasPrefix(".coffer-") && !$0.hasSuffix(".lock") && !$0.hasSuffix(".note")
        }
    }

    @Test(
        "a file that replaces the copy gets none of the content, and is not published",
        arguments: Work.allCases.filter { !$0.makesPlaintext },
        [DatabaseFile.Progress.Phase.copying, .verifying, .publishing])
    func exchange(work: Work, phase: DatabaseFile.Progress.Phase) throws {
        let file = try directory.makeFile(rows: 2000)
        let before = try directory.bytes(of: "a.db")
        var copy: String?
        let problem = reason {
            try run(work, file) { progress in
                guard progress.phase == phase, copy == nil, let name = unfinishedCopies().first else {
                    return
                }
                copy = name
                try FileManager.default.moveItem(
                    atPath: directory.path(name), toPath: directory.path("stolen"))
                try directory.write([], to: name)
            }
        }
        let name = try #require(copy)
        #expect(problem == .unsafeFile(.replaced))
        #expect(try directory.bytes(of: "a.db") == before)
        // Their replacement stays.
        #expect(try directory.bytes(of: name) == [])
        #expect(directory.fileNames() == [name, "a.db", "stolen"].sorted())
    }

    @Test(
        "a plaintext copy has no name until it is in place",
        .enabled(
            if: TestDirectory.hasUnnamedFiles,
            "the temporary directory does not support files without names"),
        arguments: Work.allCases.filter(\.makesPlaintext))
    func unnamed(work: Work) throws {
        let file = try directory.makeFile(rows: 2000)
        var phases: Set<DatabaseFile.Progress.Phase> = []
        try run(work, file) { progress in
            phases.insert(progress.phase)
            #expect(unfinishedCopies() == [])
        }
        #expect(phases.isSuperset(of: [.copying, .verifying, .publishing]))
        let result = work.makesNewFile ? "copy.db" : "a.db"
        #expect(directory.fileNames() == (work.makesNewFile ? ["a.db", "copy.db"] : ["a.db"]))
        #expect(try directory.bytes(of: result).starts(with: Array("SQLite format 3".utf8)))
    }

    @Test("a plaintext copy whose name is taken at the end is not published, and the other file stays")
    func takenName() throws {
        let path = directory.path("taken")
        let file = try HeldFile(creating: path, isPlaintext: true)
        try directory.write([1], to: "taken")
        #expect(throws: DatabaseFileError.self) { try file.takeName(attributes: file.ownAttributes) }
        #expect(try directory.bytes(of: "taken") == [1])
    }

    @Test("the copy is for its owner only until it is in place", arguments: Work.allCases)
    func permissions(work: Work) throws {
        let file = try directory.makeFile(rows: 2000)
        try #require(unsafe chmod(file.path, 0o666) == 0)
        var modes: Set<UInt32> = []
        try run(work, file) { _ in
            for name in unfinishedCopies() {
                modes.insert(try SystemFile.status(directory.path(name))?.permissions ?? 0)
            }
        }
        #expect(modes == (work.makesPlaintext && TestDirectory.hasUnnamedFiles ? [] : [0o600]))
        // The content that everyone was able to read was encrypted.
        let result = try SystemFile.status(work.makesNewFile ? directory.path("copy.db") : file.path)?
            .permissions
        #expect(result == (work.makesNewFile || work == .decrypt ? 0o600 : 0o666))
    }

    // MARK: - Directories

    private func check(_ work: Work, isRefused: Bool, _ words: String) throws {
        let folder = directory.path("folder")
        let file = DatabaseFile(path: "\(folder)/a.db")
        let copy = "\(folder)/copy.db"
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let problem = reason {
            switch work {
            case .rotate: try file.rotationPlan(from: Keys.old, to: Keys.new).isAlreadyRotated
            case .vacuum: try file.vacuumPlan(key: Keys.old).isAlreadyDone
            case .decrypt: try file.decryptionPlan(key: Keys.old).isAlreadyDone
            case .backup, .vacuumInto: try file.copyPlan(to: copy, key: Keys.old).isAlreadyDone
            case .decryptInto: try file.decryptionPlan(to: copy, key: Keys.old).isAlreadyDone
            }
        }
        let outcome = reason {
            switch work {
            case .rotate: try file.rotate(from: Keys.old, to: Keys.new).isChanged
            case .vacuum: try file.vacuum(key: Keys.old).isChanged
            case .decrypt:
                try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone).isChanged
            case .backup: try file.backup(to: copy, key: Keys.old).isChanged
            case .vacuumInto: try file.vacuum(into: copy, key: Keys.old).isChanged
            case .decryptInto:
                try file.decrypt(to: copy, key: Keys.old, confirming: .contentBecomesReadableByAnyone)
                    .isChanged
            }
        }
        // The work holds a new encrypted file while it is made, so no other user can replace it.
        let expected: DatabaseFileError.Reason? =
            isRefused && ![.backup, .vacuumInto].contains(work) ? .unsafeFile(.sharedDirectory) : nil
        #expect(problem == expected, "\(words)")
        #expect(outcome == expected, "\(words)")
        if expected != nil {
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.db"])
        }
    }

    @Test(
        "where others may rename files, nothing is replaced, and nothing is written in the clear",
        arguments: Work.allCases)
    func sharedFolders(work: Work) throws {
        // This process has no file in the separate group.
        let strangers: UInt32 = getuid() == 0 ? 54321 : getegid()
        let cases: [(mode: UInt32, group: UInt32?, owner: UInt32?, isRefused: Bool)] = [
            (0o700, nil, nil, false), (0o755, nil, nil, false), (0o777, nil, nil, true),
            (0o1777, nil, nil, false),
            (0o702, nil, nil, true), (0o770, strangers, nil, true), (0o1770, strangers, nil, false),
            (0o750, strangers, nil, false),
            (0o755, nil, 54321, true), (0o1777, nil, 54321, true),
        ]
        for (mode, group, owner, isRefused) in cases {
            if (group != nil || owner != nil) && getuid() != 0 { continue }
            let folder = try directory.makeFolder("folder")
            try directory.makeFile("folder/a.db")
            if group != nil || owner != nil {
                try #require(unsafe chown(folder, owner ?? getuid(), group ?? getgid()) == 0)
            }
            try #require(unsafe chmod(folder, mode) == 0)
            try check(
                work, isRefused: isRefused,
                "\(String(mode, radix: 8)) \(String(describing: group)) \(String(describing: owner))")
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test(
        "the superuser accepts a directory that belongs to the owner of the file", .enabled(if: getuid() == 0)
    )
    func ownFolder() throws {
        let folder = try directory.makeFolder("folder")
        try directory.makeFile("folder/a.db")
        for path in [folder, "\(folder)/a.db"] { try #require(unsafe chown(path, 54321, 54321) == 0) }
        try check(.rotate, isRefused: false, "their own")
    }

    @Test(
        "an ACL that lets others write to the directory is refused, and a new file inherits none",
        .enabled(
            if: AccessControlList.areAvailable, "needs python3, and access control lists of temporary files"))
    func accessLists() throws {
        let folder = try directory.makeFolder("folder")
        try directory.makeFile("folder/a.db")
        // User 4711 can read and write files that are created here.
        let list =
            "02000000" + "01000700ffffffff" + "0200070067120000" + "04000000ffffffff" + "10000700ffffffff"
            + "20000000ffffffff"
        try #require(try AccessControlList.set(list, on: folder, "system.posix_acl_default"))
        try #require(unsafe chmod("\(folder)/a.db", 0o660) == 0)
        try check(.rotate, isRefused: false, "a default list")
        #expect(try SystemFile.status("\(folder)/a.db")?.permissions == 0o660)
        let status = try #require(try SystemFile.status("\(folder)/a.db"))
        #expect(try FileAttributes(of: "\(folder)/a.db", status: status).extended.isEmpty)
        try #require(try AccessControlList.set(list, on: folder))
        try directory.makeFile("folder/b.db")
        try FileManager.default.removeItem(atPath: "\(folder)/a.db")
        try FileManager.default.moveItem(atPath: "\(folder)/b.db", toPath: "\(folder)/a.db")
        try check(.decrypt, isRefused: true, "a list for the directory")
    }

    @Test("a directory that is moved away during the work is not lost, and its replacement stays unchanged")
    func movedFolder() throws {
        _ = try directory.makeFolder("folder")
        let file = try directory.makeFile("folder/a.db", rows: 2000)
        var isMoved = false
        #expect(throws: (any Error).self) {
            try file.rotate(from: Keys.old, to: Keys.new) { progress in
                guard progress.phase == .verifying, !isMoved else { return }
                isMoved = true
                try FileManager.default.moveItem(
                    atPath: directory.path("folder"), toPath: directory.path("moved"))
                _ = try directory.makeFolder("folder")
                try directory.makeFile("folder/a.db", key: Keys.other)
            }
        }
        #expect(isMoved)
        #expect(directory.opens("folder/a.db", key: Keys.other))
        #expect(directory.opens("moved/a.db", key: Keys.old))
        let moved = DatabaseFile(path: directory.path("moved/a.db"))
        #expect(try moved.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["folder/a.db", "moved/a.db"])
    }

    @Test(
        "names that end in a line break, or begin like the names of copies, work",
        arguments: ["a.db\n", ".coffer-a.db", "a.db.rotate.json"])
    func oddNames(name: String) throws {
        let file = try directory.makeFile(name)
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isChanged)
        try file.backup(to: directory.path("copy.db\n"), key: Keys.new)
        #expect(directory.fileNames() == [name, "copy.db\n"].sorted())
    }

    @Test("a file that is replaced between the plan and the work is examined again")
    func replacedAfterPlan() throws {
        let file = try directory.makeFile()
        let prepared = try file.prepareRotation(from: Keys.old, to: Keys.new)
        try FileManager.default.removeItem(atPath: file.path)
        try directory.makeFile(key: Keys.other)
        // The key has opened a file with this name before, and no longer does.
        #expect(reason { try prepared.run() } == .key(.keyRotated))
        #expect(directory.opens(key: Keys.other))
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a file that replaces the database at the last moment is kept")
    func replacedMeanwhile() throws {
        let file = try directory.makeFile()
        let problem = reason {
            try file.rotate(from: Keys.old, to: Keys.new) { progress in
                guard progress.phase == .publishing else { return }
                try FileManager.default.removeItem(atPath: file.path)
                try directory.write([1, 2, 3], to: "a.db")
            }
        }
        #expect(problem == .unsafeFile(.replaced))
        #expect(try directory.bytes(of: "a.db") == [1, 2, 3])
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a process that opens the file while it is copied is found before the copy is published")
    func openedMeanwhile() throws {
        let file = try directory.makeFile(rows: 2000)
        let before = try directory.bytes(of: "a.db")
        let other = Holder(file.path)
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = 0.1
        var isOpen = false
        let problem = reason {
            try file.rotate(from: Keys.old, to: Keys.new, options: options) { progress in
                guard progress.phase == .verifying, !isOpen else { return }
                isOpen = try other.open()
            }
        }
        #expect(isOpen)
        guard case .busy(let users) = problem else { return #expect(problem == .busy([])) }
        #expect(users.map(\.processID) == [other.processID])
        #expect(try directory.bytes(of: "a.db") == before)
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a process that opens the file right before it is locked is found before anything is copied")
    func openedBefore() throws {
        let file = try directory.makeFile()
        let other = Holder(file.path)
        let points = Mutex<[FailPoint]>([])
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = 0.1
        let problem = FailPoint.$passing.withValue({ point in
            points.withLock { $0.append(point) }
            if point == .journalLeft { _ = try? other.open() }
        }) {
            reason { try file.rotate(from: Keys.old, to: Keys.new, options: options) }
        }
        guard case .busy(let users) = problem else { return #expect(problem == .busy([])) }
        #expect(users.map(\.processID) == [other.processID])
        #expect(points.withLock { $0 } == [.noteMade, .journalLeft])
        #expect(directory.fileNames() == ["a.db"])
    }

    // MARK: - Users of the old file

    /// Another process that has a file open for reading as long as this object lives.
    private final class Holder: Sendable {
        private let process = Process()
        private let answers = Pipe()

        var processID: Int32 { process.processIdentifier }

        init(_ path: String) {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "exec 3<\"$0\"; echo open; exec sleep 1000", path]
            process.standardOutput = answers
        }

        /// Opens the file. Returns true if that succeeded.
        func open() throws -> Bool {
            try process.run()
            return !answers.fileHandleForReading.availableData.isEmpty
        }

        func end() {
            // SIGKILL, because a process inherits a blocked SIGTERM from a thread that blocks it.
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        deinit { end() }
    }

    @Test("a process that opens a kept file at the last moment cannot affect the new one")
    func keptFileInUse() throws {
        let file = try directory.makeFile()
        let before = try directory.bytes(of: "a.db")
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = directory.path("old.db")
        let other = Holder(directory.path("old.db"))
        try FailPoint.$passing.withValue({ if $0 == .renamed { _ = try? other.open() } }) {
            _ = try file.rotate(from: Keys.old, to: Keys.new, options: options)
        }
        #expect(try directory.bytes(of: "old.db") == before)
        #expect(directory.opens(key: Keys.new))
        other.end()
        #expect(directory.fileNames() == ["a.db", "old.db"])
    }

    @Test(
        "a process that opened the old file at the last moment cannot use it, even if the file is kept",
        arguments: [false, true])
    func oldFile(isKept: Bool) throws {
        let file = try directory.makeFile()
        let before = try directory.bytes(of: "a.db")
        var options = DatabaseFile.RotationOptions()
        if isKept { options.keepOldPath = directory.path("old.db") }
        var held: FileHandle?
        try file.rotate(from: Keys.old, to: Keys.new, options: options) { progress in
            if progress.phase == .publishing {
                held = try FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
            }
        }
        let after = try Array(held?.readToEnd() ?? Data())
        #expect(after.prefix(512) != before.prefix(512))
        #expect(after.dropFirst(512) == before.dropFirst(512))
        if isKept { #expect(try directory.bytes(of: "old.db") == before) }
        #expect(directory.fileNames() == (isKept ? ["a.db", "old.db"] : ["a.db"]))
        #expect(directory.opens(key: Keys.new))
    }

    @Test("if a kept file cannot be copied, the old file itself is kept")
    func keptFileWithoutCopy() throws {
        let file = try directory.makeFile()
        let before = try SystemFile.status(file.path)?.identity
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = directory.path("old.db")
        try FailPoint.$failing.withValue(.oldCopied) {
            _ = try file.rotate(from: Keys.old, to: Keys.new, options: options)
        }
        #expect(try SystemFile.status(directory.path("old.db"))?.identity == before)
        #expect(directory.opens("old.db", key: Keys.old) && directory.opens(key: Keys.new))
        #expect(directory.fileNames() == ["a.db", "old.db"])
    }

    @Test("a process that opens the old file of a restore at the last moment cannot affect the new one")
    func oldFileOfRestore() throws {
        let file = try directory.makeFile()
        let before = try directory.bytes(of: "a.db")
        let identity = try SystemFile.status(file.path)?.identity
        try file.backup(to: directory.path("b.db"), key: Keys.old)
        var options = DatabaseFile.ConversionOptions()
        options.keepOldPath = directory.path("old.db")
        let other = Holder(directory.path("old.db"))
        let problem = FailPoint.$passing.withValue({ if $0 == .renamed { _ = try? other.open() } }) {
            reason {
                try file.restore(from: directory.path("b.db"), key: Keys.old, options: options)
            }
        }
        guard case .busy(let users) = problem else { return #expect(problem == .busy([])) }
        #expect(users.map(\.processID) == [other.processID])
        #expect(try directory.bytes(of: "old.db") == before)
        #expect(try SystemFile.status(directory.path("old.db"))?.identity != identity)
        #expect(directory.opens("old.db", key: Keys.old) && directory.opens(key: Keys.old))
    }

    @Test("a file that another process links at the last moment stays usable")
    func linkedMeanwhile() throws {
        let file = try directory.makeFile()
        let problem = reason {
            try file.rotate(from: Keys.old, to: Keys.new) { progress in
                guard progress.phase == .publishing else { return }
                try FileManager.default.linkItem(atPath: file.path, toPath: directory.path("snapshot.db"))
            }
        }
        #expect(problem == .unsafeFile(.replaced))
        #expect(directory.opens("snapshot.db", key: Keys.old))
    }
}
