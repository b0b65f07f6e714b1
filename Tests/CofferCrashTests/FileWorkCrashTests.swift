import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Rotations by copy and in place, upgrades, encryptions and decryptions of closed files. With
/// `COFFER_NIGHTLY=1`, kills more than 900 times, otherwise about 120 times.
@Suite("A killed operation on a file", .serialized)
struct FileWorkCrashTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "leaves the file in its old or its new form at every step, and the next run completes it",
        arguments: FileWork.allCases)
    func namedSteps(work: FileWork) throws {
        let benches = try ["delete", "wal"].map { try FileWorkBench(work, mode: $0, in: directory) }
        for (index, step) in work.steps.enumerated() {
            // The short run uses one of the two for each step, and alternates between kinds of work.
            for bench in Nightly.isOn
                ? benches : [benches[(index + (FileWork.allCases.firstIndex(of: work) ?? 0)) % 2]]
            {
                let path = try bench.makeFile()
                let killed = try KillableWorker.run(
                    "work", path, work.rawValue, environment: ["COFFER_FAIL_POINT": step])
                try #require(
                    killed.status == -SIGKILL,
                    "\(step), \(bench.mode): \(killed.outputText) \(killed.errorText)")
                let form = try bench.form(of: path)
                #expect(form == (work.isDone(at: step) ? work.after : work.before), "\(step), \(bench.mode)")
                if work == .decrypt, form == work.before, TestDirectory.hasUnnamedFiles {
                    #expect(try bench.plaintextFiles(beside: path) == [], "\(step), \(bench.mode)")
                }
                try bench.complete(path, changed: !work.isDone(at: step))
                try bench.remove(path)
            }
        }
    }

    @Test(
        "leaves the file in its old or its new form, whenever it is killed", arguments: FileWork.allCases,
        ["delete", "wal"])
    func anyMoment(work: FileWork, mode: String) throws {
        var random = SeededRandom("\(work) \(mode)")
        let bench = try FileWorkBench(work, mode: mode, in: directory)
        let duration = try bench.duration()
        let kills = Nightly.pick(60, byDay: 4)
        var done = 0
        for round in 1...kills {
            let path = try bench.makeFile()
            let worker = try KillableWorker("work", path, work.rawValue)
            usleep(UInt32.random(in: 0...duration, using: &random))
            worker.kill()
            _ = worker.output()
            let form = try bench.form(of: path)
            if form == work.after { done += 1 }
            #expect(try bench.lastTransfer(path, form) == FileWorkBench.transferCount, "round \(round)")
            try bench.complete(path)
            try bench.remove(path)
        }
        print(
            "kill -9 of \(work), \(mode): \(kills) kills within \(duration / 1000) ms, \(done) with the work done"
        )
    }

    @Test(
        "during writes of another process loses nothing that was acknowledged",
        arguments: FileWork.allCases, ["delete", "wal"])
    func besideWriter(work: FileWork, mode: String) throws {
        var random = SeededRandom("\(work) in turns \(mode)")
        let bench = try FileWorkBench(work, mode: mode, in: directory)
        let duration = try bench.duration()
        let kills = Nightly.pick(20, byDay: 2)
        var (done, total) = (0, 0)
        for round in 1...kills {
            let path = try bench.makeFile()
            let writer = try KillableWorker("turns", path, work.before.text, work.after.text)
            let head = writer.firstOutput()
            let worker = try KillableWorker("work", path, work.rawValue, "5")
            // The work has to wait until the writer is gone.
            usleep(UInt32.random(in: 0...3 * duration, using: &random))
            worker.kill()
            _ = worker.output()
            usleep(UInt32.random(in: 0...20_000, using: &random))
            writer.kill()
            let numbers = (head + writer.output()).split(separator: "\n").compactMap { Int($0) }
            let acknowledged = try #require(numbers.last)
            #expect(writer.errorText == "", "round \(round)")
            let form = try bench.form(of: path)
            if form == work.after { done += 1 }
            let committed = try bench.lastTransfer(path, form)
            try #require((acknowledged...acknowledged + 1).contains(committed), "round \(round): \(numbers)")
            total += committed - FileWorkBench.transferCount
            try bench.complete(path, transfers: committed, journalMayStay: true)
            try bench.remove(path)
        }
        print(
            "kill -9 of \(work) beside a writer, \(mode): \(kills) kills, \(done) with the work done, \(total) transactions"
        )
    }
}
