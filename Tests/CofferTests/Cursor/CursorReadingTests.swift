import Coffer
import Testing

@Suite("Reading cursors into values and collections")
struct CursorReadingTests {
    @Test("contains and first stop at the element that they look for")
    func searching() throws {
        let base = RecordingCursor([1, 2, 3])
        #expect(try base.contains(2))
        #expect(base.requestCount == 2)
        #expect(try !AnyCursor([1, 2]).contains(3))
        #expect(try AnyCursor([1, 2]).contains { $0 > 1 })
        #expect(try !AnyCursor([1, 2]).contains { $0 > 2 })
        #expect(try AnyCursor([1, 2, 3]).first { $0 > 1 } == 2)
        #expect(try AnyCursor([1]).first { $0 > 1 } == nil)
    }

    @Test("isEmpty consumes the element that it finds")
    func isEmpty() throws {
        let base = RecordingCursor([1, 2])
        #expect(try !base.isEmpty)
        #expect(try base.next() == 2)
        #expect(try base.isEmpty)
    }

    @Test("isEmpty is false where the only element is nil")
    func isEmptyOfOptionals() throws {
        #expect(try !AnyCursor([nil] as [Int?]).isEmpty)
    }

    @Test("min and max compare as Swift's sequences do, ties included")
    func extremes() throws {
        let words = ["bb", "a", "cc", "d", "ee"]
        #expect(try AnyCursor(words).max() == "ee")
        #expect(try AnyCursor(words).min() == "a")
        #expect(try AnyCursor(words).max { $0.count < $1.count } == words.max { $0.count < $1.count })
        #expect(try AnyCursor(words).min { $0.count < $1.count } == words.min { $0.count < $1.count })
        #expect(try AnyCursor([Int]()).max() == nil)
        #expect(try AnyCursor([Int]()).min() == nil)
    }

    @Test("reduce combines the elements")
    func reduce() throws {
        #expect(try AnyCursor(1...4).reduce(10) { $0 - $1 } == 0)
        #expect(try AnyCursor(1...3).reduce(into: [Int]()) { $0.append($1) } == [1, 2, 3])
    }

    @Test("joined concatenates strings and substrings")
    func joined() throws {
        #expect(try AnyCursor(["a", "b", ""]).joined() == "ab")
        #expect(try AnyCursor(["a", "", "b"]).joined(separator: ", ") == "a, , b")
        #expect(try AnyCursor("x y".split(separator: " ")).joined(separator: "-") == "x-y")
        #expect(try AnyCursor([String]()).joined(separator: "-") == "")
    }

    @Test("forEach stops at the first error")
    func forEach() {
        var seen: [Int] = []
        #expect(throws: SourceError.self) {
            try RecordingCursor([1, 2], failsAtEnd: true).forEach { seen.append($0) }
        }
        #expect(seen == [1, 2])
        let base = RecordingCursor([1, 2])
        #expect(throws: SourceError.self) { try base.forEach { _ in throw SourceError() } }
        #expect(base.requestCount == 1)
    }

    @Test("arrays and other collections take the elements of a cursor")
    func collections() throws {
        #expect(try Array(AnyCursor([1, 2])) == [1, 2])
        let roomy = try Array(AnyCursor([1, 2]), minimumCapacity: 100)
        #expect(roomy == [1, 2])
        #expect(roomy.capacity >= 100)
        #expect(try String(AnyCursor("abc".reversed())) == "cba")
        #expect(try ContiguousArray(AnyCursor([1, 2]), minimumCapacity: 2) == [1, 2])
        var array = [0]
        try array.append(contentsOf: AnyCursor([1, 2]))
        #expect(array == [0, 1, 2])
    }

    @Test("elements appended before an error stay in the collection")
    func failedAppend() {
        var array = [0]
        #expect(throws: SourceError.self) {
            try array.append(contentsOf: RecordingCursor([1, 2], failsAtEnd: true))
        }
        #expect(array == [0, 1, 2])
    }

    @Test("sets are built from, united with and intersected with cursors")
    func sets() throws {
        #expect(try Set(AnyCursor([1, 2, 1])) == [1, 2])
        let roomy = try Set(AnyCursor([1, 2]), minimumCapacity: 100)
        #expect(roomy == [1, 2])
        #expect(roomy.capacity >= 100)
        var set: Set = [1, 2]
        #expect(try set.union(AnyCursor([2, 3])) == [1, 2, 3])
        #expect(try set.intersection(AnyCursor([2, 3, 2])) == [2])
        #expect(set == [1, 2])
        try set.formUnion(AnyCursor([3]))
        #expect(set == [1, 2, 3])
        try set.formIntersection(AnyCursor([3, 4, 1]))
        #expect(set == [1, 3])
        #expect(throws: SourceError.self) { try set.formIntersection(RecordingCursor([1], failsAtEnd: true)) }
        #expect(set == [1, 3])
    }

    @Test("dictionaries group the elements of a cursor in their order")
    func grouping() throws {
        let words = ["one", "two", "three", "four"]
        #expect(
            try Dictionary(grouping: AnyCursor(words), by: \.count)
                == Dictionary(grouping: words, by: \.count))
        let roomy = try Dictionary(minimumCapacity: 100, grouping: AnyCursor(words), by: \.count)
        #expect(roomy == Dictionary(grouping: words, by: \.count))
        #expect(roomy.capacity >= 100)
    }

    @Test("dictionaries take the pairs of a cursor")
    func pairs() throws {
        #expect(
            try Dictionary(uniqueKeysWithValues: AnyCursor(["a", "b"]).map { ($0, $0 + $0) }) == [
                "a": "aa", "b": "bb",
            ])
        let roomy = try Dictionary(minimumCapacity: 100, uniqueKeysWithValues: AnyCursor([(1, 2)]))
        #expect(roomy == [1: 2])
        #expect(roomy.capacity >= 100)
        #expect(throws: SourceError.self) {
            try Dictionary(uniqueKeysWithValues: RecordingCursor([(1, 2)], failsAtEnd: true))
        }
    }

    @Test("a duplicate key traps")
    func duplicateKey() async {
        await #expect(processExitsWith: .failure) {
            _ = try Dictionary(uniqueKeysWithValues: AnyCursor([(1, "a"), (1, "b")]))
        }
    }
}
