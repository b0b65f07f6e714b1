extension SQLExpression {
    /// The operands of this expression, without those inside subqueries.
    private var operands: [SQLExpression] {
        switch impl {
        case .databaseValue, .boolean, .column, .detachedColumn, .literal, .subquery, .exists, .rowExists,
            .currentTable, .columnPosition:
            []
        case .qualified(let operand, _), .unary(_, let operand), .not(let operand), .collated(let operand, _),
            .cast(let operand, _),
            .json(let operand):
            [operand]
        case .binary(_, let lhs, let rhs): [lhs, rhs]
        case .associative(_, let operands), .function(_, let operands): operands
        case .like(let operand, let pattern, let escape, isNegated: _):
            [operand, pattern] + (escape.map { [$0] } ?? [])
        case .between(let operand, let lower, let upper, isNegated: _): [operand, lower, upper]
        case .isIn(let operand, .list(let members), isNegated: _): [operand] + members
        case .isIn(let operand, _, isNegated: _): [operand]
        case .aggregate(let aggregate): aggregate.arguments + (aggregate.filter.map { [$0] } ?? [])
        }
    }

    /// True if the expression contains an aggregate, or may contain one that is written in SQL.
    var mayAggregate: Bool {
        switch impl {
        case .aggregate, .literal: true
        default: operands.contains(where: \.mayAggregate)
        }
    }

    /// True if the expression certainly contains an aggregate, so that it has one value for all rows.
    var aggregates: Bool {
        if case .aggregate = impl { return true }
        return operands.contains(where: \.aggregates)
    }

    /// True if the expression may read tables by itself, in a subquery or in SQL that may contain one.
    var mayQuery: Bool {
        switch impl {
        case .subquery, .exists, .isIn(_, .subquery, isNegated: _), .isIn(_, .table, isNegated: _): true
        case .literal(let sql): sql.mayQuery
        case .aggregate(let aggregate) where aggregate.ordering?.mayQuery == true: true
        default: operands.contains(where: \.mayQuery)
        }
    }
}

extension SQLSelection {
    /// The selection without the table that its columns belong to.
    var unqualified: SQLSelection {
        if case .qualified(let selection, _) = impl { selection.unqualified } else { self }
    }

    /// The selected expression, without the table that its columns belong to; nil if there is none.
    private var expression: SQLExpression? {
        switch unqualified.impl {
        case .expression(let expression), .aliased(let expression, name: _): expression
        default: nil
        }
    }

    /// True if the selection may read tables by itself.
    var mayQuery: Bool {
        if case .literal(let sql) = unqualified.impl { sql.mayQuery } else { expression?.mayQuery ?? false }
    }

    /// True if the selection may reduce many rows to one.
    var mayAggregate: Bool {
        if case .literal = unqualified.impl { true } else { expression?.mayAggregate ?? false }
    }

    /// True if the selection is certainly an aggregate. If all selections are aggregates, the query returns
    /// one row.
    var isAggregate: Bool { expression?.aggregates ?? false }
}

extension SQLOrdering {
    /// True if the ordering may read tables by itself.
    var mayQuery: Bool {
        switch impl {
        case .expression(let expression), .reversed(let expression), .directed(let expression, _):
            expression.mayQuery
        case .literal(let sql): sql.mayQuery
        case .qualified(let ordering, _): ordering.mayQuery
        }
    }
}

extension SQL {
    /// True if the literal may read tables by itself: its text has a keyword that queries need, or it
    /// contains a subquery.
    var mayQuery: Bool {
        elements.contains { element in
            switch element {
            case .sql(let text, _): text.hasQueryKeyword
            case .expression(let expression): expression.mayQuery
            case .selection(let selection): selection.mayQuery
            case .ordering(let ordering): ordering.mayQuery
            case .subquery: true
            case .identifier, .columns: false
            case .commonTable: true
            }
        }
    }
}

extension String {
    /// True if the text contains a keyword without which no SQL text reads a table: `SELECT`, `VALUES`, or
    /// `IN` before the name of a table.
    fileprivate var hasQueryKeyword: Bool {
        utf8.split { byte in !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20) }.contains {
            word in
            switch String(word)?.lowercased() {
            case "select", "values", "in": true
            default: false
            }
        }
    }
}
