import CofferTestSupport
import Dispatch
import Glibc
import Synchronization
import SystemCalls
import Testing

@Suite("System calls")
struct SystemCallTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private struct Pipe: ~Copyable {
        let reading: Descriptor
        private var open: Descriptor?

        init() throws {
            var numbers: [CInt] = [-1, -1]
            try systemCall("pipe") { unsafe pipe(&numbers) }
            reading = Descriptor(owning: numbers[0])
            open = Descriptor(owning: numbers[1])
        }

        mutating func write(_ text: String) throws { try open?.write(text) }

        mutating func end() { open = nil }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func file(_ text: String, _ name: String = "a") throws -> Descriptor {
        let file = try Descriptor(opening: directory.path(name), O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(text)
        return file
    }

    // MARK: - Errors

    @Test("an interrupted call is repeated until it succeeds")
    func interrupted() throws {
        let attempts = Mutex(0)
        let interrupt: @Sendable (String) -> Errno? = { call in
            attempts.withLock { attempts in
                attempts += 1
                return call == "write" && attempts < 4 ? Errno(EINTR) : nil
            }
        }
        var pipe = try Pipe()
        try Faults.$injected.withValue(interrupt) { try pipe.write("abc") }
        #expect(attempts.withLock { $0 } == 4)
        #expect(try text(Descriptor.read(from: pipe.reading.number, upTo: 10)) == "abc")
    }

    @Test("an injected fault throws its error without making the call")
    func injected() throws {
        var pipe = try Pipe()
        #expect(throws: Errno(ENOSPC)) {
            try Faults.$injected.withValue({ $0 == "write" ? Errno(ENOSPC) : nil }) { try pipe.write("lost") }
        }
        try pipe.write("abc")
        pipe.end()
        #expect(try text(pipe.reading.readAll()) == "abc")
    }

