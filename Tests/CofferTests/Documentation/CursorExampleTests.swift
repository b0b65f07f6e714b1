import Coffer
import Testing

/// The documentation's examples of cursors. `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of cursors")
struct CursorExampleTests {
    typealias Item = Vault.Item

    private let queue: DatabaseQueue
    private let wanted: Set = ["ring", "lantern"]

    init() throws {
        queue = try Vault.open()
    }

    @Test("reducing a cursor to one value")
    func reducing() throws {
        try queue.read { db in
            let worth = try Int.fetchCursor(db, Item.select(\.worth)).reduce(0, +)
            #expect(worth == 9402)
            // ring, safe, candle
            let list = try String.fetchCursor(db, Item.select(\.name)).joined(separator: ", ")
            #expect(list == "ring, safe, candle")
            let isHeavy = try Int.fetchCursor(db, Item.select(\.weight)).contains { $0 > 20_000 }
            #expect(isHeavy)
            let heavy = try Item.fetchCursor(db).first { $0.weight > 20_000 }
            #expect(heavy?.name == "safe")
            let dearest = try Item.fetchCursor(db).max { $0.worth < $1.worth }
            #expect(dearest?.name == "ring")
            let lightest = try Item.fetchCursor(db).min { $0.weight < $1.weight }
            #expect(lightest?.name == "ring")
        }
    }

    @Test("skipping and limiting elements")
    func slicing() throws {
        try queue.read { db in
            do {
                let others = try Array(Item.fetchCursor(db).drop { $0.name == "ring" })
                #expect(others.map(\.name) == ["safe", "candle"])
            }
            do {
                let others = try Array(Item.fetchCursor(db).dropFirst())
                #expect(others.count == 2)
            }
            let two = try Array(Item.fetchCursor(db).prefix(2))  // does not read a third row
            #expect(two.map(\.name) == ["ring", "safe"])
            let others = try Item.fetchCursor(db).dropLast()
            #expect(others.map(\.name) == ["ring", "safe"])
            let newest = try Item.fetchCursor(db).suffix(2)
            #expect(newest.map(\.name) == ["safe", "candle"])
        }
    }

    @Test("transforming and filtering elements")
    func transforming() throws {
        var printed: [String] = []
        func print(_ name: String) { printed.append(name) }
        func print(_ number: Int, _ name: String) { printed.append("\(number) \(name)") }
        try queue.read { db in
            do {
                let names = try Array(Item.fetchCursor(db).map { $0.name.uppercased() })
                #expect(names == ["RING", "SAFE", "CANDLE"])
            }
            let cheap = try Array(Item.fetchCursor(db).filter { $0.worth < 10 })
            #expect(cheap.map(\.name) == ["candle"])
            let details = try Array(Item.fetchCursor(db).compactMap { $0.details })
            #expect(details.isEmpty)
            try Item.fetchCursor(db).enumerated().forEach { number, item in
                print(number + 1, item.name)
            }
            let words = try Array(Item.fetchCursor(db).flatMap { $0.name.split(separator: " ") })
            #expect(words == ["ring", "safe", "candle"])
            try Item.fetchCursor(db).forEach { item in print(item.name) }
            let items = try Item.fetchCursor(db)
            while let item = try items.next() {
                print(item.name)
            }
            let names = AnyCursor(try Item.fetchCursor(db).map { $0.name })
            #expect(try names.next() == "ring")
        }
        #expect(
            printed == ["1 ring", "2 safe", "3 candle", "ring", "safe", "candle", "ring", "safe", "candle"])
    }

    @Test("collections of the elements")
    func collections() throws {
        try queue.read { db in
            let byOwner = try Dictionary(grouping: Item.fetchCursor(db), by: { $0.ownerId })
            #expect(byOwner.mapValues(\.count) == [7: 3])
            do {
                let names = try Dictionary(
                    uniqueKeysWithValues: Item.fetchCursor(db).map { ($0.id, $0.name) })
                #expect(names == [1: "ring", 2: "safe", 3: "candle"])
            }
            let items = try Array(Item.fetchCursor(db))
            #expect(items.count == 3)
            do {
                var names = ["lantern"]
                try names.append(contentsOf: String.fetchCursor(db, Item.select(\.name)))
                #expect(names == ["lantern", "ring", "safe", "candle"])
            }
            let names = try Set(String.fetchCursor(db, Item.select(\.name)))
            #expect(names == ["ring", "safe", "candle"])
            do {
                let all = try wanted.union(String.fetchCursor(db, Item.select(\.name)))
                #expect(all.count == 4)
            }
            var all = wanted
            try all.formUnion(String.fetchCursor(db, Item.select(\.name)))
            #expect(all.count == 4)
            do {
                let there = try wanted.intersection(String.fetchCursor(db, Item.select(\.name)))
                #expect(there == ["ring"])
            }
            var there = wanted
            try there.formIntersection(String.fetchCursor(db, Item.select(\.name)))
            #expect(there == ["ring"])
        }
    }
}
