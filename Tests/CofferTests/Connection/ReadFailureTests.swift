import CofferTestSupport
import Foundation
import Glibc
import Testing

@testable import Coffer

@Suite("A file that the system cannot read")
struct ReadFailureTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Runs `body` while each read of a file through its open descriptors fails with `EIO`, as reads of a
    /// process's memory at an unused address do.
    private func whileUnreadable(_ path: String, _ body: () throws -> Void) throws {
        let memory = try #require(FileHandle(forReadingAtPath: "/proc/self/mem"))
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
                ? Int32($0) : nil
        }
        #expect(!descriptors.isEmpty)
        let saved = descriptors.map { dup($0) }
        for descriptor in descriptors { dup2(memory.fileDescriptor, descriptor) }
        defer {
            for (descriptor, copy) in zip(descriptors, saved) {
                dup2(copy, descriptor)
                close(copy)
            }
        }
        try body()
    }

    @Test("is not reported as damaged", arguments: Access.allCases)
    func unreadable(access: Access) throws {
        let writer = try directory.make(access)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(300))") }
        }
        let count = {
            try writer.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }
        try writer.writeWithoutTransaction { db in
            if access == .pool { _ = try db.checkpoint(.truncate) }
            try db.execute(sql: "PRAGMA shrink_memory")
        }
        let path = URL(fileURLWithPath: writer.path).resolvingSymlinksInPath().path
        try whileUnreadable(path) {
            let error = #expect(throws: DatabaseError.self) { try count() }
            #expect(error?.extendedResultCode == .SQLITE_IOERR_READ, "\(error as Any)")
            #expect(error?.encryptionFailure == nil)
        }
        #expect(try count() == 200)
        // Damage afterwards is damage.
        try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA shrink_memory") }
        let size = try #require(FileManager.default.contents(atPath: path)).count
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 7, count: size - 4096))
        // Closing it would drop the locks of the connection.
        withExtendedLifetime(file) {
            let error = #expect(throws: DatabaseError.self) { try count() }
            #expect(error?.resultCode != .SQLITE_IOERR, "\(error as Any)")
        }
    }

    @Test("is not reported as damaged if it is attached")
    func unreadableAttached() throws {
        let queue = try directory.makeQueue()
        let other = try directory.makeQueue("b.db")
        try other.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(300))") }
        }
        try other.close()
        let path = URL(fileURLWithPath: other.path).resolvingSymlinksInPath().path
        let count = { try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM b.t") } }
        try queue.writeWithoutTransaction { try $0.execute(sql: "ATTACH ? AS b", arguments: [path]) }
        try whileUnreadable(path) {
            let error = #expect(throws: DatabaseError.self) { try count() }
            #expect(error?.extendedResultCode == .SQLITE_IOERR_READ, "\(error as Any)")
        }
        #expect(try count() == 200)
    }
}
