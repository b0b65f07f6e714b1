import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("A change of the journal mode")
struct JournalModeChangeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("is complete once the file's header has the mode, regardless of the engine's answer")
    func header() throws {
        _ = try directory.makeFile()
        let right = try FileProtection.encrypted(Keys.old, cipher: CipherSettings())
        // With this key, the version numbers in the header are random. One in 65,536 looks right.
        let wrong = try FileProtection.encrypted(Keys.other, cipher: CipherSettings())
        let connection = try right.open(directory.path("a.db"))
        let handle = connection.handle
        var refusals: [EngineError] = []
        for mode in [JournalMode.wal, .delete, .wal, .delete] {
            do {
                try handle.changeJournalMode(to: mode, wrong)
            } catch let error as EngineError {
                refusals.append(error)
            }
            #expect(try handle.firstText(trusted: "PRAGMA main.journal_mode") == mode.rawValue)
            #expect(try handle.isFile(in: mode, right))
        }
        #expect(refusals.count >= 3 && refusals.allSatisfy { $0.code == EngineCode.ioError })
        for mode in [JournalMode.wal, .wal, .delete] { try handle.changeJournalMode(to: mode, right) }
    }
}
