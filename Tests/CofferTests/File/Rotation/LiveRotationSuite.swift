import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import SystemCalls
import Testing

@testable import Coffer

/// A suite that rotates the key of a pool in use and checks the invariants afterwards.
protocol LiveRotationSuite {
    var directory: TestDirectory { get }
}

extension LiveRotationSuite {
    func makePool(rows: Int = 3000) throws -> DatabasePool {
        let pool = try directory.makePool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, a)")
            for _ in 0..<rows { try db.execute(sql: "INSERT INTO t (n, a) VALUES (0, randomblob(600))") }
        }
        return pool
    }

    func options(_ bounds: DatabaseFile.WhileInUse = DatabaseFile.WhileInUse())
        -> DatabaseFile.RotationOptions
    {
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = bounds
        // All steps of the copy run on the thread that has the hooks.
        options.threadCount = 1
        return options
    }

    /// Returns the complete content of the database, for comparison.
    func content(_ reader: any DatabaseReader) throws -> [String] {
        try reader.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || n || hex(a) FROM t ORDER BY id")
                + String.fetchAll(db, sql: "SELECT sql FROM sqlite_master ORDER BY name")
                + String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
    }

    /// Checks the invariants after a completed rotation.
    ///
    /// - Parameter expected: the content of the database before the end of the rotation.
    func checkRotated(
        _ pool: DatabasePool, _ result: DatabaseFile.RotationResult, _ expected: [String],
        lookingAtLocks: Bool = true
    ) throws {
        #expect(try content(pool) == expected)
        // Without the lock, another process would remove the WAL when it closes the file.
        if lookingAtLocks { #expect(try hasLocks(on: pool.path)) }
        #expect(result.isChanged && result.proof?.isContentEqual == true && (result.pause ?? 0) > 0)
        try pool.write { try $0.execute(sql: "INSERT INTO t (n) VALUES (-1)") }
        try pool.write { try $0.execute(sql: "DELETE FROM t WHERE n = -1") }
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try pool.close()
        #expect(directory.fileNames() == ["a.db"])
        #expect(!directory.opensAtAll(Keys.old))
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.new).isIntact)
        let queue = try directory.makeQueue("a.db", .rawKeyed(0x17))
        #expect(try content(queue) == expected)
        try queue.close()
    }

    /// Returns true if this process has locks on a file according to the kernel.
    func hasLocks(on path: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let number = try #require(attributes[.systemFileNumber] as? Int)
        return try #require(KernelText.read("/proc/locks")).split(separator: "\n").contains {
            $0.contains(" POSIX ") && $0.contains(" \(getpid()) ") && $0.contains(":\(number) ")
        }
    }

    /// Checks the invariants after a rotation that did not complete.
    func checkUnchanged(_ pool: DatabasePool) throws {
        #expect(Set(directory.fileNames()).isSubset(of: ["a.db", "a.db-shm", "a.db-wal"]))
        try pool.write { try $0.execute(sql: "INSERT INTO t (n) VALUES (1)") }
        let expected = try content(pool)
        try pool.close()
        #expect(directory.fileNames() == ["a.db"])
        #expect(try DatabaseFile(path: pool.path).verify(key: Keys.old).isIntact)
        let queue = try directory.makeQueue()
        #expect(try content(queue) == expected)
        try queue.close()
    }

    /// Rotates the key and calls `body` at each step of the copy, with its number from 1.
    func rotate(
        _ pool: DatabasePool, _ bounds: DatabaseFile.WhileInUse = DatabaseFile.WhileInUse(),
        at point: FailPoint = .copying,
        _ body: @escaping @Sendable (Int) -> Void
    ) throws -> DatabaseFile.RotationResult {
        let count = Mutex(0)
        return try FailPoint.$passing.withValue(
            { passed in
                guard passed == point else { return }
                body(
                    count.withLock { count in
                        count += 1
                        return count
                    })
            },
            operation: {
                try pool.rotateKey(to: Keys.new, options: options(bounds))
            })
    }

    /// Rotates the key and calls `body` once at each moment. A moment is a phase and a round, and whether
    /// pages of it are complete.
    func rotate(
        _ pool: DatabasePool, moments: Set<String>, _ body: @escaping (String) throws -> Void
    ) throws -> DatabaseFile.RotationResult {
        var left = moments
        let result = try pool.rotateKey(to: Keys.new, options: options()) { step in
            let moment = "\(step.phase) \(step.round)\(step.completedPageCount > 0 ? " on" : "")"
            if left.remove(moment) != nil { try body(moment) }
        }
        #expect(left.isEmpty)
        return result
    }

    func isUnsupported<T>(_ body: () throws -> T) -> Bool {
        if case .unsupported = reason(body) { true } else { false }
    }
}

extension TestDirectory {
    func opensAtAll(_ key: DatabaseKey) -> Bool {
        (try? DatabaseFile(path: path("a.db")).inspect(key: key)) != nil
    }

    /// Damages a page of the copy that a rotation is making.
    func damageCopy(page: Int) throws {
        let name = try #require(fileNames().first { $0.hasSuffix(".rotate") })
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path(name)))
        try file.seek(toOffset: UInt64(page - 1) * 4096 + 100)
        try file.write(contentsOf: [1, 2, 3, 4])
        try file.close()
    }
}

extension String {
    /// Returns the digest of a rotation of a copy of this file with a raw key. The digest depends only on the
    /// content and the key.
    func digestOfRotation(_ from: DatabaseKey, _ to: DatabaseKey, _ pool: DatabasePool) throws
        -> String?
    {
        let copy = "\(self).copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try FileManager.default.copyItem(atPath: self, toPath: copy)
        try DatabaseFile(path: copy).rotate(from: from, to: Keys.other)
        return try DatabaseFile(path: copy).rotate(from: Keys.other, to: to).proof?.contentDigest
    }
}

extension Mutex where Value == [String] {
    borrowing func store(_ value: [String]) { withLock { $0 = value } }

    var value: [String] { withLock { $0 } }
}
