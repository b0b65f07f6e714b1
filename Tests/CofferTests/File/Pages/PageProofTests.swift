import CofferTestSupport
import Foundation
import KeyMaterial
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The copy of a rotation, and its proof")
struct PageProofTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static var silent: ProgressReport { ProgressReport(nil, isCancellable: false) }

    /// Options for a rotation that waits, because processes that other tests start briefly inherit the open
    /// file.
    private static var patient: DatabaseFile.RotationOptions {
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = Patience.seconds
        return options
    }

    /// Copies `a.db` to `copy.db`, as a rotation does.
    private func copy(
        to key: DatabaseKey = Keys.new, _ settings: CipherSettings = CipherSettings(),
        progress: ProgressReport = silent
    ) throws {
        let change = try change(key, settings)
        let source = try change.before.open(change.path, flags: .readOnly)
        try SystemFile.remove(directory.path("copy.db"))
        let file = try HeldFile(creating: directory.path("copy.db"))
        _ = try PageCopy().copy(source.handle, to: file, change, progress)
    }

    private func prove(
        _ key: DatabaseKey = Keys.new, _ settings: CipherSettings = CipherSettings()
    ) throws -> ProvedContent {
        let change = try change(key, settings)
        let source = try change.before.open(change.path, flags: .readOnly)
        let file = try FileBytes(directory.bytes(of: "copy.db"))
        let copy = try change.after.open(viewing: file)
        return try PageProof().prove(
            copy.handle, in: file, against: source.handle, change, PageProofTests.silent)
    }

    private func change(_ key: DatabaseKey, _ settings: CipherSettings) throws -> FileChange {
        try FileChange(
            path: directory.path("a.db"), before: .encrypted(Keys.old, cipher: settings),
            after: .encrypted(key, cipher: settings))
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: directory.path("copy.db")))
    }

    private func isRejected(_ body: () throws -> ProvedContent) -> Bool {
        do {
            let comparison = try body()
            return comparison.structure?.isEmpty == false || comparison.isOldKeyAccepted == true
        } catch {
            return true
        }
    }

    @Test(
        "a copy opens with the new key only, in Coffer and in the shell, and equals its source",
        arguments: [60, 4000])
    func copies(rows: Int) throws {
        try directory.makeFile(rows: rows)
        let content = try directory.content(key: Keys.old)
        try copy()
        let comparison = try prove()
        let digest = try comparison.digest
        #expect(
            comparison.structure == [] && comparison.isOldKeyAccepted == false
                && digest.count == 64)
        #expect(try directory.content("copy.db", key: Keys.new) == content)
        #expect(!directory.opens("copy.db", key: Keys.old))
        let (old, new) = try (directory.bytes(of: "a.db"), directory.bytes(of: "copy.db"))
        #expect(old.count == new.count && old.prefix(16) != new.prefix(16))
        if SQLCipherShell.isAvailable {
            let shell = SQLCipherShell(path: directory.path("copy.db"), rawKey: Keys.newBytes)
            #expect(
                try shell.run(
                    "SELECT count(*) FROM t; PRAGMA cipher_integrity_check; PRAGMA integrity_check;") == [
                        "\(rows)", "ok",
                    ])
        }
    }

    @Test(
        "in each format and with a part of the header in the clear, the engine reads Coffer's ciphertext",
        arguments: 0...4)
    func formats(format: Int) throws {
        let salt = [UInt8](repeating: 0x5c, count: 16)
        var settings = format == 0 ? CipherSettings() : CipherSettings.sqlcipher(format: format)
        if format == 0 { settings.plaintextHeaderSize = 32 }
        // If the file contains no salt, the key supplies it.
        let old = format == 0 ? DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32), salt: salt) : Keys.old
        let key = format == 0 ? DatabaseKey.rawKey(Keys.newBytes, salt: salt) : Keys.new
        let file = try directory.makeFile(key: old) { $0.cipher = settings }
        let content = try directory.content(key: old) { $0.cipher = settings }
        var options = PageProofTests.patient
        options.cipher = settings
        #expect(try file.rotate(from: old, to: key, options: options).isChanged)
        #expect(try directory.content(key: key) { $0.cipher = settings } == content)
        #expect(!directory.opens(key: old) { $0.cipher = settings })
    }

    @Test(
        "comparing with several threads finds a changed byte in any part, and gives the same digest")
    func manyParts() throws {
        try directory.makeFile(rows: 8000)
        try copy()
        let whole = try directory.bytes(of: "copy.db")
        let change = try change(Keys.new, CipherSettings())
        let source = try change.before.open(change.path, flags: .readOnly)
        func compare(_ bytes: [UInt8], threadCount: Int) throws -> (digest: String, numbers: [Int]) {
            let comparison = try PageComparison(
                source: PageFile(source.handle, change.before),
                copy: PageFile(FileBytes(bytes), change.after),
                path: change.path)
            var numbers: [Int] = []
            let digest = try comparison.run(
                threadCount: threadCount, progress: PageProofTests.silent
            ) { number, _ in numbers.append(number) }
            return (digest, numbers)
        }
        let one = try compare(whole, threadCount: 1)
        let pageCount = whole.count / 4096
        #expect(pageCount > 5 * 64 && one.numbers == Array(1...pageCount))
        for threadCount in [2, 3, 64] {
            let many = try compare(whole, threadCount: threadCount)
            #expect(many == one)
        }
        for page in stride(from: 1, through: pageCount, by: 63) {
            var changed = whole
            changed[page * 4096 - 200] ^= 1
            let error = #expect(throws: DatabaseFileError.self) { try compare(changed, threadCount: 2) }
            #expect(error.map { "\($0)" }?.contains("page \(page) ") == true, "\(String(describing: error))")
        }
    }

    @Test("one changed byte of the content, of the IV or of the MAC of any page is found")
    func damage() throws {
        try directory.makeFile(rows: 60)
        try copy()
        let whole = try directory.bytes(of: "copy.db")
        for page in 0..<whole.count / 4096 {
            for offset in [100, 2000, 4096 - 80, 4096 - 64, 4096 - 1] {
                var bytes = whole
                bytes[page * 4096 + offset] ^= 1
                try write(bytes)
                #expect(isRejected { try prove() }, "page \(page + 1), byte \(offset)")
            }
        }
        try write(whole)
        #expect(!isRejected { try prove() })
    }

    @Test("any page that is authentic and has different content is found, and named")
    func otherContentOfAnyPage() throws {
        try directory.makeFile(rows: 60)
        try copy()
        let whole = try directory.bytes(of: "copy.db")
        let salt = Array(whole.prefix(16))
        let key = SecretBytes(Keys.newBytes)
        let layout = PageCipher.Layout(CipherSettings())
        let cipher = try PageCipher(key: key, salt: salt, layout: layout)
        let sealer = try PageSealer(key: key, salt: salt, layout: layout)
        for page in 1...whole.count / 4096 {
            let range = (page - 1) * 4096..<page * 4096
            var content = try cipher.decrypt(Array(whole[range]), number: UInt32(page))
            content[2000] ^= 1
            var sealed = [UInt8](repeating: 0, count: 4096)
            let reserve = [UInt8](repeating: 7, count: layout.reserve)
            var target = sealed.mutableSpan
            try sealer.seal(content.span, number: UInt32(page), reserve: reserve.span, into: &target)
            var bytes = whole
            bytes.replaceSubrange(range, with: sealed)
            try write(bytes)
            #expect(reason { try prove() } == .copyRejected("its page \(page) has different content"))
        }
    }

    @Test("pages that are authentic and have different content, or are missing, are found")
    func otherContent() throws {
        try directory.makeFile(rows: 60)
        try copy()
        let whole = try directory.bytes(of: "copy.db")
        var configuration = Configuration()
        configuration.key = Keys.new
        let queue = try DatabaseQueue(path: directory.path("copy.db"), configuration: configuration)
        try queue.write { try $0.execute(sql: "UPDATE t SET a = 'row 99 é中' WHERE id = 60") }
        try queue.close()
        #expect(reason { try prove() }.map { "\($0)".contains("has different content") } == true)
        try write(Array(whole.dropLast(4096)))
        #expect(isRejected { try prove() })
    }

    @Test(
        "a source whose structure is broken, with authentic pages, is not rotated, and is reported as damaged"
    )
    func structure() throws {
        let file = try directory.makeFile(rows: 60)
        var configuration = Configuration()
        configuration.key = Keys.old
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = 1;
                    UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = \
                    't') WHERE name = 'implicit';
                    PRAGMA writable_schema = 0
                    """)
        }
        try queue.close()
        let before = try directory.snapshot()
        #expect(
            reason { try file.rotate(from: Keys.old, to: Keys.new, options: PageProofTests.patient) }
                == .damaged(pages: []))
        #expect(try directory.snapshot() == before)
    }

    @Test("both threads end if a copy is stopped by progress or by damage")
    func ends() throws {
        struct Stop: Error {}
        try directory.makeFile(rows: 8000)
        var calls = 0
        #expect(throws: Stop.self) {
            try copy(
                progress: ProgressReport({ _ in
                    calls += 1
                    if calls == 2 { throw Stop() }
                }))
        }
        var bytes = try directory.bytes(of: "a.db")
        let last = bytes.count / 4096
        bytes[bytes.count - 4000] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: directory.path("a.db")))
        #expect(throws: EngineError.self) { try copy() }
        let file = DatabaseFile(path: directory.path("a.db"))
        #expect(
            reason { try file.rotate(from: Keys.old, to: Keys.new, options: PageProofTests.patient) }
                == .damaged(pages: [last]))
        #expect(directory.fileNames().sorted() == ["a.db", "copy.db"])
    }
}

/// A snapshot of the bytes of a file.
private final class FileBytes: StoredBytes, Sendable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var size: Int64 { Int64(bytes.count) }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let start = min(Int(offset), bytes.count)
        let part = bytes[start..<min(bytes.count, start + target.count)]
        target.copy(part.span)
        return part.count
    }
}
