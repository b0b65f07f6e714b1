import CofferTestSupport
import Testing

@testable import Coffer

@Suite("Read-only copies, and keys after closing")
struct CopyAndCloseTests {
    @Test(
        "a read-only copy rejects writes, even after reads",
        arguments: [false, true])
    func copies(isTemporary: Bool) throws {
        try withTestDirectory { directory in
            try directory.makeQueue().write {
                try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            }
            let configuration = Configuration.rawKeyed.with { $0.readonly = true }
            let path = directory.path("a.db")
            let copy =
                try isTemporary
                ? DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration)
                : DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
            for _ in 1...2 {
                #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
                let error = #expect(throws: DatabaseError.self) {
                    try copy.write { try $0.execute(sql: "DELETE FROM t") }
                }
                #expect(error?.resultCode == .SQLITE_READONLY)
                try copy.inDatabase { db in
                    try db.readOnly { _ = try Int.fetchOne(db, sql: "SELECT a FROM t") }
                    #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (2)") }
                }
            }
        }
    }

    private final class WeakRing {
        weak var ring: KeyRing?

        init(_ ring: KeyRing?) { self.ring = ring }
    }

    @Test(
        "a queue or pool releases its derived keys when it is closed, and when its key is rotated"
    )
    func derivedKeys() throws {
        try withTestDirectory { directory in
            let prepared = Configuration().with { configuration in
                configuration.prepareDatabase { try $0.usePassphrase("secret") }
            }
            for (name, configuration) in [("a.db", Configuration.passphrase("secret")), ("b.db", prepared)] {
                let queue = try directory.makeQueue(name, configuration)
                let ring = try #require(queue.inDatabase { $0.keying.ring })
                let salt = try Array(directory.bytes(of: name).prefix(16))
                let index = try #require(ring.usedKeyIndex)
                #expect(ring.cachedMaterial(keyIndex: index, fileSalt: salt) != nil)
                try queue.close()
                #expect(ring.cachedMaterial(keyIndex: index, fileSalt: salt) == nil)

                let pool = try directory.makePool(name, configuration)
                let old = WeakRing(pool.writeWithoutTransaction { $0.keying.ring })
                #expect(old.ring != nil)
                try pool.rotateKey(to: .rawKey([UInt8](repeating: 9, count: 32)))
                #expect(old.ring == nil)
                try pool.close()

                let other = try directory.makePool("other-\(name)", configuration)
                let ofPool = try #require(other.writeWithoutTransaction { $0.keying.ring })
                let saltOfPool = try Array(directory.bytes(of: "other-\(name)").prefix(16))
                #expect(ofPool.cachedMaterial(keyIndex: 0, fileSalt: saltOfPool) != nil)
                try other.close()
                #expect(ofPool.cachedMaterial(keyIndex: 0, fileSalt: saltOfPool) == nil)
            }
        }
    }
}
