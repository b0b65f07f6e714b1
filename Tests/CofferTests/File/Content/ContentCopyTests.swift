import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Copies of the content of a file")
struct ContentCopyTests {
    private let directory: TestDirectory
    private let key = DatabaseKey.rawKey(ShellFile.key)

    init() throws { directory = try TestDirectory() }

    @Test(
        "what the engine copies itself is the same as what passes through the connections, row IDs included",
        arguments: [ShellFile.Format.plaintext, .sqlcipher1, .sqlcipher3, .sqlcipher4], ["UTF-8", "UTF-16be"])
    func bothWays(format: ShellFile.Format, encoding: String) throws {
        let script = "PRAGMA encoding = '\(encoding)';\n" + SampleSchema.everything
        let file = try ShellFile(directory.path("a.db"), format: format, script: script)
        let before: FileProtection =
            if let number = format.number {
                try .encrypted(key, cipher: .sqlcipher(format: number))
            } else {
                .plaintext
            }
        let source = try before.open(file.path)
        var digests: [String] = []
        for (name, origin) in [
            ("engine.db", RowCopy.Source(path: file.path, protection: before)), ("values.db", nil),
        ] {
            let copy = ContentFile(
                protection: try .encrypted(Keys.new, cipher: CipherSettings()), file: origin,
                prepare: { _ in }, progress: ProgressReport(nil))
            let made = try copy.make(from: source.handle, at: directory.path(name))
            digests.append(try made.content.digest)
        }
        #expect(digests[0] == digests[1])
        let dumps = try [file.shell, shell("engine.db"), shell("values.db")].map(SampleSchema.dump)
        #expect(dumps[1] == dumps[0] && dumps[2] == dumps[0])
    }

    private func shell(_ name: String) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: Keys.newBytes)
    }

    @Test(
        "what others commit while a file is copied is not in the copy, whether or not there was a log",
        arguments: [true, false])
    func othersWrite(hasLog: Bool) throws {
        let file = try directory.makeFile("a.db", wal: true, rows: 8000)
        var configuration = Configuration()
        configuration.key = Keys.old
        configuration.journalMode = .wal
        let writer = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        if hasLog { try writer.write { try $0.execute(sql: "UPDATE t SET a = 'before' WHERE id < 4000") } }
        let before = try directory.content(key: Keys.old)
        var isWritten = false
        try file.vacuum(into: directory.path("b.db"), key: Keys.old, newKey: Keys.new) { progress in
            guard progress.phase == .copying, progress.totalPageCount > 0, !isWritten else { return }
            isWritten = true
            try writer.write { try $0.execute(sql: "UPDATE t SET a = 'after', b = randomblob(400)") }
            try writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }
        #expect(isWritten)
        #expect(try directory.content("b.db", key: Keys.new) == before)
        #expect(try directory.content(key: Keys.old) != before)
    }
}
