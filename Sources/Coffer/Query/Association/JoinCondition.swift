/// Which rows of two tables belong together. The left table is the one that is there already.
enum JoinCondition: Sendable {
    case foreignKey(SQLForeignKey, originIsLeft: Bool)

    /// Any condition, or none, between two tables of which one is a common table expression.
    case predicate(Predicate?, isReversed: Bool)

    /// Makes the condition, with the aliases by which it refers to the left and the right table.
    typealias Predicate =
        @Sendable () -> (left: TableAliasBase, right: TableAliasBase, condition: SQLExpression)

    /// A predicate that refers to the tables by aliases of its own, which are new each time: an association
    /// may be in a request twice.
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

    /// The pairs of columns that must be equal, or nil if the tables do not belong together by columns.
    func columns(_ db: Database) throws -> [(left: String, right: String)]? {
        guard case .foreignKey(let key, let originIsLeft) = self else { return nil }
        return try key.mapping(db).map {
            originIsLeft ? (left: $0.origin, right: $0.destination) : (left: $0.destination, right: $0.origin)
        }
    }

    /// The condition that holds where two of one key meet; nil if they contradict each other.
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
