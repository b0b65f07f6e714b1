import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Kills, and a concurrent writer in another process. With `COFFER_NIGHTLY=1`, kills 300 times, otherwise 20
/// times. Each file, which keeps growing, is used for 20 kills.
@Suite("A rotation while the database is in use", .serialized)
struct LiveRotationCrashTests {
    let directory: TestDirectory
    let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("bank.db")
        try #require(KillableWorker.run("make", path, "66", "600", "wal").status == 0)
    }

    @Test(
        "that is killed at any moment loses nothing that was acknowledged; one key opens the file, and the next run completes",
        arguments: 1...Nightly.pick(15, byDay: 1))
    func killed(series: Int) throws {
        var random = SeededRandom("rotation while in use, \(series)")
        let kills = 20
        var forms: [String: Int] = [:]
        var (last, interrupted) = (600, 0)
        for round in 1...kills {
            let worker = try KillableWorker("live", path, "pool", "66", "23", "whileInUse")
            usleep(UInt32.random(in: 60_000...1_500_000, using: &random))
            worker.kill()
            let acknowledged = worker.output().split(separator: "\n").compactMap { Int($0) }.last ?? last
            #expect(worker.errorText == "", "round \(round)")
            if try !DatabaseFile(path: path).inspect().leftovers.isEmpty { interrupted += 1 }
            let form = try self.form()
            forms[form.text, default: 0] += 1
            let committed = try audit(form)
            try #require(committed >= acknowledged && committed <= acknowledged + 1, "round \(round)")
            last = committed
        }
        print(
            "kill -9 of rotations while in use: \(kills) kills, \(interrupted) in the middle of one, \(last) transactions, keys \(forms)"
        )
        #expect(interrupted > 0)
        #expect(try KillableWorker.run("rotate", path, form().text, "99").status == 0)
        #expect(directory.fileNames() == ["bank.db"])
    }

    @Test(
        "that is killed at each of its steps is completed by the next run",
        arguments: [
            "note-made", "copy-created", "state-pinned", "copying", "released", "journal-left", "locked",
            "copied",
            "verified", "copy-synchronized",
            "renamed",
            "directory-synchronized", "reopened", "audited", "note-removed",
        ])
    func killedAtStep(point: String) throws {
        let worker = try KillableWorker.run(
            "once", path, "66", "23", environment: ["COFFER_FAIL_POINT": point])
        #expect(worker.status != 0 && worker.errorText == "")
        let acknowledged = worker.outputText.split(separator: "\n").compactMap { Int($0) }.last ?? 600
        let form = try self.form()
        let isReplaced = ["renamed", "directory-synchronized", "reopened", "audited", "note-removed"]
            .contains(point)
        #expect(form.text == (isReplaced ? "23" : "66"))
        #expect(try audit(form) >= acknowledged)
        let next = try KillableWorker.run("once", path, form.text, "99")
        #expect(next.status == 0, "\(next.errorText)")
        #expect(directory.fileNames() == ["bank.db"])
        #expect(FileForm.encrypted(0x63).isIntact(path))
        #expect(try audit(.encrypted(0x63)) > acknowledged)
    }

    @Test(
        "is busy while another process keeps writing, or completes once it is gone; nothing is lost",
        arguments: [false, true])
    func otherProcess(isGoneInTime: Bool) throws {
        let pool = try DatabasePool(path: path, configuration: FileForm.encrypted(0x42).configuration)
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        var worker: KillableWorker?
        var acknowledged = ""
        func end() {
            guard let other = worker else { return }
            other.kill()
            acknowledged += other.output()
            worker = nil
        }
        var hasBegun = false
        var outcome = Result {
            try pool.rotateKey(to: .rawKey([UInt8](repeating: 0x17, count: 32)), options: options) { step in
                if step.phase == .copying, step.round == 0, step.completedPageCount > 0, !hasBegun {
                    hasBegun = true
                    let other = try KillableWorker(path, "pool", "2", "0")
                    worker = other
                    acknowledged = other.firstOutput()
                }
                // Before the verification ends, because it then looks for other processes.
                if isGoneInTime, step.phase == .verifying { end() }
            }
        }
        end()
        let last = try #require(acknowledged.split(separator: "\n").compactMap { Int($0) }.last)
        if isGoneInTime {
            // The other process may have restarted the WAL while its frames were still needed. Then the next
            // call completes the rotation.
            if case .failure(let error as DatabaseFileError) = outcome, error.reason == .busy([]) {
                print("rotation while in use: the other process was in the way, and gone a moment later")
                options.whileInUse = DatabaseFile.WhileInUse()
                outcome = Result {
                    try pool.rotateKey(
                        to: .rawKey([UInt8](repeating: 0x17, count: 32)), options: options)
                }
            }
            #expect(try outcome.get().isChanged)
        } else {
            let error = #expect(throws: DatabaseFileError.self) { try outcome.get() }
            switch error?.reason {
            case .busy, .outpaced: break
            default: Issue.record("\(String(describing: error))")
            }
        }
        let committed = try pool.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 2)
        }
        #expect(committed >= last && committed <= last + 1)
        try pool.close()
        #expect(directory.fileNames() == ["bank.db"])
        #expect(try form().text == (isGoneInTime ? "23" : "66"))
    }

    private func form() throws -> FileForm {
        let forms = [FileForm.encrypted(0x42), .encrypted(0x17)].filter { $0.isIntact(path) }
        try #require(forms.count == 1, "keys that open the file: \(forms.map(\.text))")
        return forms[0]
    }

    /// Returns the last number of the first teller. Also checks that no transaction is only partly present.
    private func audit(_ form: FileForm) throws -> Int {
        let queue = try DatabaseQueue(
            path: path, configuration: form.configuration.with { $0.busyMode = .timeout(Patience.seconds) })
        defer { try? queue.close() }
        return try queue.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
    }
}
