import Coffer

struct SourceError: Error, Equatable {}

/// A cursor over an array that counts its requests and can fail after the last element.
final class RecordingCursor<Element>: Cursor {
    private(set) var requestCount = 0
    private var elements: ArraySlice<Element>
    private let failsAtEnd: Bool

    init(_ elements: [Element], failsAtEnd: Bool = false) {
        self.elements = elements[...]
        self.failsAtEnd = failsAtEnd
    }

    func next() throws -> Element? {
        requestCount += 1
        if let element = elements.popFirst() { return element }
        if failsAtEnd { throw SourceError() }
        return nil
    }
}

/// Reads a cursor to its end with `next()` and checks that it stays there.
func drain<Element>(_ cursor: some Cursor<Element>) throws -> [Element] {
    var result: [Element] = []
    while let element = try cursor.next() { result.append(element) }
    for _ in 0..<2 {
        guard try cursor.next() == nil else { throw CameBackToLife() }
    }
    return result
}

struct CameBackToLife: Error {}
