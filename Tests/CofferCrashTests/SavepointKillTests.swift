import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, kills 2,000 random programs, otherwise a few.
@Suite("A killed process with savepoints and failing statements", .serialized)
struct SavepointKillTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("loses no acknowledged commit")
    func losesNothing() throws {
        var random = SeededRandom("savepoints that are killed")
        for _ in 0..<Nightly.pick(2_000, byDay: 12) {
            let seed = random.next()
            let outcome = try run(seed: seed, patience: UInt32.random(in: 0...60_000, using: &random))
            try #require(
                outcome.missing == 0 && outcome.isWhole,
                "seed \(seed): \(outcome.missing) acknowledged commits are lost, or others are not whole")
        }
    }

    @Test(
        "loses commits without Coffer's fix for the engine",
        .enabled(if: EngineFault.lostCommits.isOfThisEngine))
    func engineItself() throws {
        // If the engine did not lose commits, the test above would be pointless.
        var random = SeededRandom("savepoints of the engine")
        for _ in 0..<300 {
            let outcome = try run(
                seed: random.next(), patience: 50_000, environment: ["COFFER_ENGINE_FAULT_MENDS": "off"])
            if outcome.missing > 0 { return }
        }
        Issue.record("300 programs have lost no commit without the mend")
    }

    private struct Outcome {
        var missing: Int
        /// True if the content matches the last transaction that is present.
        var isWhole: Bool
    }

    private func run(seed: UInt64, patience: UInt32, environment: [String: String] = [:]) throws -> Outcome {
        let path = directory.path("\(seed).db")
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let worker = try WorkerProcess(
            "CofferTestWorker", ["savepoints", path, "\(seed)"], environment: environment)
        // Kill at any moment after the first commit.
        guard worker.waitForFirstLine() else { return Outcome(missing: 1, isWhole: false) }
        usleep(patience)
        worker.kill()
        let acknowledged = worker.remainingLines().last { $0.split(separator: " ").count == 3 } ?? ""

        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
        return try queue.read { db in
            guard let last = try Row.fetchOne(db, sql: "SELECT * FROM transactions ORDER BY number DESC")
            else { return Outcome(missing: 1, isWhole: false) }
            let number = Int(acknowledged.split(separator: " ").first ?? "") ?? 0
            let found = try Row.fetchOne(db, sql: "SELECT count(*), coalesce(sum(version), 0) FROM item")
            let check = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            var isWhole =
                found?[0] == last["rows"] as Int? && found?[1] == last["versions"] as Int? && check == ["ok"]
            if last["number"] == number {
                isWhole =
                    isWhole && acknowledged == "\(number) \(last["rows"] as Int) \(last["versions"] as Int)"
            }
            return Outcome(missing: max(0, number - last["number"]), isWhole: isWhole)
        }
    }
}
