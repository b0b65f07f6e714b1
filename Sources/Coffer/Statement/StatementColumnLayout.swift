/// The names of a statement's result columns, with fast lookup by name.
///
/// Rows are usually read from left to right, so a lookup first checks the column after the last one found.
@usableFromInline
final class StatementColumnLayout {
    @usableFromInline let names: [String]

    /// True if all names are distinct. Only then may a lookup start in the middle.
    @usableFromInline let hasUniqueNames: Bool

    /// The index at which the next lookup starts.
    ///
    /// Exclusivity checking is disabled, because it costs as much as the rest of a lookup. Each access is a
    /// load or a store of a whole word, so accesses cannot overlap.
    @exclusivity(unchecked) @usableFromInline var expectedIndex = 0

    private let indexes: ColumnNameIndex

    /// The resolved adapter for rows with these columns, reused by the next cursor.
    var layoutedAdapter: AnyObject?

    /// The layouts of ranges of the columns.
    private var partialLayouts: [(first: Int, layout: StatementColumnLayout)] = []

    init(names: [String]) {
        self.names = names
        self.indexes = ColumnNameIndex(names)
        self.hasUniqueNames = indexes.hasUniqueNames
    }

    /// Returns the position of the first column with this name, compared without case.
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

    /// Returns the layout of consecutive columns, shown under these names by rows of their own.
    func partialLayout(named names: [String], from first: Int) -> StatementColumnLayout {
        if let known = partialLayouts.first(where: { $0.first == first && $0.layout.names == names }) {
            return known.layout
        }
        let layout = StatementColumnLayout(names: names)
        // The number is limited because adapters that rename columns could differ each time.
        if partialLayouts.count < 64 { partialLayouts.append((first, layout)) }
        return layout
    }

    /// Returns the same position without changing any state, for rows that outlive their access and may be
    /// read by several threads.
    func searchIndexWithoutHint(ofColumn name: String) -> Int? { indexes[name] }
}
