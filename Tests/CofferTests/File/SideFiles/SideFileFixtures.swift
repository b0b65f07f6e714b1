import Coffer
import CofferTestSupport
import Foundation

extension TestDirectory {
    /// Makes the state that a process leaves when it is killed during a transaction that exceeds its cache:
    /// the file and its journal.
    ///
    /// - Returns: the bytes of the file before the transaction, of the file now, and of the journal.
    func crash(
        _ name: String = "a.db", _ configuration: Configuration = .rawKeyed
    ) throws -> (before: [UInt8], file: [UInt8], journal: [UInt8]) {
        let before = try bytes(of: name)
        let queue = try makeQueue(name, configuration.with { $0.pageCacheSize = 16 * 1024 })
        struct Stop: Error {}
        var (file, journal): ([UInt8], [UInt8]) = ([], [])
        do {
            try queue.write { db in
                try db.execute(sql: "UPDATE t SET a = a || 'x', b = randomblob(400)")
                try db.execute(sql: "INSERT INTO t (a) VALUES ('y')")
                (file, journal) = try (bytes(of: name), bytes(of: "\(name)-journal"))
                throw Stop()
            }
        } catch is Stop {}
        try queue.close()
        return (before, file, journal)
    }

    /// Returns the file and the WAL of a process that is killed after some transactions in WAL mode.
    func crashInWAL(
        _ name: String = "a.db", _ configuration: Configuration = .rawKeyed,
        sql: String = "UPDATE t SET a = a || 'w' WHERE id % 3 = 0"
    ) throws -> (file: [UInt8], log: [UInt8]) {
        let queue = try makeQueue(name, configuration.with { $0.journalMode = .wal })
        try queue.inDatabase { db in
            _ = try db.checkpoint(.truncate)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        }
        for _ in 0..<3 { try queue.write { try $0.execute(sql: sql) } }
        let result = try (bytes(of: name), bytes(of: "\(name)-wal"))
        try queue.close()
        return result
    }

    /// Opens a file in every possible way and returns the names of the ways that do not fail as expected.
    func openings(of name: String, doNotFailWith expected: EncryptionFailure) throws -> [String] {
        let path = path(name)
        let file = DatabaseFile(path: path)
        let ways: [(String, () throws -> Void)] = [
            ("queue", { _ = try self.makeQueue(name) }), ("pool", { _ = try self.makePool(name) }),
            ("read-only queue", { _ = try self.makeQueue(name, .rawKeyed.with { $0.readonly = true }) }),
            ("snapshot", { _ = try DatabaseSnapshotPool(path: path, configuration: .rawKeyed) }),
            ("copy", { _ = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: .rawKeyed) }),
            ("verify", { _ = try file.verify(key: Keys.old) }),
            ("inspect", { _ = try file.inspect(key: Keys.old) }),
            ("rotate", { try file.rotate(from: Keys.old, to: Keys.new) }),
            ("vacuum", { try file.vacuum(key: Keys.old) }),
            (
                "decrypt",
                { try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone) }
            ),
            ("upgrade", { try file.upgrade(key: Keys.old) }),
        ]
        return ways.compactMap { way, open in
            do {
                try open()
                return "\(way): opened"
            } catch {
                let failure =
                    switch error {
                    case let error as DatabaseError: error.encryptionFailure
                    case let error as DatabaseFileError: error.databaseError.encryptionFailure
                    default: nil as EncryptionFailure?
                    }
                return failure == expected ? nil : "\(way): \(error)"
            }
        }
    }
}

