import Testing

@testable import Coffer

@Suite("RegionWatchState")
struct RegionWatchStateTests {
    private let quiet = WriteClock.Time()

    private func update(_ table: String, _ columns: Set<String> = ["x"]) -> DatabaseEventKind {
        .update(tableName: table, columnNames: columns)
    }

    private func event(_ table: String, row: Int64 = 1) -> DatabaseEvent {
        DatabaseEvent(kind: .update, databaseName: "main", tableName: table, rowID: row)
    }

    @Test(
        "only watchers whose regions the transaction has changed are notified, once, in the order of their addition"
    )
    func changes() {
        var state = RegionWatchState()
        let ids = ["a", "b", "a"].map { state.add(DatabaseRegion(table: $0)) }
        #expect(state.watchers(of: update("c")).isEmpty)
        #expect(state.watchers(of: update("A")) == [ids[0], ids[2]])
        let result1 = state.rowDidChange(event("a"), for: [ids[0], ids[2]])
        #expect(result1.isEmpty)
        let result2 = state.transactionDidEnd(rolledBack: false)
        #expect(result2 == [ids[0], ids[2]])
        let result3 = state.transactionDidEnd(rolledBack: false)
        #expect(result3.isEmpty)
    }

    @Test("a watcher of some rows waits for a change of one of them")
    func rows() {
        var state = RegionWatchState()
        let id = state.add(DatabaseRegion(table: "a", rowIds: [2]))
        let result4 = state.rowDidChange(event("a", row: 1), for: [id])
        #expect(result4 == [id])
        let result5 = state.transactionDidEnd(rolledBack: false)
        #expect(result5.isEmpty)
        let result6 = state.rowDidChange(event("a", row: 2), for: [id])
        #expect(result6.isEmpty)
        let result7 = state.transactionDidEnd(rolledBack: false)
        #expect(result7 == [id])
    }

    @Test("a rollback is only reported to watchers that wait for the end of the transaction")
    func rollback() {
        var state = RegionWatchState()
        let concerned = state.add(DatabaseRegion(table: "a"))
        let waiting = state.add(DatabaseRegion(table: "b"))
        _ = state.rowDidChange(event("a"), for: [concerned])
        state.waitForEnd(waiting)
        let result8 = state.transactionDidEnd(rolledBack: true)
        #expect(result8 == [waiting])
        let result9 = state.transactionDidEnd(rolledBack: false)
        #expect(result9.isEmpty)
    }

    @Test("removed watchers are not notified, and their regions are forgotten")
    func removal() {
        var state = RegionWatchState()
        let id = state.add(DatabaseRegion(table: "a"))
        _ = state.rowDidChange(event("a"), for: [id])
        state.remove(id)
        #expect(state.count == 0)
        let result10 = state.transactionDidEnd(rolledBack: false)
        #expect(result10.isEmpty)
        #expect(state.watchers(of: update("a")).isEmpty)
    }

    @Test("an unchanged region means that nothing was missed, regardless of other commits")
    func sameRegion() {
        var state = RegionWatchState()
        let id = state.add(DatabaseRegion(table: "a"))
        let isStale = state.setRegion(
            DatabaseRegion(table: "a"), of: id, readSince: quiet,
            now: WriteClock.Time(transactionCount: 3, isWriting: true))
        #expect(!isStale)
        let result11 = state.transactionDidEnd(rolledBack: false)
        #expect(result11.isEmpty)
    }

    @Test("a new region may be stale if something was committed, and changed by an open transaction")
    func newRegion() {
        var state = RegionWatchState()
        let id = state.add(nil)
        #expect(state.watchers(of: update("a")).isEmpty)
        let result12 = state.setRegion(DatabaseRegion(table: "a"), of: id, readSince: quiet, now: quiet)
        #expect(result12 == false)
        let result13 = state.transactionDidEnd(rolledBack: false)
        #expect(result13.isEmpty)
        let result14 = state.setRegion(
            DatabaseRegion(table: "b"), of: id, readSince: quiet, now: WriteClock.Time(transactionCount: 1))
        #expect(result14)
        let result15 = state.transactionDidEnd(rolledBack: false)
        #expect(result15.isEmpty)
        let result16 = state.setRegion(
            DatabaseRegion(table: "c"), of: id, readSince: quiet, now: WriteClock.Time(isWriting: true))
        #expect(result16 == false)
        let result17 = state.transactionDidEnd(rolledBack: false)
        #expect(result17 == [id])
        let result18 = state.setRegion(
            DatabaseRegion(table: "d"), of: id, readSince: nil, now: WriteClock.Time(transactionCount: 7))
        #expect(result18 == false)
        #expect(state.watchers(of: update("a")).isEmpty && state.watchers(of: update("d")) == [id])
    }
}
