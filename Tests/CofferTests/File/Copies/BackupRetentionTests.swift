import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Rules for backups to keep, and times in their names")
struct BackupRetentionTests {
    private func time(_ text: String) throws -> BackupTime {
        try #require(BackupTime("\(text)T010203.004Z".utf8))
    }

    private func kept(_ rule: String, _ days: [String]) throws -> [String] {
        let retention = try #require(DatabaseFile.BackupRetention(rule))
        return try retention.kept(days.map(time)).sorted().map { String($0.text.prefix(8)) }
    }

    @Test("a gap of more than two years starts a new series, to which the numbers apply separately")
    func gaps() throws {
        let real = ["20260101", "20260102", "20260103"]
        #expect(try kept("1h", real) == ["20260103"])
        #expect(try kept("1h", real + ["20990101"]) == ["20260103", "20990101"])
        #expect(try kept("2d", real + ["20990101", "20990102", "20990103"]).count == 4)
        #expect(try kept("1h", ["20010101"] + real + ["20990101"]).count == 3)
    }

    @Test("yearly backups are one series, even if two of them are as far apart as the rule allows")
    func years() throws {
        let days = ["20230101", "20241231", "20250101", "20261231"]
        #expect(try kept("2y", days) == ["20250101", "20261231"])
        #expect(try kept("1d", ["20230101", "20241231"]) == ["20241231"])
    }

    @Test("a backup after the year 9999 is refused, because its name would not be a backup name")
    func lastYear() throws {
        let directory = try TestDirectory()
        let last = try time("99991231")
        let place = try BackupName.place(of: directory.path("a.db"), in: directory.path, at: last)
        #expect(try place.name?([1, 2, 3, 4]).contains("99991231T") == true)
        let next = BackupTime(milliseconds: last.milliseconds + 86_400_000)
        #expect(throws: DatabaseFileError.self) {
            _ = try BackupName.place(of: directory.path("a.db"), in: directory.path, at: next)
        }
        #expect(BackupName("a.db.\(next.text)-01020304-01020304.backup") == nil)
    }
}