/// Forged journals and WALs. Checksums are right wherever anyone can compute them.
enum Forgery {
    static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func put(_ word: UInt32, into bytes: inout [UInt8], at offset: Int) {
        for index in 0..<4 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32(index)))
        }
    }

    /// Returns a journal with other records, or another header, that SQLite would roll back.
    static func journal(
        pageSize: Int = 4096, pageCount: UInt32, records: [(page: UInt32, content: [UInt8])],
        count: UInt32? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] =
            [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7] + [UInt8](repeating: 0, count: 504)
        put(count ?? UInt32(records.count), into: &bytes, at: 8)
        put(77, into: &bytes, at: 12)
        put(pageCount, into: &bytes, at: 16)
        put(512, into: &bytes, at: 20)
        put(UInt32(pageSize), into: &bytes, at: 24)
        for (page, content) in records {
            var record = [UInt8](repeating: 0, count: 4) + content + [0, 0, 0, 0]
            put(page, into: &record, at: 0)
            let sum = stride(from: pageSize - 200, to: 0, by: -200).reduce(UInt32(77)) {
                $0 &+ UInt32(content[$1])
            }
            put(sum, into: &record, at: 4 + pageSize)
            bytes += record
        }
        return bytes
    }

    /// Returns the records of a journal with sectors of 512 bytes and one header.
    static func records(of journal: [UInt8], pageSize: Int = 4096) -> [(page: UInt32, content: [UInt8])] {
        stride(from: 512, through: journal.count - pageSize - 8, by: pageSize + 8).prefix(
            Int(word(journal, 8))
        ).map {
            (word(journal, $0), Array(journal[$0 + 4..<$0 + 4 + pageSize]))
        }
    }

    static func withCommonName(_ path: String, _ journal: [UInt8]) -> [UInt8] {
        withCommonName(Array(path.utf8), journal)
    }

    static func withCommonName(_ name: [UInt8], _ journal: [UInt8]) -> [UInt8] {
        var end = [UInt8](repeating: 0, count: 4) + name + [UInt8](repeating: 0, count: 8)
        // The number of the lock-byte page, which no page has.
        put((1 << 30) / 4096 + 1, into: &end, at: 0)
        put(UInt32(name.count), into: &end, at: 4 + name.count)
        // Summed like SQLite does where characters are signed.
        put(
            name.reduce(0) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }, into: &end,
            at: 8 + name.count)
        return journal + end + journal[0..<8]
    }

    /// Returns a WAL with a single transaction.
    static func log(pageSize: Int = 4096, pageCount: UInt32, frames: [(page: UInt32, content: [UInt8])])
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: 32)
        put(0x377f_0683, into: &bytes, at: 0)
        put(3_007_000, into: &bytes, at: 4)
        put(UInt32(pageSize), into: &bytes, at: 8)
        put(0x0102_0304, into: &bytes, at: 16)
        put(0x0506_0708, into: &bytes, at: 20)
        var sum: (UInt32, UInt32) = (0, 0)
        func add(_ part: ArraySlice<UInt8>) {
            let part = Array(part)
            for offset in stride(from: 0, to: part.count, by: 8) {
                sum.0 = sum.0 &+ word(part, offset) &+ sum.1
                sum.1 = sum.1 &+ word(part, offset + 4) &+ sum.0
            }
        }
        add(bytes[0..<24])
        put(sum.0, into: &bytes, at: 24)
        put(sum.1, into: &bytes, at: 28)
        for (index, frame) in frames.enumerated() {
            var header = [UInt8](repeating: 0, count: 24)
            put(frame.page, into: &header, at: 0)
            put(index == frames.count - 1 ? pageCount : 0, into: &header, at: 4)
            header.replaceSubrange(8..<16, with: bytes[16..<24])
            add(header[0..<8])
            add(frame.content[...])
            put(sum.0, into: &header, at: 16)
            put(sum.1, into: &header, at: 20)
            bytes += header + frame.content
        }
        return bytes
    }

    static func frames(of log: [UInt8], pageSize: Int = 4096) -> [(page: UInt32, content: [UInt8])] {
        stride(from: 32, through: log.count - pageSize - 24, by: pageSize + 24).map {
            (word(log, $0), Array(log[$0 + 24..<$0 + 24 + pageSize]))
        }
    }
}
