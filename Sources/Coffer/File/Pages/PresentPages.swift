/// Which pages of a database are stored: of a file that was cut off, those behind its end are not, but for
/// those that a log has. What a log or a journal claims of the size of the database is no part of it.
struct PresentPages {
    /// All pages up to this one are there.
    private let leadingCount: Int
    /// The others that are there, in order.
    private let others: [Int]

    /// All pages up to one.
    init(upTo pageCount: Int) {
        leadingCount = pageCount
        others = []
    }

    /// - Parameters:
    ///   - pageCount: the size that the database is said to have.
    ///   - countInFile: how many whole pages the file has.
    ///   - overlaid: the pages that a log or a journal has.
    init(upTo pageCount: Int, countInFile: Int, overlaid: some Sequence<Int>) {
        let count = min(pageCount, countInFile)
        let behind = overlaid.filter { $0 > count && $0 <= pageCount }.sorted()
        let adjoining = behind.enumerated().prefix { $0.element == count + 1 + $0.offset }.count
        leadingCount = count + adjoining
        others = Array(behind.dropFirst(adjoining))
    }

    var count: Int { leadingCount + others.count }

    /// In order.
    var numbers: some Sequence<Int> { (0..<count).lazy.map(number(at:)) }

    /// The number of one of the pages, which are counted from 0.
    func number(at index: Int) -> Int {
        index < leadingCount ? index + 1 : others[index - leadingCount]
    }

    /// Which of the pages has a number, counted from 0; nil for one that is not there.
    func index(of number: Int) -> Int? {
        guard number > leadingCount else { return number >= 1 ? number - 1 : nil }
        var range = others.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if others[middle] == number { return leadingCount + middle }
            range =
                others[middle] < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    func contains(_ number: Int) -> Bool { index(of: number) != nil }

    /// All of them, in parts of pages that follow each other.
    ///
    /// - Parameter most: how many pages a part has at most, from 1.
    func parts(of most: Int) -> some Sequence<Range<Int>> {
        sequence(state: 0) { index in
            guard index < count else { return nil }
            let first = number(at: index)
            var end = index + 1
            if index < leadingCount {
                end = min(index + most, leadingCount)
            } else {
                while end < count, end - index < most, number(at: end) == first + end - index { end += 1 }
            }
            defer { index = end }
            return first..<first + end - index
        }
    }
}
