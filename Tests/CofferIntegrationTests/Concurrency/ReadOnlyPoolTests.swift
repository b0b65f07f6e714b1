import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Read-only pools")
struct ReadOnlyPoolTests {
    let directory: TestDirectory
    private let readOnly = Configuration.rawKeyed.with { $0.readonly = true }

    init() throws { directory = try TestDirectory() }

    @Test("a read-only pool reads during writes of another pool, and cannot write")
    func besideWriter() async throws {
        let pool = try directory.makePlayersPool()
        try await pool.write { try $0.insertPlayer() }
        let reader = try directory.makePool("players.db", readOnly)
        #expect(try await reader.read { try $0.playerCount() } == 1)
        #expect { try reader.write { try $0.insertPlayer() } } throws: { isError(.SQLITE_READONLY)($0) }
        #expect { try reader.writeWithoutTransaction { try $0.insertPlayer() } } throws: {
            isError(.SQLITE_READONLY)($0)
        }
        try await pool.write { try $0.insertPlayer() }
        #expect(try await reader.read { try $0.playerCount() } == 2)
        let snapshot = try reader.makeSnapshot()
        let snapshots = try reader.makeSnapshotPool()
        #expect(try await snapshot.read { try $0.playerCount() } == 2)
        #expect(try await snapshots.read { try $0.playerCount() } == 2)
        try reader.close()
        #expect(try await pool.read { try $0.playerCount() } == 2)
    }

    @Test("a read-only pool makes no file, and reads one that was closed in WAL mode")
    func alone() throws {
        #expect { try directory.makePool("none.db", readOnly) } throws: { isError(.SQLITE_CANTOPEN)($0) }
        #expect(directory.fileNames().isEmpty)
        do {
            let pool = try directory.makePlayersPool()
            try pool.write { try $0.insertPlayer() }
        }
        #expect(directory.fileNames() == ["players.db"])
        let before = try directory.bytes(of: "players.db")
        do {
            let reader = try directory.makePool("players.db", readOnly)
            #expect(try reader.read { try $0.playerCount() } == 1)
        }
        #expect(try directory.bytes(of: "players.db") == before)
    }

    @Test("a read-only pool reads a file that is not in WAL mode, and does not change its mode")
    func rollbackMode() throws {
        do {
            let queue = try directory.makePlayers(.queue)
            try queue.write { try $0.insertPlayer() }
        }
        let reader = try directory.makePool("players.db", readOnly)
        #expect(try reader.read { try $0.playerCount() } == 1)
        #expect(try reader.read { try $0.journalMode() } == "delete")
    }

    @Test("a file whose WAL was lost opens with the content of the file itself")
    func lostWAL() throws {
        let path = directory.path("copy.db")
        do {
            let pool = try directory.makePlayersPool()
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try pool.write { try $0.insertPlayer() }
            try FileManager.default.copyItem(atPath: pool.path, toPath: path)
        }
        let pool = try directory.makePool("copy.db")
        #expect(try pool.read { try $0.playerCount() } == 0)
        try pool.write { try $0.insertPlayer() }
        #expect(try pool.read { try $0.playerCount() } == 1)
    }

    @Test(
        "a file with an unrecovered WAL opens with all of its commits, also read-only",
        arguments: [false, true])
    func leftWAL(isReadOnly: Bool) throws {
        do {
            let pool = try directory.makePlayersPool()
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try pool.write { try $0.insertPlayer() }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: pool.path + suffix, toPath: directory.path("copy.db" + suffix))
            }
        }
        let pool = try directory.makePool("copy.db", isReadOnly ? readOnly : .rawKeyed)
        #expect(try pool.read { try $0.playerCount() } == 1)
    }

    @Test(
        "a read-only pool reads files without write permission, with a WAL, and during writes of another process",
        .enabled(if: othersReachTemporaryDirectory, "the superuser needs a TMPDIR that other users can reach")
    )
    func permissions() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let readOnly = Configuration.rawKeyed.with { $0.readonly = true }
                let pool = try directory.makePlayersPool()
                try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                try pool.write { try $0.insertPlayer() }
                let suffixes = [
                    "complete": ["", "-wal", "-shm"], "without index": ["", "-wal"], "closed": [""],
                ]
                for (name, suffixes) in suffixes {
                    let folder = try directory.makeFolder(name)
                    for suffix in suffixes {
                        try FileManager.default.copyItem(
                            atPath: pool.path + suffix, toPath: "\(folder)/a.db\(suffix)")
                        setMode("\(folder)/a.db\(suffix)", 0o444)
                    }
                    setMode(folder, 0o555)
                }
                try pool.close()
                let shared = try directory.makeFolder("shared")
                try FileManager.default.moveItem(atPath: pool.path, toPath: "\(shared)/a.db")
                setMode("\(shared)/a.db", 0o644)
                setMode(shared, 0o755)
                setMode(directory.path, 0o755)
                let other = try OtherProcess(path: "\(shared)/a.db", .pool)
                #expect(try other.tell("insert") == "done")

                try asOrdinaryUser {
                    do {
                        let pool = try directory.makePool("complete/a.db", readOnly)
                        #expect(try inAllReaders(of: pool) { try $0.playerCount() } == [1, 1, 1, 1, 1])
                        #expect(try pool.makeSnapshotPool().read { try $0.playerCount() } == 1)
                        #expect { try pool.write { try $0.insertPlayer() } } throws: {
                            isError(.SQLITE_READONLY)($0)
                        }
                    }
                    // Without an index file for the WAL, each connection has its own index in memory.
                    for (name, count) in [("without index", 1), ("closed", 0)] {
                        let pool = try directory.makePool("\(name)/a.db", readOnly)
                        #expect(try pool.read { try $0.playerCount() } == count, "\(name)")
                    }
                    // The journal mode is already right, so opening writes nothing.
                    let unaware = try directory.makePool("complete/a.db")
                    #expect(try unaware.read { try $0.playerCount() } == 1)
                    #expect { try unaware.write { try $0.insertPlayer() } } throws: {
                        isError(.SQLITE_READONLY)($0)
                    }

                    let pool = try directory.makePool("shared/a.db", readOnly)
                    #expect(try pool.read { try $0.playerCount() } == 2)
                    let snapshot = try pool.makeSnapshot()
                    #expect(try other.tell("insert") == "done")
                    #expect(try pool.read { try $0.playerCount() } == 3)
                    #expect(try snapshot.read { try $0.playerCount() } == 2)
                }
                for name in suffixes.keys { setMode(directory.path(name), 0o755) }
            }
        }
    }
}
