import Coffer
import Testing

@Suite("Beginnings and ends of cursors")
struct CursorSliceTests {
    @Test("prefix stops at its length without asking for more", arguments: 0...4)
    func prefix(length: Int) throws {
        let base = RecordingCursor([1, 2, 3])
        #expect(try drain(base.prefix(length)) == Array([1, 2, 3].prefix(length)))
        #expect(base.requestCount == length)
    }

    @Test("prefix(while:) ends at the first element that does not fit, and does not resume")
    func prefixWhile() throws {
        #expect(try drain(AnyCursor([1, 2, 5, 1]).prefix { $0 < 3 }) == [1, 2])
        #expect(try drain(AnyCursor([1, 2]).prefix { $0 < 3 }) == [1, 2])
        #expect(try drain(AnyCursor([5]).prefix { $0 < 3 }) == [])
    }

    @Test("dropFirst skips elements", arguments: 0...4)
    func dropFirst(count: Int) throws {
        #expect(try drain(AnyCursor([1, 2, 3]).dropFirst(count)) == Array([1, 2, 3].dropFirst(count)))
    }

    @Test("dropFirst skips one element by default")
    func dropOne() throws {
        #expect(try drain(AnyCursor([1, 2, 3]).dropFirst()) == [2, 3])
        #expect(try AnyCursor([1, 2, 3]).dropLast() == [1, 2])
        #expect(try AnyCursor([Int]()).dropLast() == [])
    }

    @Test("drop(while:) only skips at the beginning")
    func dropWhile() throws {
        #expect(try drain(AnyCursor([1, 2, 5, 1]).drop { $0 < 3 }) == [5, 1])
        #expect(try drain(AnyCursor([1, 2]).drop { $0 < 3 }) == [])
    }

    @Test("dropLast and suffix split a cursor at the end", arguments: 0...6)
    func ends(count: Int) throws {
        let elements = [1, 2, 3, 4, 5]
        #expect(try AnyCursor(elements).dropLast(count) == Array(elements.dropLast(count)))
        #expect(try AnyCursor(elements).suffix(count) == Array(elements.suffix(count)))
    }

    @Test("dropLast and suffix throw the error of the source")
    func errors() {
        #expect(throws: SourceError.self) { try RecordingCursor([1, 2], failsAtEnd: true).dropLast() }
        #expect(throws: SourceError.self) { try RecordingCursor([1, 2], failsAtEnd: true).suffix(1) }
    }

    @Test("a negative prefix traps")
    func negativePrefix() async {
        await #expect(processExitsWith: .failure) { _ = AnyCursor([1]).prefix(-1) }
    }

    @Test("a negative dropFirst traps")
    func negativeDropFirst() async {
        await #expect(processExitsWith: .failure) { _ = AnyCursor([1]).dropFirst(-1) }
    }

    @Test("a negative dropLast traps")
    func negativeDropLast() async {
        await #expect(processExitsWith: .failure) { _ = try AnyCursor([1]).dropLast(-1) }
    }

    @Test("a negative suffix traps")
    func negativeSuffix() async {
        await #expect(processExitsWith: .failure) { _ = try AnyCursor([1]).suffix(-1) }
    }
}
