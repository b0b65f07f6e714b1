import CofferTestSupport
import Foundation
import KeyMaterial
import Synchronization
import Testing

@Suite("Secret files")
struct SecretFileTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private static func text(of path: String) throws -> String {
        try SecretFile.read(path, access: .ownerOnly).withUnsafeBytes {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(
        "an anonymous pipe is read to its end, even if another user owns it", arguments: ["", "key"])
    func unnamedPipe(content: String) throws {
        let pipe = Pipe()
        let number = pipe.fileHandleForReading.fileDescriptor
        // As in `command | sudo program`.
        if geteuid() == 0 { try #require(fchown(number, 65534, 65534) == 0) }
        try pipe.fileHandleForWriting.write(contentsOf: Data(content.utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try SecretFileTests.text(of: "/proc/self/fd/\(number)") == content)
    }

    @Test(
        "root reads a new secret only from its own file, or from one of the given user",
        .enabled(if: geteuid() == 0, "needs root"))
    func newSecrets() throws {
        let path = directory.path("key")
        try directory.write(Array("secret".utf8), to: "key")
        try #require(unsafe chmod(path, 0o600) == 0)
        func problem(_ access: SecretFile.Access) -> SecretFile.Problem? {
            do throws(SecretFile.Problem) {
                _ = try SecretFile.read(path, access: access)
                return nil
            } catch {
                return error
            }
        }
        #expect(problem(.ownerOnlyOfNew(orOf: nil)) == nil)
        try #require(unsafe chown(path, 65534, 65534) == 0)
        #expect(problem(.ownerOnlyOfNew(orOf: nil)) == .ofAnotherUser)
        #expect(problem(.ownerOnlyOfNew(orOf: 65533)) == .ofAnotherUser)
        #expect(problem(.ownerOnlyOfNew(orOf: 65534)) == nil)
        #expect(problem(.ownerOnly) == nil && problem(.unchecked) == nil)
        try #require(unsafe chmod(path, 0o640) == 0)
        #expect(problem(.ownerOnlyOfNew(orOf: 65534)) == .readableByOthers(mode: 0o640))
    }

    @Test("reading a named pipe waits for its writer")
    func namedPipe() throws {
        let path = directory.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let found = Mutex<String?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let text = (try? SecretFileTests.text(of: path)) ?? "an error"
            found.withLock { $0 = text }
            ended.signal()
        }
        var end: CInt = -1
        while end < 0, found.withLock({ $0 }) == nil {
            // Opening fails until the reader has opened the pipe.
            end = unsafe open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        }
        #expect(unsafe write(end, "key", 3) == 3)
        close(end)
        ended.wait()
        #expect(found.withLock { $0 } == "key")
    }
}
