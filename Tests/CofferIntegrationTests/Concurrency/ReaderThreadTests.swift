import Coffer
import CofferTestSupport
import Dispatch
import Glibc
import Testing

@Suite("The thread that opens a reader")
struct ReaderThreadTests {
    @Test("a reader is opened while all threads of the global queue are blocked")
    func blockedGlobalQueue() async {
        await #expect(processExitsWith: .success) {
            alarm(UInt32(Patience.seconds))
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                let end = DispatchSemaphore(value: 0)
                // More blocks than the queue can ever have threads: later blocks do not begin before the end.
                for _ in 0..<1000 { DispatchQueue.global().async { end.wait() } }
                let isRead = DispatchSemaphore(value: 0)
                // With a reader in use, the next read needs a new one.
                try pool.read { _ in
                    pool.asyncRead { _ in isRead.signal() }
                    isRead.wait()
                }
                for _ in 0..<1000 { end.signal() }
                try pool.close()
            }
        }
    }
}
