import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite struct DatabaseErrorLogTests {
    @Test("errors of SQLite are passed to the log function that was set before the first connection")
    func log() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let log = Mutex<[String]>([])
            Database.logError = { code, message in log.withLock { $0.append("\(code.rawValue) \(message)") } }
            try DatabaseQueue().writeWithoutTransaction { db throws in
                try? db.execute(sql: "SELECT missing")
                Database.logError = nil
                try? db.execute(sql: "SELECT more")
                Database.logError = { code, message in
                    log.withLock { $0.append("\(code.rawValue) \(message)") }
                }
                try? db.execute(sql: "SELECT again")
            }
            let lines = log.withLock { $0 }
            let isRight =
                lines.count == 2 && lines[0].hasPrefix("1 no such column: missing")
                && lines[1].hasPrefix("1 no such column: again")
            exit(isRight ? 7 : 1)
        }
    }
}
