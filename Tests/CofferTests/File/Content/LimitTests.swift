import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Databases at the limits of SQLite")
struct LimitTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func configuration(_ key: DatabaseKey?, _ cipher: CipherSettings) -> Configuration {
        var configuration = Configuration()
        (configuration.key, configuration.allowsPlaintext) = (key, key == nil)
        configuration.cipher = cipher
        return configuration
    }

    private func content(_ name: String, _ key: DatabaseKey?, _ cipher: CipherSettings) throws -> [String] {
        var configuration = configuration(key, cipher)
        configuration.readonly = true
        let queue = try DatabaseQueue(path: directory.path(name), configuration: configuration)
        return try queue.read(LimitSchema.content)
    }

    @Test(
        "every operation handles tables, names, statements and values at the limits, at each page size",
        arguments: Nightly.pick([1024, 2048, 4096, 8192, 16384, 32768, 65536], byDay: [4096]))
    func operations(pageSize: Int) throws {
        var cipher = CipherSettings()
        cipher.pageSize = pageSize
        let path = directory.path("a.db")
        let queue = try DatabaseQueue(path: path, configuration: configuration(Keys.old, cipher))
        try queue.write(LimitSchema.make)
        var before = try queue.read(LimitSchema.content)
        #expect(before.last == "ok")
        try queue.vacuum(into: directory.path("open.db"))
        #expect(try content("open.db", Keys.old, cipher) == before)
        let other = try DatabaseQueue(
            path: directory.path("other.db"), configuration: configuration(Keys.new, CipherSettings()))
        try queue.backup(to: other)
        try other.close()
        #expect(try content("other.db", Keys.new, CipherSettings()) == before)
        var script: [UInt8] = []
        try queue.read { db in _ = try db.writeScript({ script += $0 }, checkpoint: {}) }
        let scripted = before
        // SQLite's own VACUUM renumbers rows of tables without a key or an index.
        try queue.vacuum()
        before = try queue.read(LimitSchema.content)
        try queue.close()

        let file = DatabaseFile(path: path)
        var options = DatabaseFile.ConversionOptions()
        (options.cipher, options.newCipher) = (cipher, cipher)
        var sameCipher = options
        sameCipher.newCipher = nil
        try file.backup(to: directory.path("b.db"), key: Keys.old, options: sameCipher)
        #expect(try content("b.db", Keys.old, cipher) == before)
        try file.vacuum(into: directory.path("v.db"), key: Keys.old, newKey: Keys.new, options: options)
        #expect(try content("v.db", Keys.new, cipher) == before)
        try file.vacuum(key: Keys.old, options: sameCipher)
        try file.decrypt(
            to: directory.path("p.db"), key: Keys.old, confirming: .contentBecomesReadableByAnyone,
            options: sameCipher)
        #expect(try content("p.db", nil, cipher) == before)
        try DatabaseFile(path: directory.path("p.db")).encrypt(key: Keys.new, options: options)
        #expect(try content("p.db", Keys.new, cipher) == before)
        var rotation = DatabaseFile.RotationOptions()
        rotation.cipher = cipher
        try file.rotate(from: Keys.old, to: Keys.new, options: rotation)
        #expect(try content("a.db", Keys.new, cipher) == before)
        let backup = DatabaseFile(path: directory.path("b.db"))
        #expect(
            try file.difference(from: backup, key: Keys.new, oldKey: Keys.old, options: sameCipher).isEmpty)
        var salvage = DatabaseFile.SalvageOptions()
        (salvage.cipher, salvage.newCipher) = (cipher, cipher)
        let found = try file.salvage(key: Keys.new, to: directory.path("s.db"), options: salvage)
        #expect(found.lostRowCount == 0)
        #expect(try content("s.db", Keys.new, cipher) == before)
        guard pageSize == 4096 else { return }
        try load(script, to: "l.db")
        #expect(try content("l.db", Keys.old, CipherSettings()) == scripted)
    }

    @Test("a plaintext file with the smallest pages that SQLite has is encrypted, and decrypted again")
    func smallestPages() throws {
        let queue = try DatabaseQueue(
            path: directory.path("a.db"), configuration: configuration(nil, CipherSettings()))
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = 512") }
        try queue.write(LimitSchema.make)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 512)
        let before = try queue.read(LimitSchema.content)
        try queue.close()
        let file = DatabaseFile(path: directory.path("a.db"))
        try file.vacuum(into: directory.path("v.db"), key: nil)
        try file.backup(to: directory.path("b.db"), key: nil)
        try file.encrypt(key: Keys.old)
        #expect(try content("a.db", Keys.old, CipherSettings()) == before)
        try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone)
        for name in ["a.db", "b.db", "v.db"] {
            #expect(try content(name, nil, CipherSettings()) == before, "\(name)")
        }
    }

    /// Makes a file from a script, statement by statement.
    private func load(_ script: [UInt8], to name: String) throws {
        var rest = script[...]
        _ = try DatabaseFile(path: directory.path(name)).make(
            key: Keys.old, cipher: CipherSettings(), progress: nil
        ) {
            guard
                let end = rest.indices.first(where: { index in
                    rest[index] == UInt8(ascii: ";")
                        && (index + 1 == rest.endIndex || rest[index + 1] == UInt8(ascii: "\n"))
                })
            else { return nil }
            defer { rest = rest[(end + 1)...] }
            return Array(rest[...end])
        } watch: {
        } confirm: { _ in
        }
    }

    @Test("a change of one value among 2,000 columns is found, with the row ID of the row")
    func difference() throws {
        let queue = try DatabaseQueue(
            path: directory.path("a.db"), configuration: configuration(Keys.old, CipherSettings()))
        try queue.write(LimitSchema.make)
        try queue.vacuum(into: directory.path("b.db"))
        try queue.write { db in
            try db.execute(
                sql: "UPDATE wide SET c1999 = 'new' WHERE rowid = 14; DELETE FROM wide WHERE rowid = 21")
        }
        try queue.close()
        var rows: [String] = []
        let old = DatabaseFile(path: directory.path("b.db"))
        _ = try DatabaseFile(path: directory.path("a.db")).difference(
            from: old, key: Keys.old,
            row: { row in
                #expect(row.columns.count == LimitSchema.columnCount + (row.table == "wide" ? 1 : 0))
                let (before, after) = (row.before ?? [], row.after ?? [])
                rows.append(
                    "\(row.change) \(before.first ?? "") \(before.last ?? "") \(after.last ?? "")")
            })
        #expect(rows == ["changed 14 NULL 'new'", "removed 21 NULL "])
    }

    @Test("the maximum number of attached databases does not prevent a vacuum into a file, and a backup")
    func attachedDatabases() throws {
        let queue = try directory.makeQueue("a.db", configuration(Keys.old, CipherSettings()))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            for number in 1...10 { try db.execute(sql: "ATTACH ':memory:' AS m\(number)") }
        }
        try queue.vacuum(into: directory.path("b.db"))
        let other = try directory.makeQueue("c.db", configuration(Keys.new, CipherSettings()))
        try queue.backup(to: other)
        try other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 1") }
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }
}
