import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Who has a file open", .serialized)
struct FileUsersTests {
    private static let signalCount = Atomic<Int>(0)

    @Test("a process that opens the file while the kernel is asked gets no signal sent that ends this one")
    func openedMeanwhile() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data().write(to: URL(fileURLWithPath: path))
        let previous = signal(SIGIO) { _ in FileUsersTests.signalCount.add(1, ordering: .relaxed) }
        defer { signal(SIGIO, previous) }
        let neighbour = Process()
        neighbour.executableURL = URL(fileURLWithPath: "/bin/sh")
        neighbour.arguments = ["-c", "while :; do : < \"$0\"; done", path]
        try neighbour.run()
        defer {
            // It has the signals blocked that the thread has which began it.
            kill(neighbour.processIdentifier, SIGKILL)
            neighbour.waitUntilExit()
        }
        var (free, inUse) = (0, 0)
        while free < 50_000 || inUse < 100 {
            switch try FileDescriptor.open(path).takeLease() {
            case .free: free += 1
            case .inUse: inUse += 1
            case .unknown:
                // A file system without leases.
                print("The file system does not grant leases, so that nothing can be seen here.")
                return
            }
            try #require(neighbour.isRunning)
        }
        #expect(FileUsersTests.signalCount.load(ordering: .relaxed) == 0)
    }

    @Test("threads that ask at the same time leave no descriptor for which the file is in use ever after")
    func askedAtOnce() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try #require(try SystemFile.status(path))
        let busyCount = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<1000 {
                do {
                    try FileUsers.waitForNone(of: file, path, timeout: 0)
                } catch {
                    // Another thread asks at this moment.
                    busyCount.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(busyCount.load(ordering: .relaxed) > 0)
        try FileUsers.waitForNone(of: file, path, timeout: 0)
        #expect(FileUsers.ownDescriptorCount(of: file) == 0)
    }
}
