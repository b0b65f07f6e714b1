import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, kills 300 times each way, otherwise a few times.
@Suite("A writing process that is killed", .serialized)
struct KillTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "leaves a file that opens, with every acknowledged transaction, and no part of another one",
        arguments: Access.allCases)
    func kill(access: Access) throws {
        let path = directory.path("bank.db")
        do {
            let writer = try directory.make(access, "bank.db")
            try writer.write { try Bank.open($0) }
        }
        var random = SeededRandom("kill \(access)")
        let kills = Nightly.pick(300, byDay: 8)
        var last = 0
        var unacknowledged = 0
        var hadHotFiles = 0
        for round in 1...kills {
            let teller = try BankTeller(path: path, access, teller: 1)
            let head = teller.firstAcknowledgements()
            // During one of the next transactions, which take about a millisecond each.
            usleep(UInt32.random(in: 0...60_000, using: &random))
            teller.kill()
            let tail = teller.acknowledged()
            let first = head.split(separator: "\n").compactMap { Int($0) }
            // The head may end in the middle of a number that the tail completes. Only the greatest number
            // matters, and it comes last.
            let acknowledged = max(last, tail.last ?? first.last ?? 0)
            #expect(teller.errorText == "", "round \(round)")
            let files = directory.fileNames()
            if files.contains("bank.db-wal") || files.contains("bank.db-journal") { hadHotFiles += 1 }

            let writer = try directory.make(access, "bank.db")
            let committed = try writer.read { db in
                try Bank.audit(db)
                return try Bank.lastNumber(db, teller: 1)
            }
            try #require(committed >= acknowledged, "round \(round): an acknowledged transaction is lost")
            try #require(
                committed <= acknowledged + 1,
                "round \(round): more was committed than one that could not be acknowledged")
            if committed > acknowledged { unacknowledged += 1 }
            last = committed
            if round % 10 == 0 || round == kills { try Bank.inspect(writer) }
            try writer.close()
        }
        print(
            """
            kill -9, \(access): \(kills) kills, \(last) transactions, \(unacknowledged) committed without \
            acknowledgement, \(hadHotFiles) left a journal or WAL
            """)
        #expect(hadHotFiles > 0)
    }
}
