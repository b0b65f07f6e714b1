/// The pages of a database that are stored.
///
/// In a file that was cut off, the pages after its end are missing, unless a log has them. The size of the
/// database that a log or a journal claims does not make a page present.
struct PresentPages {
    /// All pages up to this number are present.
    private let leadingCount: Int
    /// The present pages after those, in order.
    private let others: [Int]

    /// Creates a set of all pages up to `pageCount`.
    init(upTo pageCount: Int) {
        leadingCount = pageCount
        others = []
    }

    /// - Parameters:
    ///   - pageCount: the claimed size of the database.
    ///   - countInFile: the number of whole pages in the file.
    ///   - overlaid: the pages that a log or a journal has.
    init(upTo pageCount: Int, countInFile: Int, overlaid: some Sequence<Int>) {
        let count = min(pageCount, countInFile)
        let behind = overlaid.filter { $0 > count && $0 <= pageCount }.sorted()
        let adjoining = behind.enumerated().prefix { $0.element == count + 1 + $0.offset }.count
        leadingCount = count + adjoining
        others = Array(behind.dropFirst(adjoining))
    }

    var count: Int { leadingCount + others.count }

    /// The page numbers, in order.
    var numbers: some Sequence<Int> { (0..<count).lazy.map(number(at:)) }

    /// Returns the number of the page at an index, counted from 0.
    func number(at index: Int) -> Int {
        index < leadingCount ? index + 1 : others[index - leadingCount]
    }

    /// Returns the index of a page, counted from 0; nil if the page is missing.
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

    /// Returns all present pages, as ranges of consecutive pages.
    ///
    /// - Parameter most: the maximum number of pages in a range, at least 1.
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
