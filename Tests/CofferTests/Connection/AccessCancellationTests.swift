import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The cancellation of an access")
struct AccessCancellationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("also interrupts a statement that was about to begin")
    func beginning() throws {
        let queue = try directory.makeQueue()
        queue.inDatabase { db in
            let cancellation = AccessCancellation()
            #expect(cancellation.begin(db.sharedState))
            cancellation.cancel()
            #expect(cancellation.isCancelled)
            defer { cancellation.end(db.sharedState) }
            // As if the check before the statement had come before the cancellation. The engine forgets an
            // interruption when it begins a statement and no other is running. Counting takes seconds.
            let error = #expect(throws: EngineError.self) {
                try db.handle.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000000)
                    SELECT count(*) FROM n
                    """)
            }
            #expect(error?.primaryCode == EngineCode.interrupt)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }
}