    @Test("an error has its errno and the system's message")
    func words() throws {
        let error = #expect(throws: Errno.self) {
            _ = try Descriptor(opening: directory.path("none"), O_RDONLY)
        }
        #expect(error == Errno(ENOENT))
        #expect(error?.words == "No such file or directory")
    }

    // MARK: - Descriptors

    @Test("each call on a closed descriptor throws EBADF")
    func closed() throws {
        let number = try Descriptor(opening: directory.path, O_RDONLY).number
        // The number is free again, and no other file gets it: it is far below.
        let closed = Descriptor(owning: number + 1000)
        var target = [UInt8](repeating: 0, count: 4)
        func fails(_ body: () throws -> Void) { #expect(throws: Errno(EBADF), performing: body) }
        fails { try closed.write("abc") }
        fails { try closed.synchronize() }
        fails { try closed.setPermissions(0o600) }
        fails { try closed.lock(LOCK_EX) }
        fails { _ = try closed.readAll() }
        fails { _ = try closed.status() }
        fails { _ = try Descriptor(duplicating: closed.number) }
        fails {
            var span = target.mutableSpan
            _ = try closed.read(at: 0, into: &span)
        }
        fails { try Descriptor.write([1, 2].span, to: closed.number, at: 0) }
    }

    @Test("a descriptor is closed at the end of its life")
    func life() throws {
        var pipe = try Pipe()
        try pipe.write("abc")
        pipe.end()
        // Otherwise this would wait for more.
        #expect(try text(pipe.reading.readAll()) == "abc")
    }

    @Test("descriptors are close-on-exec, and duplicates are never standard descriptors")
    func inheritance() throws {
        let file = try file("abc")
        let copy = try Descriptor(duplicating: file.number)
        #expect(copy.number > STDERR_FILENO)
        for number in [file.number, copy.number] { #expect(fcntl(number, F_GETFD) == FD_CLOEXEC) }
        #expect(try copy.status() == file.status())
    }

    @Test("the lock of a file is refused to another descriptor until the first one ends")
    func locks() throws {
        func isLocked() -> Bool {
            do {
                try Descriptor(opening: directory.path("a"), O_RDONLY).lock(LOCK_EX | LOCK_NB)
                return false
            } catch {
                return error == Errno(EWOULDBLOCK)
            }
        }
        var first: Descriptor? = try file("")
        try first?.lock(LOCK_EX | LOCK_NB)
        #expect(isLocked())
        first = nil
        #expect(!isLocked())
    }

    // MARK: - Bytes

    @Test("a read returns the available bytes, and readAll waits for the end or the limit")
    func shortReads() throws {
        var pipe = try Pipe()
        try pipe.write("abc")
        #expect(try text(Descriptor.read(from: pipe.reading.number, upTo: 10)) == "abc")
        try pipe.write("defgh")
        #expect(try text(pipe.reading.readAll(upTo: 2)) == "de")
        pipe.end()
        #expect(try text(pipe.reading.readAll()) == "fgh")
        #expect(try Descriptor.read(from: pipe.reading.number, upTo: 10).isEmpty)
        #expect(try pipe.reading.readAll(upTo: 10).isEmpty)
    }

    @Test("more bytes than one call takes are read and written whole")
    func manyBytes() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let path = directory.path("a")
        let file = try Descriptor(opening: path, O_RDWR | O_CREAT, mode: 0o600)
        try Descriptor.write(bytes.span, to: file.number)
        #expect(KernelText.bytes(of: path) == bytes)
        #expect(try Descriptor(opening: path, O_RDONLY).readAll(upTo: 200_000) == Array(bytes[..<200_000]))
    }

    @Test("a read at an offset returns fewer bytes only at the end of the file")
    func offsets() throws {
        let file = try file("0123456789")
        try Descriptor.write(Array("ab".utf8).span, to: file.number, at: 8)
        var bytes = [UInt8](repeating: 0, count: 4)
        var span = bytes.mutableSpan
        #expect(try file.read(at: 7, into: &span) == 3)
        #expect(text(bytes) == "7ab\0")
        var again = bytes.mutableSpan
        #expect(try file.read(at: 10, into: &again) == 0)
    }

    // MARK: - Files and folders

    @Test("the names in a folder are bytes, also those that are not UTF-8")
    func oddNames() throws {
        let names: [[UInt8]] = [
            Array("...".utf8), Array("a b\n".utf8), [0x61, 0xff, 0xfe], [0xc3],
            [UInt8](repeating: 0x62, count: 255),
        ]
        for name in names {
            let path =
                Array(directory.path("").utf8CString.dropLast()) + name.map(CChar.init(bitPattern:)) + [0]
            _ = try Descriptor(owning: systemCall("open") { unsafe open(path, O_WRONLY | O_CREAT, 0o600) })
        }
        let found = try Folder.names(in: directory.path)
        #expect(found.count == names.count)
        #expect(Set(found) == Set(names))
        // FileManager cannot remove them.
        for name in names {
            let path =
                Array(directory.path("").utf8CString.dropLast()) + name.map(CChar.init(bitPattern:)) + [0]
            unsafe unlink(path)
        }
    }

    @Test("a folder that cannot be listed is an error", arguments: [("none", ENOENT), ("a", ENOTDIR)])
    func noFolder(name: String, code: CInt) throws {
        _ = try file("")
        #expect(throws: Errno(code)) { try Folder.names(in: directory.path(name)) }
    }

    @Test("the status follows links only when asked, and a file keeps its identity under another name")
    func status() throws {
        let file = try file("abc")
        try file.setPermissions(0o640)
        try systemCall("symlink") { unsafe symlink(directory.path("a"), directory.path("link")) }
        try systemCall("link") { unsafe link(directory.path("a"), directory.path("b")) }
        let status = try file.status()
        #expect(status.isRegular && status.isOwn && !status.isDirectory && !status.isSymbolicLink)
        #expect((status.size, status.linkCount, status.permissions) == (3, 2, 0o640))
        #expect(try FileStatus(directory.path("link"), followsLinks: true) == status)
        #expect(try FileStatus(directory.path("link")).isSymbolicLink)
        #expect(try FileStatus(directory.path("b")).identity == status.identity)
        #expect(try !FileStatus(directory.path("link")).isSameFile(as: status))
        #expect(try FileStatus(directory.path).isDirectory)
    }

    @Test("a path-only descriptor has the status of the file, but cannot read its content")
    func pathOnly() throws {
        let file = try file("abc")
        let held = try Descriptor(opening: directory.path("a"), Descriptor.pathOnly)
        #expect(try held.status() == file.status())
        #expect(throws: Errno(EBADF)) { try held.readAll() }
    }

    @Test("work on a new thread runs while the calling thread waits for it")
    func ownThread() {
        let thread = Mutex<pthread_t?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        OwnThread.run {
            thread.withLock { $0 = pthread_self() }
            isDone.signal()
        }
        isDone.wait()
        #expect(thread.withLock { $0 } != pthread_self())
    }
}
