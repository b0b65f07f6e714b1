/// What refers to a table of a request, whatever its rows become: see ``TableAlias``.
// @unchecked: it has no state but an immutable string, and its only subclass is final and adds none.
public class TableAliasBase: @unchecked Sendable {
    /// The name that the table gets in the SQL text, or nil if any name will do.
    ///
    /// It is called so that it hides no column: `alias.name` is the column "name".
    public final let _tableName: String?

    fileprivate init(name: String?) { _tableName = name }
}

extension TableAliasBase: Hashable {
    /// Two aliases are equal if they are the same object: then they refer to the same table.
    public static func == (lhs: TableAliasBase, rhs: TableAliasBase) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A reference to a table of a request, for expressions outside of the place where columns belong to that
/// table anyway.
///
///     // SELECT * FROM "owner" WHERE EXISTS (SELECT * FROM "item" WHERE ("ownerId" = "owner"."id") AND ("worth" > 5000))
///     let keeper = TableAlias<Owner>()
///     let treasures = Item.filter { $0.ownerId == keeper.id && $0.worth > 5000 }
///     let wealthy = Owner.aliased(keeper).filter(treasures.exists())
///
/// Give the alias a name where the request has the same table twice, or where a piece of SQL has to know the
/// name.
@dynamicMemberLookup
// @unchecked: it adds no state to its superclass.
public final class TableAlias<RowDecoder>: TableAliasBase, @unchecked Sendable {
    /// Creates an alias for a table of records.
    ///
    /// - Parameters:
    ///   - name: what the table is called in the SQL text; nil if any name will do.
    ///   - record: what the rows of the table become.
    public init(name: String? = nil, for record: RowDecoder.Type = RowDecoder.self) {
        super.init(name: name)
    }

    /// Creates an alias for any table.
    public init(name: String? = nil) where RowDecoder == Void {
        super.init(name: name)
    }
}

extension TableAliasBase {
    /// An expression whose columns are those of the table.
    public subscript(expression: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(impl: .qualified(expression.sqlExpression, self))
    }

    /// An ordering by columns of the table.
    public subscript(ordering: some SQLOrderingTerm) -> SQLOrdering {
        SQLOrdering(impl: .qualified(ordering.sqlOrdering, self))
    }

    /// A selection of columns of the table.
    public subscript(selection: some SQLSelectable) -> SQLSelection {
        SQLSelection(impl: .qualified(selection.sqlSelection, self))
    }

    /// A column of the table, by its name.
    public subscript(column: String) -> SQLExpression { self[Column(column)] }

    /// Whether there is a row of the table, for tables that are joined optionally: its primary key is not
    /// NULL.
    public var exists: SQLExpression { SQLExpression(impl: .rowExists(self, isNegated: false)) }
}
