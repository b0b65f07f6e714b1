import Testing

@testable import Coffer

@Suite("RegionWatchState")
struct RegionWatchStateTests {
    private let quiet = WriteClock.Time()

    private func update(_ table: String, _ columns: Set<String> = ["x"]) -> DatabaseEventKind {
        .update(tableName: table, columnNames: columns)
    }

    /// A state in a class, whose methods `#expect` can call although they change it.
    private final class Watch {
        var state = RegionWatchState()

        func end(rolledBack: Bool = false) -> [Int] { state.transactionDidEnd(rolledBack: rolledBack) }

        func change(_ table: String, row: Int64 = 1, for ids: [Int]) -> [Int] {
            state.rowDidChange(
                DatabaseEvent(kind: .update, databaseName: "main", tableName: table, rowID: row), for: ids)
        }

        func read(_ table: String, of id: Int, since start: WriteClock.Time?, now: WriteClock.Time) -> Bool {
            state.setRegion(DatabaseRegion(table: table), of: id, readSince: start, now: now)
        }
    }

    @Test(
        "only watchers whose regions the transaction has changed are notified, once, in the order of their addition"
    )
    func changes() {
        let watch = Watch()
        let ids = ["a", "b", "a"].map { watch.state.add(DatabaseRegion(table: $0)) }
        #expect(watch.state.watchers(of: update("c")).isEmpty)
        #expect(watch.state.watchers(of: update("A")) == [ids[0], ids[2]])
        #expect(watch.change("a", for: [ids[0], ids[2]]).isEmpty)
        #expect(watch.end() == [ids[0], ids[2]])
        #expect(watch.end().isEmpty)
    }

    @Test("a watcher of some rows waits for a change of one of them")
    func rows() {
        let watch = Watch()
        let id = watch.state.add(DatabaseRegion(table: "a", rowIds: [2]))
        #expect(watch.change("a", row: 1, for: [id]) == [id])
        #expect(watch.end().isEmpty)
        #expect(watch.change("a", row: 2, for: [id]).isEmpty)
        #expect(watch.end() == [id])
    }

    @Test("a rollback is only reported to watchers that wait for the end of the transaction")
    func rollback() {
        let watch = Watch()
        let concerned = watch.state.add(DatabaseRegion(table: "a"))
        let waiting = watch.state.add(DatabaseRegion(table: "b"))
        _ = watch.change("a", for: [concerned])
        watch.state.waitForEnd(waiting)
        #expect(watch.end(rolledBack: true) == [waiting])
        #expect(watch.end().isEmpty)
    }

    @Test("removed watchers are not notified, and their regions are forgotten")
    func removal() {
        let watch = Watch()
        let id = watch.state.add(DatabaseRegion(table: "a"))
        _ = watch.change("a", for: [id])
        watch.state.remove(id)
        #expect(watch.state.count == 0)
        #expect(watch.end().isEmpty)
        #expect(watch.state.watchers(of: update("a")).isEmpty)
    }

    @Test("an unchanged region means that nothing was missed, regardless of other commits")
    func sameRegion() {
        let watch = Watch()
        let id = watch.state.add(DatabaseRegion(table: "a"))
        #expect(!watch.read("a", of: id, since: quiet, now: .init(transactionCount: 3, isWriting: true)))
        #expect(watch.end().isEmpty)
    }

    @Test("a new region may have missed commits, and changes of the open transaction")
    func newRegion() {
        let watch = Watch()
        let id = watch.state.add(nil)
        #expect(watch.state.watchers(of: update("a")).isEmpty)
        #expect(!watch.read("a", of: id, since: quiet, now: quiet))
        #expect(watch.end().isEmpty)
        #expect(watch.read("b", of: id, since: quiet, now: .init(transactionCount: 1)))
        #expect(watch.end().isEmpty)
        #expect(!watch.read("c", of: id, since: quiet, now: .init(isWriting: true)))
        #expect(watch.end() == [id])
        #expect(!watch.read("d", of: id, since: nil, now: .init(transactionCount: 7)))
        #expect(
            watch.state.watchers(of: update("a")).isEmpty && watch.state.watchers(of: update("d")) == [id])
    }
}
