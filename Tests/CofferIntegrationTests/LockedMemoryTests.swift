import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

@Suite("The memory of keys", .serialized)
struct LockedMemoryTests {
    /// The log messages about memory that could not be locked.
    private final class Log: Sendable {
        let messages = Mutex<[String]>([])
    }

    @Test("beyond the limit of the process is counted as unlocked, and logged once")
    func counted() async {
        await #expect(processExitsWith: .success) {
            let log = Log()
            Database.logError = { code, message in
                if code == .SQLITE_WARNING { log.messages.withLock { $0.append(message) } }
            }
            let directory = try TestDirectory()
            try #require(unsafe chmod(directory.path, 0o777) == 0)
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
            if geteuid() == 0 { try #require(setegid(65534) == 0 && seteuid(65534) == 0) }
            let before = DatabaseKey.memoryUse.unlockedByteCount
            let pools = try (0..<3).map { try directory.makePool("\($0).db") }
            #expect(DatabaseKey.memoryUse.unlockedByteCount > before)
            let messages = log.messages.withLock { $0 }
            #expect(messages.count == 1 && messages[0].contains("RLIMIT_MEMLOCK"), "\(messages)")
            for pool in pools { try pool.close() }
            if geteuid() != getuid() { try #require(seteuid(0) == 0) }
        }
    }

    @Test("takes a few pages for an idle pool, and is freed when the pool is closed")
    func small() async {
        await #expect(processExitsWith: .success) {
            func total() -> Int {
                DatabaseKey.memoryUse.lockedByteCount + DatabaseKey.memoryUse.unlockedByteCount
            }
            let directory = try TestDirectory()
            // The first pool includes the memory that a process needs only once.
            let first = try directory.makePool("first.db")
            let before = total()
            let pools = try (0..<20).map { try directory.makePool("\($0).db") }
            let each = (total() - before) / 20
            print("an idle pool has \(each) bytes of the memory for keys")
            #expect(each <= 24 * 1024)
            for pool in pools { try pool.close() }
            #expect(total() <= before + 4096)
            try first.close()
        }
    }
}
