import CofferTestSupport
import Foundation
import Glibc
import SQLCipherBridge
import SystemCalls
import Testing

@testable import Coffer

@Suite("The holder of a lock")
struct LockHolderTests {
    private let list = """
        1: POSIX  ADVISORY  WRITE 71 fe:01:900 1073741826 1073742335
        2: POSIX  ADVISORY  WRITE 72 00:1f:900 1073741826 1073742335
        3: POSIX  ADVISORY  READ 73 fe:00:9 1073741826 1073742335
        4: -> POSIX  ADVISORY  WRITE 74 fe:00:900 1073741826 1073742335
        4: POSIX  ADVISORY  WRITE 75 fe:00:900 0 EOF
        5: POSIX  ADVISORY  WRITE 76 fe:00:900 1073741826 1073742335
        6: POSIX  ADVISORY  WRITE 77 fe:00:901 1073741824 1073742335
        7: POSIX  ADVISORY  WRITE 78 fe:00:902 1073741825 1073741825
        """

    private func holder(_ inode: UInt64, _ devices: [(UInt32, UInt32)], countsReaders: Bool = false) -> Int32?
    {
        let file = LockedFile(
            inode: inode, devices: Set(devices.map { LockedFile.Device(major: $0.0, minor: $0.1) }))
        return LockHolder(of: file, in: list, countsReaders: countsReaders)?.process
    }

    @Test("a file with the same inode number on another device is a different file")
    func devices() {
        #expect(holder(900, [(254, 0)]) == 76)
        #expect(holder(900, [(254, 1)]) == 71)
        // The device of the file, or the device of its mount.
        #expect(holder(900, [(0, 77), (0, 31)]) == 72)
        #expect(holder(900, [(254, 2)]) == nil)
        #expect(holder(900, []) == nil)
        #expect(holder(90, [(254, 0)]) == nil)
        #expect(holder(9, [(254, 0)]) == nil)
        #expect(holder(9, [(254, 0)], countsReaders: true) == 73)
    }

    @Test(
        "an exclusive lock merged with adjacent locks is found, and a reserved lock is not")
    func ranges() {
        #expect(holder(901, [(254, 0)]) == 77)
        #expect(holder(902, [(254, 0)], countsReaders: true) == nil)
    }

    @Test("a file is matched to its entry in /proc/locks")
    func names() throws {
        let directory = try TestDirectory()
        try directory.write([1], to: "file")
        try directory.write([1], to: "other")
        let descriptor = unsafe open(directory.path("file"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        let (file, other) = (
            try #require(LockedFile(path: directory.path("file"))),
            try #require(LockedFile(path: directory.path("other")))
        )
        let locks = try #require(KernelText.read("/proc/locks")).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        let names = locks.filter { $0.count == 8 && $0[1] == "FLOCK" && $0[4] == "\(getpid())" }.map { $0[5] }
        #expect(names.contains { file.isNamed(by: $0) }, "\(file) \(names)")
        #expect(!names.contains { other.isNamed(by: $0) })
        #expect(LockedFile(path: directory.path("none")) == nil)
    }
}
