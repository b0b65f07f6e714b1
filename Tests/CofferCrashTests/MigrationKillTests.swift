import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, kills 100 times each way, otherwise a few times.
@Suite("A migrating process that is killed", .serialized)
struct MigrationKillTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "leaves the database at the end of a migration, and a second run completes",
        arguments: Access.allCases)
    func kill(access: Access) throws {
        var random = SeededRandom("migration kill \(access)")
        let kills = Nightly.pick(100, byDay: 8)
        var file = 0
        var done = 0
        var interrupted = 0
        for round in 1...kills {
            // Start a new file once the previous one is complete.
            if done == 0 || done == MigrationHistory.count {
                file += 1
                done = 0
            }
            let path = directory.path("\(file).db")
            let worker = try WorkerProcess("CofferTestWorker", ["migrate", path, access.rawValue])
            let target = Int.random(in: (done + 1)...MigrationHistory.count, using: &random)
            try #require(worker.waitForLine("m\(target)"), "round \(round)")
            // During this migration, its commit, or the next migration.
            usleep(UInt32.random(in: 0...20_000, using: &random))
            worker.kill()
            let writer = try directory.make(access, "\(file).db")
            let reached = try writer.read { try MigrationHistory.check($0) }
            try #require(
                reached >= target - 1,
                "round \(round): a migration is lost that was complete when the next one began")
            if reached < MigrationHistory.count { interrupted += 1 }
            done = reached
            try writer.close()
        }
        for number in 1...file {
            let worker = try WorkerProcess(
                "CofferTestWorker", ["migrate", directory.path("\(number).db"), access.rawValue])
            #expect(worker.wait())
            #expect(worker.lines.last == "end")
            let writer = try directory.make(access, "\(number).db")
            #expect(try writer.read { try MigrationHistory.check($0) } == MigrationHistory.count)
            #expect(try writer.read { try MigrationHistory.migrator().hasCompletedMigrations($0) })
            try writer.close()
        }
        print(
            "migrations, kill -9, \(access): \(kills) kills, \(interrupted) between the first and the last, \(file) files"
        )
        #expect(interrupted > 0)
    }

    @Test(
        "processes that migrate the same file at the same time apply each migration once",
        arguments: Access.allCases)
    func race(access: Access) throws {
        let path = directory.path("race.db")
        let workers = try (1...3).map { _ in
            try WorkerProcess("CofferTestWorker", ["migrate", path, access.rawValue])
        }
        for worker in workers { #expect(worker.wait()) }
        let begun = workers.flatMap { $0.lines.filter { $0 != "end" } }
        #expect(begun.sorted() == (1...MigrationHistory.count).map { "m\($0)" })
        let writer = try directory.make(access, "race.db")
        #expect(try writer.read { try MigrationHistory.check($0) } == MigrationHistory.count)
    }
}
