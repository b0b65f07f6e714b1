import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import SystemCalls
import Testing

@testable import Coffer

@Suite("Users of an open file", .serialized)
struct FileUsersTests {
    private static let signalCount = Atomic<Int>(0)

    @Test("a process that opens the file during the check does not cause a signal that ends this process")
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
            // SIGKILL, because the process inherits blocked signals from the thread that started it.
            kill(neighbour.processIdentifier, SIGKILL)
            neighbour.waitUntilExit()
        }
        var (free, inUse) = (0, 0)
        while free < 20_000 || inUse < 100 {
            switch FileLease.ask(path) {
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

    @Test("threads that check at the same time do not see each other")
    func askedAtOnce() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try #require(try SystemFile.status(path))
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<1000 {
                do {
                    try FileUsers.waitForNone(of: file, path, timeout: 0)
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(try FileUsers.ownDescriptorCount(of: file) == 0)
    }

    @Test("a check without a free file descriptor does not report the file as unused")
    func noDescriptor() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try #require(try SystemFile.status(path))
        let expected = DatabaseFileError(.inputOutput(call: "opendir", errno: EMFILE), path: "/proc/self/fd")
        Faults.$injected.withValue({ $0 == "opendir" ? Errno(EMFILE) : nil }) {
            #expect(throws: expected) { try FileUsers.waitForNone(of: file, path, timeout: 0) }
            #expect(throws: DatabaseFileError.self) { try FileUsers.others(of: file) }
        }
        // Folders of other users, and of processes that have ended, have no answer.
        try Faults.$injected.withValue({ $0 == "opendir" ? Errno(EACCES) : nil }) {
            let users = try FileUsers.others(of: file)
            #expect(users.isEmpty)
        }
    }

    @Test("the check drops no lock of this process, and sees its descriptor")
    func ownLock() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data(count: 100).write(to: URL(fileURLWithPath: path))
        let own = unsafe open(path, O_RDWR)
        defer { close(own) }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 10, l_pid: 0)
        let isLocked = unsafe fcntl(own, F_SETLK, &lock) == 0
        try #require(isLocked)
        #expect(FileLease.ask(path) != .free)
        // This process still holds the lock, so another process would have to wait for it.
        var status = stat()
        let isThere = unsafe fstat(own, &status) == 0
        try #require(isThere)
        let locks = try #require(KernelText.read("/proc/locks"))
        let lines = locks.split(separator: "\n").filter { $0.contains(":\(status.st_ino) ") }
        #expect(lines.contains { $0.contains("WRITE") })
    }

    @Test("a file with a lease of another program is in use")
    func leased() throws {
        let directory = try TestDirectory()
        let path = directory.path("file")
        try Data(count: 100).write(to: URL(fileURLWithPath: path))
        let holder = unsafe open(path, O_RDWR)
        defer { close(holder) }
        // F_SETLEASE and F_SETSIG. A SIGIO might still be pending after the test and would end the process.
        let (setLease, setSignal): (Int32, Int32) = (1024, 10)
        try #require(fcntl(holder, setSignal, SIGURG) == 0)
        guard fcntl(holder, setLease, Int32(F_WRLCK)) == 0 else {
            print("The file system does not grant leases, so that nothing can be seen here.")
            return
        }
        #expect(FileLease.ask(path) == .inUse)
    }

    @Test("checks of one file are serialized, but not with checks of another file")
    func questions() throws {
        let directory = try TestDirectory()
        let files = try ["a", "b"].map { name in
            try Data().write(to: URL(fileURLWithPath: directory.path(name)))
            return try #require(try SystemFile.status(directory.path(name)))
        }
        let answer = FileQuestions.shared.oneAtATime(about: files[0]) {
            FileQuestions.shared.oneAtATime(about: files[1]) { 7 }
        }
        #expect(answer == 7)
        let asking = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<1000 {
                FileQuestions.shared.oneAtATime(about: files[0]) {
                    #expect(asking.add(1, ordering: .relaxed).newValue == 1)
                    asking.subtract(1, ordering: .relaxed)
                }
            }
        }
    }
}
