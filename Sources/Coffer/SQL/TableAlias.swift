/// A reference to a table of a request, independent of the type of its rows: see ``TableAlias``.
// @unchecked: it has no state but an immutable string, and its only subclass is final and adds none.
public class TableAliasBase: @unchecked Sendable {
    /// The name of the table in the SQL text, or nil if any name will do.
    ///
    /// The underscore keeps the name from hiding a column: `alias.name` is the column "name".
    public final let _tableName: String?

    fileprivate init(name: String?) { _tableName = name }
}

extension TableAliasBase: Hashable {
    /// Aliases are equal if they are the same object, and so refer to the same table.
    public static func == (lhs: TableAliasBase, rhs: TableAliasBase) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A reference to a table of a request, for expressions in places where columns would otherwise belong to
/// another table.
///
///     // SELECT * FROM "owner" WHERE EXISTS (SELECT * FROM "item" WHERE ("ownerId" = "owner"."id") AND ("worth" > 5000))
///     let keeper = TableAlias<Owner>()
///     let treasures = Item.filter { $0.ownerId == keeper.id && $0.worth > 5000 }
///     let wealthy = Owner.aliased(keeper).filter(treasures.exists())
///
/// Give the alias a name if the request uses the same table twice, or if a piece of SQL has to know the name.
@dynamicMemberLookup
// @unchecked: it adds no state to its superclass.
public final class TableAlias<RowDecoder>: TableAliasBase, @unchecked Sendable {
    /// Creates an alias for a table of records.
    ///
    /// - Parameters:
    ///   - name: the name of the table in the SQL text; nil if any name will do.
    ///   - record: the type of the table's rows.
    public init(name: String? = nil, for record: RowDecoder.Type = RowDecoder.self) {
        super.init(name: name)
    }

    /// Creates an alias for any table.
    public init(name: String? = nil) where RowDecoder == Void {
        super.init(name: name)
    }
}

extension TableAliasBase {
    /// Returns the expression, with its columns qualified by the table.
    public subscript(expression: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(impl: .qualified(expression.sqlExpression, self))
    }

    /// Returns the ordering, with its columns qualified by the table.
    public subscript(ordering: some SQLOrderingTerm) -> SQLOrdering {
        SQLOrdering(impl: .qualified(ordering.sqlOrdering, self))
    }

    /// Returns the selection, with its columns qualified by the table.
    public subscript(selection: some SQLSelectable) -> SQLSelection {
        SQLSelection(impl: .qualified(selection.sqlSelection, self))
    }

    /// Returns a column of the table.
    public subscript(column: String) -> SQLExpression { self[Column(column)] }

    /// A condition that is true if the table has a row, for tables that are joined optionally: its primary
    /// key is not NULL.
    public var exists: SQLExpression { SQLExpression(impl: .rowExists(self, isNegated: false)) }
}
