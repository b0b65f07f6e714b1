import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, kills 100 times, otherwise a few times. See ``FileWorkCrashTests`` for closed
/// files.
@Suite("A killed rotation of a database in use", .serialized)
struct RotationCrashTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("loses no acknowledged commit of a concurrent writer", arguments: Access.allCases)
    func besideWriter(access: Access) throws {
        let path = directory.path("bank.db")
        try #require(KillableWorker.run("make", path, "66", "30", "delete").status == 0)
        var random = SeededRandom("live rotation \(access)")
        let kills = Nightly.pick(50, byDay: 4)
        var forms: [String: Int] = [:]
        var last = 30
        for round in 1...kills {
            let worker = try KillableWorker("live", path, access.rawValue, "66", "23")
            usleep(UInt32.random(in: 100_000...400_000, using: &random))
            worker.kill()
            let acknowledged = worker.output().split(separator: "\n").compactMap { Int($0) }.last ?? last
            #expect(worker.errorText == "", "round \(round)")
            let form = try self.form(of: path)
            forms[form.text, default: 0] += 1
            let queue = try DatabaseQueue(
                path: path,
                configuration: form.configuration.with { $0.busyMode = .timeout(Patience.seconds) })
            let committed = try queue.read { db in
                try Bank.audit(db)
                return try Bank.lastNumber(db, teller: 1)
            }
            try queue.close()
            try #require(committed >= acknowledged && committed <= acknowledged + 1, "round \(round)")
            last = committed
        }
        print(
            "kill -9 of rotations beside a writer, \(access): \(kills) kills, \(last) transactions, keys \(forms)"
        )
        // The next rotation removes the leftovers, regardless of the file's key.
        #expect(try KillableWorker.run("rotate", path, form(of: path).text, "99").status == 0)
        #expect(try DatabaseFile(path: path).inspect().leftovers.isEmpty)
    }

    private func form(of path: String) throws -> FileForm {
        let forms = [FileForm.encrypted(0x42), .encrypted(0x17)].filter { $0.isIntact(path) }
        try #require(forms.count == 1, "keys that open the file: \(forms.map(\.text))")
        return forms[0]
    }
}
