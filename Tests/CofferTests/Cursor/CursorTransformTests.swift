import Coffer
import Testing

@Suite("Cursors of transformed elements")
struct CursorTransformTests {
    @Test("AnyCursor wraps a function, a cursor, an iterator and a sequence")
    func anyCursor() throws {
        var rest = [1, 2, 3][...]
        #expect(try drain(AnyCursor { rest.popFirst() }) == [1, 2, 3])
        #expect(try drain(AnyCursor(RecordingCursor([1, 2]))) == [1, 2])
        #expect(try drain(AnyCursor(iterator: (1...3).makeIterator())) == [1, 2, 3])
        #expect(try drain(AnyCursor(Set([7]))) == [7])
        #expect(try drain(AnyCursor([Int]())) == [])
    }

    @Test("AnyCursor distinguishes nil elements from the end")
    func anyCursorOfOptionals() throws {
        #expect(try drain(AnyCursor([1, nil, 3] as [Int?])) == [1, nil, 3])
    }

    @Test("map transforms lazily, by next and by forEach")
    func map() throws {
        let base = RecordingCursor([1, 2, 3])
        let cursor = base.map { $0 * 10 }
        #expect(base.requestCount == 0)
        #expect(try cursor.next() == 10)
        #expect(base.requestCount == 1)
        var seen: [Int] = []
        try cursor.forEach { seen.append($0) }
        #expect(seen == [20, 30])
        #expect(try drain(AnyCursor([1, 2]).map { "\($0)" }) == ["1", "2"])
    }

    @Test("filter keeps the elements that satisfy the predicate, by next and by forEach")
    func filter() throws {
        #expect(try drain(AnyCursor(1...6).filter { $0.isMultiple(of: 2) }) == [2, 4, 6])
        #expect(try Array(AnyCursor(1...6).filter { $0.isMultiple(of: 2) }) == [2, 4, 6])
        #expect(try drain(AnyCursor([1, 3]).filter { $0 > 5 }) == [])
    }

    @Test("compactMap drops nil results and unwraps the others")
    func compactMap() throws {
        let cursor: MapCursor<FilterCursor<MapCursor<AnyCursor<String>, Int?>>, Int> =
            AnyCursor(["1", "foo", "3"]).compactMap { Int($0) }
        #expect(try drain(cursor) == [1, 3])
        #expect(try drain(AnyCursor([1, nil] as [Int?]).compactMap { $0 }) == [1])
    }

    @Test("enumerated counts from zero")
    func enumerated() throws {
        let pairs = try drain(AnyCursor(["a", "b"]).enumerated())
        #expect(pairs.map(\.0) == [0, 1])
        #expect(pairs.map(\.1) == ["a", "b"])
    }

    @Test("flatMap flattens sequences and cursors, empty ones too")
    func flatMap() throws {
        let sequences: FlattenCursor<MapCursor<AnyCursor<Int>, AnyCursor<Int>>> =
            AnyCursor([0, 2, 0, 1]).flatMap { Array(repeating: $0, count: $0) }
        #expect(try drain(sequences) == [2, 2, 1])

        let cursors: FlattenCursor<MapCursor<AnyCursor<Int>, RecordingCursor<Int>>> =
            AnyCursor([0, 2, 0, 1]).flatMap { RecordingCursor(Array(repeating: $0, count: $0)) }
        #expect(try drain(cursors) == [2, 2, 1])
    }

    @Test("a sequence flattens the cursors that it is mapped to")
    func sequenceFlatMap() throws {
        let cursor: FlattenCursor<MapCursor<AnyCursor<Int>, RecordingCursor<Int>>> =
            [1, 2].flatMap { RecordingCursor([$0, $0 * 10]) }
        #expect(try drain(cursor) == [1, 10, 2, 20])
    }

    @Test("joined flattens a cursor of cursors and a cursor of sequences")
    func joined() throws {
        #expect(
            try drain(
                AnyCursor([RecordingCursor([1]), RecordingCursor([]), RecordingCursor([2, 3])]).joined()) == [
                    1, 2, 3,
                ])
        #expect(try drain(AnyCursor([[1], [], [2, 3]]).joined()) == [1, 2, 3])
    }

    @Test("an error of the source passes through every transform, after the elements before it")
    func errorsOfTheSource() throws {
        func check(_ name: String, _ cursor: some Cursor) throws {
            #expect(try cursor.next() != nil, "\(name)")
            #expect(throws: SourceError.self, "\(name)") { try cursor.next() }
        }
        let source = { RecordingCursor([1], failsAtEnd: true) }
        try check("any", AnyCursor(source()))
        try check("map", source().map { $0 })
        try check("filter", source().filter { _ in true })
        try check("compactMap", source().compactMap { $0 })
        try check("enumerated", source().enumerated())
        try check("flatMap", source().flatMap { [$0] })
        try check("inner cursor", AnyCursor([1]).flatMap { _ in source() })
        try check("drop(while:)", source().drop { _ in false })
        try check("dropFirst", source().dropFirst(0))
        try check("prefix", source().prefix(2))
        try check("prefix(while:)", source().prefix { _ in true })
    }

    @Test("an error of a closure loses one element, and iteration can continue")
    func errorsOfClosures() throws {
        let failingAtOne: (Int) throws -> Bool = { if $0 == 1 { throw SourceError() } else { true } }
        func check(_ name: String, _ cursor: some Cursor) throws {
            #expect(throws: SourceError.self, "\(name)") { try cursor.next() }
            #expect(try cursor.next() != nil, "\(name)")
            #expect(try cursor.next() == nil, "\(name)")
        }
        try check("map", AnyCursor([1, 2]).map { try failingAtOne($0) })
        try check("filter", AnyCursor([1, 2]).filter { try failingAtOne($0) })
        try check("drop(while:)", AnyCursor([1, 2]).drop { try !failingAtOne($0) })
        try check("prefix(while:)", AnyCursor([1, 2]).prefix { try failingAtOne($0) })
        try check("flatMap", AnyCursor([1, 2]).flatMap { [try failingAtOne($0)] })
    }
}
