import Coffer
import Foundation
import SQLCipherBridge
import Testing

@testable import CofferCLI

@Suite("The age of the engine")
struct EngineAgeTests {
    private func checks(_ version: Int, _ released: String, now: String, isOwn: Bool = false) throws
        -> [String]
    {
        let now = try Date(now + "T12:00:00Z", strategy: .iso8601)
        return EngineAge(version: version, released: released, isOwn: isOwn, now: now).findings.map {
            finding in
            #expect(finding.isWarning && !finding.isToMend && finding.advice != nil)
            return finding.check == "engine fault"
                ? String(finding.words.prefix { $0 != ":" }) : finding.check
        }
    }

    @Test("a fault is reported only for the versions that have it")
    func faults() throws {
        let all = EngineFault.allCases.filter { $0.treatment == .open }.map(\.rawValue)
        #expect(all.contains("wal-reset") && all.contains("CVE-2025-6965") && !all.contains("lost-commits"))
        #expect(try checks(3_046_001, "2024-08-13", now: "2024-09-01") == all)
        let older = ["CVE-2025-29087", "key-text"]
        let newest = ["CVE-2026-119373", "CVE-2026-119374", "CVE-2026-119591"]
        #expect(
            try checks(3_049_001, "2025-02-18", now: "2025-03-01") == all.filter { !older.contains($0) })
        #expect(
            try checks(3_051_002, "2026-01-09", now: "2026-02-01") == [
                "wal-reset", "CVE-2026-11822", "CVE-2026-11824", "CVE-2026-119373",
                "CVE-2026-119374", "CVE-2026-119591", "exported-names",
            ])
        #expect(try checks(3_053_004, "2026-07-30", now: "2026-08-01") == newest)
        #expect(try checks(3_054_000, "2026-10-30", now: "2026-11-01") == [])
    }

    @Test("the security model has the table of faults")
    func article() throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        let path = folder.appendingPathComponent("Sources/Coffer/Coffer.docc/SecurityModel.md")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        let rows = EngineFault.allCases.map {
            "| `\($0.rawValue)` | \($0.mendedIn) | \($0.treatment.rawValue) | \($0.summary) |"
        }
        for row in rows { #expect(lines.contains { $0 == row }, "\(row)") }
        #expect(lines.count { line in rows.contains { line == $0 } } == rows.count)
    }

    @Test("an engine that is older than a year, or of unknown age, is reported")
    func age() throws {
        #expect(try checks(3_054_000, "2026-07-30", now: "2027-07-30") == [])
        #expect(try checks(3_054_000, "2026-07-30", now: "2027-08-01") == ["engine age"])
        #expect(try checks(3_054_000, "2026", now: "2026-08-01") == ["engine age"])
    }

    @Test("the advice fits the engine in use")
    func advice() throws {
        for isOwn in [false, true] {
            let now = Date(timeIntervalSince1970: 1_790_000_000)
            let engine = EngineAge(version: 3_046_001, released: "2024-08-13", isOwn: isOwn, now: now)
            #expect(engine.findings.count > 4)
            for finding in engine.findings {
                let advice = try #require(finding.advice)
                #expect(
                    advice.contains("Scripts/build-engine") && advice.contains("libsqlcipher-dev") == !isOwn)
            }
        }
    }

    @Test("the release date of this program's engine can be parsed")
    func thisProgram() throws {
        _ = try Date(Engine.releaseDay + "T00:00:00Z", strategy: .iso8601)
        #expect(EngineAge.ofThisProgram.findings.allSatisfy { $0.words.contains("unknown") == false })
        #expect(Engine.ownDescription.map { $0.hasPrefix("Scripts/build-engine, ") } ?? true)
    }
}
