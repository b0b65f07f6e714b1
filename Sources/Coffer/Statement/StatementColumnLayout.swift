/// The names of a statement's result columns, and the fast way from a name to a position.
///
/// Rows are mostly read from left to right, so that a look-up first compares with the column after the one
/// found last.
@usableFromInline
final class StatementColumnLayout {
    @usableFromInline let names: [String]

    /// Whether the first column of that name is the only one: only then may a look-up start in the middle.
    @usableFromInline let hasUniqueNames: Bool

    /// Where the next look-up starts.
    ///
    /// Without the check for overlapping accesses, which costs as much as the rest of a look-up: each access
    /// is a load or a store of a whole word, with nothing in between.
    @exclusivity(unchecked) @usableFromInline var expectedIndex = 0

    private let lowercasedIndexes: [String: Int]

    /// What an adapter for rows with these columns has become, for the next cursor over them.
    var layoutedAdapter: AnyObject?

    /// The layouts of some of the columns.
    private var partialLayouts: [(first: Int, layout: StatementColumnLayout)] = []

    init(names: [String]) {
        self.names = names
        self.lowercasedIndexes = Dictionary(
            names.enumerated().map { ($1.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        self.hasUniqueNames = lowercasedIndexes.count == names.count
    }

    /// The position of the first column with this name, compared without case.
    @inlinable
    func index(ofColumn name: String) -> Int? {
        let expected = unsafe expectedIndex
        if hasUniqueNames, expected < names.count, names[expected] == name {
            unsafe expectedIndex = expected + 1 == names.count ? 0 : expected + 1
            return expected
        }
        return searchIndex(ofColumn: name)
    }

    @usableFromInline
    func searchIndex(ofColumn name: String) -> Int? {
        guard let index = searchIndexWithoutHint(ofColumn: name) else { return nil }
        unsafe expectedIndex = index + 1 == names.count ? 0 : index + 1
        return index
    }

    /// The layout of columns that follow each other, which rows of their own show under these names.
    func partialLayout(named names: [String], from first: Int) -> StatementColumnLayout {
        if let known = partialLayouts.first(where: { $0.first == first && $0.layout.names == names }) {
            return known.layout
        }
        let layout = StatementColumnLayout(names: names)
        // Adapters that rename columns could be different each time.
        if partialLayouts.count < 64 { partialLayouts.append((first, layout)) }
        return layout
    }

    /// The same, without a trace: for rows that outlive their access and may be read by several threads.
    func searchIndexWithoutHint(ofColumn name: String) -> Int? {
        if hasUniqueNames, let index = names.firstIndex(of: name) { return index }
        return lowercasedIndexes[name.lowercased()]
    }
}
