internal import Coffer

/// The columns that rows of an input are stored in, and the statement that stores them.
final class ImportTarget {
    private let names: [String]?
    private let count: Int
    /// The columns of the values, or nil if the input does not name them.
    private let columns: [ImportColumn]?
    /// The columns of a created table's primary key, and their places among the values.
    private let key: [(name: String, index: Int?)]
    private let sql: String
    private var statement: Statement?

    init(_ names: [String]?, _ count: Int, columns: [ImportColumn]?, key: [String], sql: String) {
        self.names = names
        self.count = count
        self.columns = columns
        self.sql = sql
        let known = (names ?? []).map(CaseInsensitiveName.init)
        self.key = key.map { ($0, known.firstIndex(of: CaseInsensitiveName($0))) }
    }

    /// Returns true if this is the target of rows with these columns.
    func takes(_ names: [String]?, _ count: Int) -> Bool {
        guard self.count == count else { return false }
        guard let own = self.names, let names else { return self.names == nil && names == nil }
        return own.hasSameBytes(as: names)
    }

    /// Returns the values to store.
    func stored(_ values: [ImportValue]) throws(ImportRefusal) -> [DatabaseValue] {
        var stored: [DatabaseValue] = []
        stored.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            stored.append(try (columns?[index] ?? .found(.other)).stored(value))
        }
        // SQLite would store a new row ID for NULL.
        for (name, index) in key {
            guard let index, !stored[index].isNull else {
                throw ImportRefusal("the column '\(name)' of the key takes no NULL")
            }
        }
        return stored
    }

    /// Returns the statement. Inputs whose rows alternate between columns find it in the cache.
    func statement(_ db: Database) throws -> Statement {
        if let statement { return statement }
        let statement = try db.cachedStatement(sql: sql)
        self.statement = statement
        return statement
    }
}

extension [String] {
    /// Returns true if both have the same names, byte by byte: `==` takes a composed and a decomposed letter
    /// as equal, and SQLite does not. It is called for each row, and the rows of CSV share one array.
    fileprivate func hasSameBytes(as other: [String]) -> Bool {
        let isSameArray = unsafe withUnsafeBufferPointer { own in
            unsafe other.withUnsafeBufferPointer { unsafe $0.baseAddress == own.baseAddress }
        }
        return count == other.count
            && (isSameArray || zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) })
    }
}
