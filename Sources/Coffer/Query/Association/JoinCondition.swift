/// The condition that matches the rows of two tables. The left table is already in the query.
enum JoinCondition: Sendable {
    case foreignKey(SQLForeignKey, originIsLeft: Bool)

    /// Any condition, or none, between two tables, one of which is a common table expression.
    case predicate(Predicate?, isReversed: Bool)

    /// A closure that returns the condition, with the aliases by which it refers to the left and the right
    /// table.
    typealias Predicate =
        @Sendable () -> (left: TableAliasBase, right: TableAliasBase, condition: SQLExpression)

    /// Returns a predicate that creates new aliases for the tables on each call, because an association may
    /// occur twice in a request.
    static func predicate<Left, Right>(
        _ condition: @escaping @Sendable (TableAlias<Left>, TableAlias<Right>) -> any SQLExpressible
    ) -> Predicate {
        {
            let (left, right) = (TableAlias<Left>(), TableAlias<Right>())
            return (left, right, condition(left, right).sqlExpression)
        }
    }

    /// The same condition, seen from the other table.
    var reversed: JoinCondition {
        switch self {
        case .foreignKey(let key, let originIsLeft): .foreignKey(key, originIsLeft: !originIsLeft)
        case .predicate(let predicate, let isReversed): .predicate(predicate, isReversed: !isReversed)
        }
    }

    /// Returns the pairs of columns that must be equal, or nil if the tables are not matched by columns.
    func columns(_ db: Database) throws -> [(left: String, right: String)]? {
        guard case .foreignKey(let key, let originIsLeft) = self else { return nil }
        return try key.mapping(db).map {
            originIsLeft ? (left: $0.origin, right: $0.destination) : (left: $0.destination, right: $0.origin)
        }
    }

    /// Returns the condition for two associations with the same key; nil if their conditions contradict each
    /// other.
    func merged(with other: JoinCondition) -> JoinCondition? {
        switch (self, other) {
        case (.foreignKey(let key, let originIsLeft), .foreignKey(let otherKey, let otherOriginIsLeft)):
            key == otherKey && originIsLeft == otherOriginIsLeft ? self : nil
        case (.predicate, .predicate):
            other
        default:
            nil
        }
    }
}
