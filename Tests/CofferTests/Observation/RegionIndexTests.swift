import CofferTestSupport
import Testing

@testable import Coffer

@Suite("RegionIndex")
struct RegionIndexTests {
    private func update(_ table: String, _ columns: Set<String>) -> DatabaseEventKind {
        .update(tableName: table, columnNames: columns)
    }

    @Test(
        "inserts and deletes concern all watchers of the table, updates only the watchers of one of the columns"
    )
    func candidates() {
        var index = RegionIndex()
        index.insert(DatabaseRegion(table: "a", columns: ["x"]), of: 1)
        index.insert(DatabaseRegion(table: "A", columns: ["Y"]), of: 2)
        index.insert(DatabaseRegion(table: "b"), of: 3)
        #expect(index.candidates(for: .insert(tableName: "a")) == [1, 2])
        #expect(index.candidates(for: .delete(tableName: "B")) == [3])
        #expect(index.candidates(for: update("a", ["z"])).isEmpty)
        #expect(index.candidates(for: update("a", ["z", "X"])) == [1, 2])
        #expect(index.candidates(for: update("b", ["z"])) == [3])
        #expect(index.candidates(for: .insert(tableName: "c")).isEmpty)
        index.insert(.fullDatabase, of: 4)
        #expect(index.candidates(for: .insert(tableName: "c")) == [4])
        #expect(index.candidates(for: update("b", ["z"])) == [3, 4])
    }

    @Test("removed watches are forgotten, and the others stay")
    func removal() {
        var index = RegionIndex()
        let region = DatabaseRegion(table: "a", columns: ["x"]).union(DatabaseRegion(table: "b"))
        index.insert(region, of: 1)
        index.insert(region, of: 2)
        index.insert(.fullDatabase, of: 3)
        index.remove(region, of: 1)
        index.remove(.fullDatabase, of: 3)
        #expect(index.candidates(for: update("a", ["x"])) == [2])
        #expect(index.candidates(for: .insert(tableName: "b")) == [2])
        index.remove(region, of: 2)
        #expect(index.candidates(for: .insert(tableName: "a")).isEmpty)
        #expect(index.candidates(for: update("b", ["x"])).isEmpty)

        // After a column is no longer watched, watchers of other columns are not candidates for it.
        index.insert(DatabaseRegion(table: "a", columns: ["x"]), of: 4)
        index.insert(DatabaseRegion(table: "a", columns: ["y"]), of: 5)
        index.insert(DatabaseRegion(table: "a"), of: 6)
        index.remove(DatabaseRegion(table: "a"), of: 6)
        #expect(index.candidates(for: update("a", ["x"])) == [4, 5])
        index.remove(DatabaseRegion(table: "a", columns: ["x"]), of: 4)
        #expect(index.candidates(for: update("a", ["x"])).isEmpty)
    }

    @Test("after any additions and removals, the index finds the same watchers as a scan of all of them")
    func random() {
        var random = SeededRandom("region index")
        let names = ["a", "B", "c"]
        func region() -> DatabaseRegion {
            (0...Int.random(in: 0...2, using: &random)).reduce(into: DatabaseRegion()) { region, _ in
                let table = names[Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<12, using: &random) {
                case 0: region.formUnion(.fullDatabase)
                case 1...3: region.formUnion(DatabaseRegion(table: table))
                case 4...5: region.formUnion(DatabaseRegion(table: table, rowIds: [1]))
                default:
                    region.formUnion(
                        DatabaseRegion(
                            table: table, columns: [["x", "Y", "z"][Int.random(in: 0..<3, using: &random)]]))
                }
            }
        }
        var state = RegionWatchState()
        var regions: [RegionWatchState.ID: DatabaseRegion?] = [:]
        for _ in 0..<3_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let region = Bool.random(using: &random) ? region() : nil
                regions[state.add(region)] = region
            case 1:
                if let id = regions.keys.sorted().randomElement(using: &random) {
                    let region = region()
                    _ = state.setRegion(region, of: id, readSince: nil, now: WriteClock.Time())
                    regions[id] = region
                }
            case 2 where regions.count > 5:
                if let id = regions.keys.sorted().randomElement(using: &random) {
                    state.remove(id)
                    regions[id] = nil
                }
            default: break
            }
            for table in ["A", "b", "c", "d"] {
                for kind in [
                    .insert(tableName: table), .delete(tableName: table), update(table, ["X"]),
                    update(table, ["y", "z"]),
                ] {
                    let expected = regions.filter { $0.value?.isModified(byEventsOfKind: kind) == true }.keys
                        .sorted()
                    #expect(state.watchers(of: kind) == expected)
                }
            }
        }
    }
}
