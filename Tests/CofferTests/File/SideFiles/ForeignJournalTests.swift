import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A rollback journal of an encrypted file")
struct ForeignJournalTests {
    let directory: TestDirectory
    let elsewhere: TestDirectory

    init() throws { (directory, elsewhere) = try (TestDirectory(), TestDirectory()) }

    @Test("of the file itself is played back after a crash", arguments: Access.allCases)
    func own(access: Access) throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let crash = try directory.crash()
        #expect(crash.file != crash.before)
        try directory.write(crash.file, to: "b.db")
        try directory.write(crash.journal, to: "b.db-journal")
        try directory.make(access, "b.db").close()
        #expect(try directory.content("b.db", key: Keys.old) == content)
    }

    /// Kinds of journals that would destroy the file.
    enum Attack: String, CaseIterable, Sendable {
        case plaintext, otherKey, otherSalt, otherPageSize
        case changedByte, exchangedNumbers, zeros, salt
        case cutToOnePage, cutToNothing, cutToFewer, grown, sectorBehindEnd
        case doomedFile, commonNameOfOtherBytes, voidByCommonName
    }

    @Test(
        "that would destroy the file is refused, and named, and nothing changes", arguments: Attack.allCases)
    func foreign(attack: Attack) throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let journal = try forge(attack)
        defer { _ = unsafe unlink((commonNameOfOtherBytes + [0]).map { CChar(bitPattern: $0) }) }
        let before = try directory.bytes(of: "a.db")
        try directory.write(journal, to: "a.db-journal")
        let files = try directory.snapshot()

        let path = directory.path("a.db-journal")
        let misfits = try directory.openings(
            of: "a.db", doNotFailWith: .foreignSideFile(path: path, isFileWhole: true))
        #expect(misfits == [])
        #expect(try directory.snapshot() == files)
        #expect(try directory.bytes(of: "a.db") == before)

        try FileManager.default.moveItem(atPath: path, toPath: directory.path("moved"))
        #expect(try directory.content(key: Keys.old) == content)
    }

    /// The name is in a separate directory, because listing a directory expects valid UTF-8 names.
    private var commonNameOfOtherBytes: [UInt8] {
        Array(elsewhere.path("x").utf8) + [0xff] + Array("-mj012345678".utf8)
    }

    private func forge(_ attack: Attack) throws -> [UInt8] {
        let own = try directory.crash()
        let pageCount = UInt32(own.before.count / 4096)
        var records = Forgery.records(of: own.journal)
        func other(_ configuration: Configuration) throws -> [UInt8] {
            _ = try directory.makeFile("other.db", key: configuration.key ?? Keys.old, rows: 300) {
                $0 = configuration
            }
            defer { try? FileManager.default.removeItem(atPath: directory.path("other.db")) }
            return try directory.crash("other.db", configuration).journal
        }
        switch attack {
        case .plaintext:
            let queue = try directory.makeQueue(
                "plain.db", Configuration().with { $0.allowsPlaintext = true })
            try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB)") }
            try queue.write { db in
                for _ in 0..<300 { try db.execute(sql: "INSERT INTO t (a, b) VALUES ('a', randomblob(300))") }
            }
            try queue.close()
            defer { try? FileManager.default.removeItem(atPath: directory.path("plain.db")) }
            return try directory.crash("plain.db", Configuration().with { $0.allowsPlaintext = true }).journal
        case .otherKey: return try other(.rawKeyed(0x17))
        case .otherSalt: return try other(.rawKeyed)
        case .otherPageSize: return try other(.rawKeyed.with { $0.cipher = .sqlcipher(format: 3) })
        case .changedByte:
            // The checksum does not cover this byte.
            var journal = own.journal
            journal[512 + 4 + 101] ^= 1
            return journal
        case .exchangedNumbers:
            (records[1].page, records[2].page) = (records[2].page, records[1].page)
            return Forgery.journal(pageCount: pageCount, records: records)
        case .zeros:
            return Forgery.journal(pageCount: pageCount, records: [(3, [UInt8](repeating: 0, count: 4096))])
        case .salt:
            var page = Array(own.before[0..<4096])
            page[3] ^= 1
            return Forgery.journal(pageCount: pageCount, records: [(1, page)])
        case .cutToOnePage: return Forgery.journal(pageCount: 1, records: [])
        case .cutToNothing: return Forgery.journal(pageCount: 0, records: [])
        case .cutToFewer:
            return Forgery.journal(pageCount: pageCount - 1, records: records.filter { $0.page < pageCount })
        case .grown: return Forgery.journal(pageCount: 0x7fff_fff0, records: [])
        case .sectorBehindEnd:
            var journal = Forgery.journal(pageCount: 2, records: [])
            Forgery.put(65536, into: &journal, at: 20)
            return journal
        case .doomedFile:
            // SQLite deletes the file that a journal names as its super-journal.
            try directory.write([1, 2, 3], to: "precious")
            let journal = Forgery.journal(pageCount: pageCount, records: [(2, page(2, own.before))])
            return Forgery.withCommonName(directory.path("precious"), journal)
        case .commonNameOfOtherBytes:
            // SQLite finds the file with this name, which is not valid UTF-8.
            let name = commonNameOfOtherBytes
            let file = unsafe open((name + [0]).map { CChar(bitPattern: $0) }, O_RDWR | O_CREAT, 0o600)
            let count = unsafe write(file, "x", 1)
            #expect(count == 1 && close(file) == 0)
            return Forgery.withCommonName(name, Forgery.journal(pageCount: 1, records: []))
        case .voidByCommonName:
            // An attacker who planted the journal can create its super-journal right after the check.
            return Forgery.withCommonName(directory.path("gone"), Forgery.journal(pageCount: 1, records: []))
        }
    }

    private func page(_ number: Int, _ file: [UInt8]) -> [UInt8] {
        Array(file[(number - 1) * 4096..<number * 4096])
    }

    /// Journals that SQLite ignores.
    enum Idle: String, CaseIterable, Sendable {
        case empty, short, zeroedHeader, otherMagic, strangePageSize, ownVoidByCommonName
    }

    @Test("that SQLite would not play back is ignored", arguments: Idle.allCases)
    func idle(kind: Idle) throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        var journal = Forgery.journal(pageCount: 1, records: [])
        switch kind {
        case .empty: journal = []
        case .short: journal.removeLast()
        case .zeroedHeader: journal.replaceSubrange(0..<28, with: [UInt8](repeating: 0, count: 28))
        case .otherMagic: journal[5] ^= 1
        case .strangePageSize: Forgery.put(1000, into: &journal, at: 24)
        case .ownVoidByCommonName:
            journal = Forgery.withCommonName(
                directory.path("a.db-mj012345678"), try directory.crash().journal)
        }
        try directory.write(journal, to: "a.db-journal")
        #expect(try directory.content(key: Keys.old) == content)
    }

    @Test("that is void, because its super-journal is missing, is ignored by a verification")
    func voidForVerification() throws {
        let file = try directory.makeFile(rows: 300)
        let journal = try directory.crash().journal
        let queue = try directory.makeQueue()
        try queue.write { db in
            for _ in 0..<80 { try db.execute(sql: "INSERT INTO t (a, b) VALUES ('more', randomblob(9000))") }
        }
        try queue.close()
        let pageCount = try directory.bytes(of: "a.db").count / 4096
        try #require(pageCount > Int(Forgery.word(journal, 16)))
        try directory.write(
            Forgery.withCommonName(directory.path("a.db-mj012345678"), journal), to: "a.db-journal")
        let found = try file.verify(key: Keys.old)
        #expect(found.isIntact && found.pageCount == pageCount)
    }

    @Test("is used up to the first record that is torn")
    func torn() throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let before = try directory.bytes(of: "a.db")
        let records = [2, 3].map { (page: UInt32($0), content: page($0, before)) }
        var journal = Forgery.journal(pageCount: UInt32(before.count / 4096), records: records)
        // A byte of the last page that the checksum covers.
        journal[journal.count - 4 - 200] ^= 1
        try directory.write(journal, to: "a.db-journal")
        #expect(try directory.content(key: Keys.old) == content)
    }

    @Test("does not hide that the file itself is damaged", arguments: [1, 2, 9, 40])
    func damagedFile(page: Int) throws {
        _ = try directory.makeFile(rows: 300)
        var file = try directory.bytes(of: "a.db")
        try #require(file.count >= page * 4096)
        file[page * 4096 - 100] ^= 1
        try directory.write(file, to: "a.db")
        let journal = Forgery.journal(pageCount: 1, records: [(1, [UInt8](repeating: 7, count: 4096))])
        try directory.write(journal, to: "a.db-journal")
        let error = #expect(throws: DatabaseError.self) { _ = try directory.makeQueue("a.db") }
        let expected = EncryptionFailure.foreignSideFile(
            path: directory.path("a.db-journal"), isFileWhole: false)
        #expect(error?.encryptionFailure == expected)
        #expect(try directory.bytes(of: "a.db") == file)
    }

    @Test("of a process that is writing causes no false alarm")
    func live() throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let writer = try directory.makeQueue("a.db")
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try writer.write { db in
                try db.execute(sql: "UPDATE t SET a = 'new'")
                // A journal that a live process holds is not hot, regardless of its content.
                try directory.write(Forgery.journal(pageCount: 1, records: []), to: "a.db-journal")
                #expect(try directory.content(key: Keys.old) == content)
                throw Stop()
            }
        }
    }

    @Test("is left alone by a wrong key, and played back by the right one")
    func wrongKey() throws {
        _ = try directory.makeFile(rows: 300)
        let content = try directory.content(key: Keys.old)
        let crash = try directory.crash()
        try directory.write(crash.file, to: "b.db")
        try directory.write(crash.journal, to: "b.db-journal")
        let before = try directory.snapshot()
        for key in [Keys.other, .passphrase("wrong")] {
            let error = #expect(throws: DatabaseError.self) {
                _ = try DatabaseQueue(
                    path: directory.path("b.db"), configuration: .rawKeyed.with { $0.key = key })
            }
            #expect(error?.encryptionFailure == .wrongKey)
        }
        let error = #expect(throws: DatabaseError.self) {
            _ = try DatabaseQueue(
                path: directory.path("b.db"),
                configuration: Configuration().with { $0.allowsPlaintext = true }
            )
            .read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }
        #expect(error?.encryptionFailure == .noKey)
        #expect(try directory.snapshot() == before)
        #expect(try directory.content("b.db", key: Keys.old) == content)
    }

    @Test("that appears while the file is open is refused by the next statement")
    func later() throws {
        _ = try directory.makeFile(rows: 300)
        let queue = try directory.makeQueue()
        let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        let before = try directory.bytes(of: "a.db")
        try directory.write(Forgery.journal(pageCount: 1, records: []), to: "a.db-journal")
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.message?.contains("belongs to another file") == true)
        #expect(try directory.bytes(of: "a.db") == before)
        try FileManager.default.removeItem(atPath: directory.path("a.db-journal"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == count)
    }

    @Test(
        "of a file without MACs is refused only if it is plaintext or truncates the file"
    )
    func formatWithoutCodes() throws {
        let settings: (inout Configuration) -> Void = { $0.cipher = .sqlcipher(format: 1) }
        _ = try directory.makeFile(key: .passphrase("p"), rows: 200, settings)
        let content = try directory.content(key: .passphrase("p"), settings)
        let configuration = Configuration.passphrase("p").with(settings)
        let crash = try directory.crash("a.db", configuration)
        let before = try directory.bytes(of: "a.db")
        let pageCount = UInt32(before.count / 1024)
        let plain = (1...4).map { _ in
            (page: UInt32(3), content: Array("plain text ".utf8) + [UInt8](repeating: 32, count: 1013))
        }
        let forgeries = [
            Forgery.journal(pageSize: 1024, pageCount: 1, records: []),
            Forgery.journal(pageSize: 1024, pageCount: pageCount, records: plain),
            Forgery.journal(pageSize: 4096, pageCount: pageCount, records: []),
        ]
        for forgery in forgeries {
            try directory.write(forgery, to: "a.db-journal")
            let error = #expect(throws: DatabaseError.self) {
                _ = try directory.makeQueue("a.db", configuration)
            }
            #expect(
                error?.encryptionFailure
                    == .foreignSideFile(path: directory.path("a.db-journal"), isFileWhole: true))
            #expect(try directory.bytes(of: "a.db") == before)
        }
        try directory.write(crash.file, to: "a.db")
        try directory.write(crash.journal, to: "a.db-journal")
        #expect(try directory.content(key: .passphrase("p"), settings) == content)
    }
}
