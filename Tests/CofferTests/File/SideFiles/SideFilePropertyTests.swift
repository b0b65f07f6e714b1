import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import Testing

@testable import Coffer

@Suite("Any journal or log")
struct SideFilePropertyTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static func mutate(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        if Bool.random(using: &random) {
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            // Headers matter most.
            let end = Bool.random(using: &random) ? min(64, bytes.count) : bytes.count
            bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }

    private static func read(_ bytes: [UInt8]) -> BlockReader.Read {
        { offset, target in
            let part = bytes.dropFirst(Int(offset)).prefix(target.count)
            target.replaceSubrange(0..<part.count, with: part)
            return part.count
        }
    }

    @Test("is parsed within its bounds, however it was truncated and changed")
    func parsers() throws {
        var random = SeededRandom("parsers")
        let pages = (1...6).map { number in
            (page: UInt32(number), content: (0..<1024).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        let journal = Forgery.journal(pageSize: 1024, pageCount: 6, records: pages)
        let log = Forgery.log(pageSize: 1024, pageCount: 6, frames: pages)
        func hotJournal(_ bytes: [UInt8]) throws -> HotJournal {
            try HotJournal(
                pageSize: 1024, size: Int64(bytes.count), read: Self.read(bytes), exists: { _ in true })
        }
        #expect(try hotJournal(journal).offsets.count == 6)
        #expect(try CommittedLog(pageSize: 1024, read: Self.read(log)).offsets.count == 6)
        for _ in 0..<3000 {
            let changedJournal = Self.mutate(journal, &random)
            let hot = try hotJournal(changedJournal)
            #expect(hot.offsets.values.allSatisfy { $0 >= 0 && $0 + 1024 <= Int64(changedJournal.count) })
            let changedLog = Self.mutate(log, &random)
            let committed = try CommittedLog(pageSize: 1024, read: Self.read(changedLog))
            #expect(committed.offsets.values.allSatisfy { $0 >= 32 && $0 + 1024 <= Int64(changedLog.count) })
            // The checksums form a chain, and the only commit is at its end.
            #expect(committed.offsets.isEmpty || changedLog == log)
        }
    }

    @Test(
        "that comes from another database never changes the content, however it was cut and changed",
        arguments: [false, true])
    func neverAccepted(isLog: Bool) throws {
        var random = SeededRandom("foreign \(isLog)")
        _ = try directory.makeFile(rows: 40)
        _ = try directory.makeFile("other.db", rows: 40)
        let foreign = try isLog ? directory.crashInWAL("other.db").log : directory.crash("other.db").journal
        let content = try directory.content(key: Keys.old)
        let intact = try directory.bytes(of: "a.db")
        let name = isLog ? "a.db-wal" : "a.db-journal"
        var refusals = 0
        for round in 0..<60 {
            try directory.write(Self.mutate(foreign, &random), to: name)
            do {
                #expect(try directory.content(key: Keys.old) == content, "round \(round)")
            } catch let error as DatabaseError {
                guard case .foreignSideFile = error.encryptionFailure else { throw error }
                refusals += 1
                #expect(try directory.bytes(of: "a.db") == intact, "round \(round)")
            }
            for file in directory.fileNames() where file.hasPrefix("a.db-") {
                try FileManager.default.removeItem(atPath: directory.path(file))
            }
            try directory.write(intact, to: "a.db")
        }
        #expect(refusals > 0)
    }

    @Test("that a writer restarts during the check is checked again")
    func restarted() throws {
        _ = try directory.makeFile(rows: 40)
        let own = try directory.crashInWAL().log
        var frames = Forgery.frames(of: own)
        // Parts of the states before and after the restart.
        frames[frames.count - 1].content[100] ^= 1
        let file = try directory.bytes(of: "a.db")
        let torn = Forgery.log(pageCount: UInt32(file.count / 4096), frames: frames)
        let queue = try directory.makeQueue()
        let ring = try #require(queue.inDatabase { $0.keying.keys.configured })
        let material = try #require(ring.cachedMaterial(keyIndex: 0, fileSalt: Array(file.prefix(16))))
        let check = try SideFileCheck(material, CipherSettings(), database: StatesOfFile([file]))
        #expect(try check.verdict(on: .log, StatesOfFile([torn, own])) == .harmless)
        #expect(try check.verdict(on: .log, StatesOfFile([torn])) == .foreign(isFileWhole: true))
    }

    @Test("with one authentic page verifies the key of a damaged file, but is still refused")
    func damagedFile() throws {
        _ = try directory.makeFile(rows: 40)
        let own = try directory.crashInWAL().log
        let file = try directory.bytes(of: "a.db")
        let queue = try directory.makeQueue()
        let ring = try #require(queue.inDatabase { $0.keying.keys.configured })
        let material = try #require(ring.cachedMaterial(keyIndex: 0, fileSalt: Array(file.prefix(16))))
        var damaged = file
        for offset in stride(from: 100, to: damaged.count, by: 4096) { damaged[offset] ^= 1 }
        let authentic = Forgery.frames(of: own)
        let foreign = (page: authentic[0].page, content: [UInt8](repeating: 7, count: 4096))
        let frames = [foreign] + authentic.filter { $0.page != foreign.page }
        let mixed = Forgery.log(pageCount: UInt32(file.count / 4096), frames: frames)
        let ofDamaged = try SideFileCheck(material, CipherSettings(), database: StatesOfFile([damaged]))
        #expect(try ofDamaged.verdict(on: .log, StatesOfFile([mixed])) == .foreign(isFileWhole: false))
    }
}

/// Bytes that change when their beginning is read for the second time.
private final class StatesOfFile: StoredBytes {
    private let states: [[UInt8]]
    private let looks = Mutex(0)

    init(_ states: [[UInt8]]) { self.states = states }

    private var state: [UInt8] { states[min(max(0, looks.withLock { $0 } - 1), states.count - 1)] }

    var size: Int64 { Int64(state.count) }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        if offset == 0 && target.count == 32 { looks.withLock { $0 += 1 } }
        let part = state.dropFirst(Int(offset)).prefix(target.count)
        target.copy(part.span)
        return part.count
    }
}
