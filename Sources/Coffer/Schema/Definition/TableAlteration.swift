/// Changes of an existing table: see ``Database/alter(table:body:)``.
///
///     try db.alter(table: "item") { item in
///         item.rename(column: "note", to: "details")
///         item.drop(column: "shelf")
///         item.add(column: "sealed", .boolean).notNull().defaults(to: false)
///     }
///
/// SQLite restricts the columns that can be added and dropped: <https://www.sqlite.org/lang_altertable.html>.
public final class TableAlteration {
    enum Step {
        case add(ColumnDefinition)
        case addLiteral(SQL)
        case rename(String, to: String)
        case drop(String)
    }

    let name: String
    private(set) var steps: [Step] = []

    init(name: String) {
        self.name = name
    }

    /// Adds a column.
    ///
    /// It cannot be a primary key or unique. If the table has rows, a `NOT NULL` column needs a default
    /// value.
    ///
    /// - Parameter type: nil declares no type, so that SQLite does not convert the values.
    @discardableResult
    public func add(column name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        steps.append(.add(column))
        return column
    }

    /// Adds a column defined by SQL, such as `"bonus INTEGER"`.
    public func addColumn(sql: String) {
        steps.append(.addLiteral(SQL(sql: sql)))
    }

    /// Adds a column defined by an SQL literal, such as `"name TEXT DEFAULT \(defaultName)"`.
    public func addColumn(literal: SQL) {
        steps.append(.addLiteral(literal))
    }

    /// Renames a column, and updates the indexes, triggers, and views that refer to it.
    public func rename(column name: String, to newName: String) {
        steps.append(.rename(name, to: newName))
    }

    /// Drops a column, which must not be part of a key or an index.
    public func drop(column name: String) {
        steps.append(.drop(name))
    }
}

@available(*, unavailable)
extension TableAlteration: Sendable {}
