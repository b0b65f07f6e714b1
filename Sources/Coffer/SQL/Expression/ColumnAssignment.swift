/// A new value for a column, in batch updates and upserts: `column = expression`.
public struct ColumnAssignment: Sendable {
    let columnName: String

    /// The new value, or nil to keep the value that the column has.
    let value: SQLExpression?

    /// Writes the assignment, which must have a value. The column belongs to the changed table, and is never
    /// qualified.
    func write(to writer: inout SQLWriter) throws {
        writer.append(identifier: columnName)
        writer.append(" = ")
        try value?.write(to: &writer)
    }
}

extension ColumnExpression {
    /// Assigns a value or an expression; nil is NULL.
    ///
    ///     // UPDATE "share" SET "expiry" = NULL WHERE "guestId" = 3
    ///     try Share.filter { $0.guestId == 3 }.updateAll(db) { $0.expiry.set(to: nil) }
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(columnName: name, value: value?.sqlExpression ?? .databaseValue(.null))
    }

    /// An assignment that keeps the column's present value in an upsert.
    public var noOverwrite: ColumnAssignment { ColumnAssignment(columnName: name, value: nil) }

    /// Adds a number: `amount = amount + value`.
    public static func += (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column + value)
    }

    /// Subtracts a number: `amount = amount - value`.
    public static func -= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column - value)
    }

    /// Multiplies by a number: `amount = amount * value`.
    public static func *= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column * value)
    }

    /// Divides by a number: `amount = amount / value`.
    public static func /= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column / value)
    }

    /// Clears the bits that are not set in the value: `mask = mask & value`.
    public static func &= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column & value)
    }

    /// Sets the bits of the value: `mask = mask | value`.
    public static func |= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column | value)
    }

    /// Shifts the bits to the left: `mask = mask << value`.
    public static func <<= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column << value)
    }

    /// Shifts the bits to the right: `mask = mask >> value`.
    public static func >>= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column >> value)
    }
}
