import Coffer
import Foundation
import Testing

@Suite("DatabaseWaitError")
struct DatabaseWaitErrorTests {
    @Test("an error says what the access needed, how long it waited, and that it has not begun")
    func description() {
        let late = DatabaseWaitError.timedOut(.writer, waited: 0.20049)
        #expect("\(late)" == "The writer was not available within 0.2 s. The access has not begun.")
        #expect(late.localizedDescription == "\(late)")
        let refused = DatabaseWaitError.overloaded(.reader, waiterCount: 100)
        #expect(
            "\(refused)"
                == "A reader was not available, and 100 accesses are waiting. The access has not begun.")
        #expect(refused.resource == .reader && late.resource == .writer)
    }

    @Test("an error is not a DatabaseError, so it cannot be mistaken for SQLITE_BUSY")
    func type() {
        let error: any Error = DatabaseWaitError.timedOut(.connection, waited: 1)
        #expect(!(error is DatabaseError))
    }
}
