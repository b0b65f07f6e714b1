import Foundation
import Synchronization
import Testing

@testable import SQLCipherBridge

@Suite("Side files in a directory in which other users can create files")
struct SideFileOwnersTests {
    /// Calls `body` with the path of a database in a directory with these permissions.
    private func withDatabase(_ permissions: mode_t, _ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("a.db").path
        try Data([1]).write(to: URL(fileURLWithPath: path))
        try #require(unsafe chmod(path, 0o600) == 0 && chmod(directory.path, permissions) == 0)
        try body(path)
    }

    @Test("are made before the engine opens them, for their owner only, and nothing is replaced")
    func reserving() throws {
        try withDatabase(0o1777) { path in
            let owners = try #require(unsafe SideFileOwners(ofDatabase: path))
            let log = "\(path)-wal"
            #expect(unsafe owners.mayUse(log) && !FileManager.default.fileExists(atPath: log))
            #expect(unsafe owners.reserve(log))
            let attributes = try FileManager.default.attributesOfItem(atPath: log)
            #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 0)
            try Data([2, 3]).write(to: URL(fileURLWithPath: log))
            #expect(unsafe owners.reserve(log) && owners.mayUse(log))
            #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == Data([2, 3]))
        }
    }

    @Test(
        "are trusted only if they are regular files with a single link",
        arguments: ["second name", "link", "pipe", "directory"])
    func kinds(kind: String) throws {
        try withDatabase(0o1777) { path in
            let owners = try #require(unsafe SideFileOwners(ofDatabase: path))
            let (log, other) = ("\(path)-wal", "\(path).other")
            try Data([2]).write(to: URL(fileURLWithPath: other))
            switch kind {
            case "second name": try FileManager.default.linkItem(atPath: other, toPath: log)
            case "link": try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: other)
            case "pipe": try #require(unsafe mkfifo(log, 0o600) == 0)
            default: try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
            }
            #expect(unsafe !owners.mayUse(log) && !owners.reserve(log))
        }
    }

    @Test("are opened without blocking, even if one is replaced by a pipe after the check")
    func pipeAfterLook() throws {
        try withDatabase(0o700) { path in
            // Nothing checks the type of a database file here.
            let pipe = "\(path).pipe"
            try #require(unsafe mkfifo(pipe, 0o600) == 0)
            // Ends the wait, if there is one: a nonblocking open for writing succeeds only if there is a
            // reader.
            let hasWaited = Mutex(false)
            let rescue = DispatchWorkItem {
                let writer = unsafe open(pipe, O_WRONLY | O_NONBLOCK)
                hasWaited.withLock { $0 = writer >= 0 }
                if writer >= 0 { close(writer) }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: rescue)
            #expect(throws: EngineError.self) {
                _ = try EngineConnection(path: pipe, flags: .readOnly).handle.readFile(at: 0, count: 1)
            }
            rescue.cancel()
            #expect(!hasWaited.withLock { $0 })
        }
    }

    @Test("are not checked if no other user can create files, or everyone may write to the database")
    func nothingToAsk() throws {
        try withDatabase(0o755) { #expect(unsafe SideFileOwners(ofDatabase: $0) == nil) }
        try withDatabase(0o1777) { path in
            for (mode, isAsked) in [(0o666, false), (0o660, true), (0o644, true)] as [(mode_t, Bool)] {
                try #require(unsafe chmod(path, mode) == 0)
                #expect(unsafe (SideFileOwners(ofDatabase: path) != nil) == isAsked)
            }
        }
    }
}
