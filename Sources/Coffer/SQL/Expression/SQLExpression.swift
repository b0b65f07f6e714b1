/// An SQL expression, ready to be written into a request.
///
/// Build expressions with operators and functions on columns, such as `Column("score") + 10`, or from SQL,
/// such as `SQL("DATE(\(Column("createdAt")))").sqlExpression`.
public struct SQLExpression: SQLSpecificExpressible, Sendable {
    /// The forms of an expression. All of them are written by ``write(to:asOperand:)``.
    indirect enum Impl: Sendable {
        case databaseValue(DatabaseValue)
        /// A boolean constant, written as 1 or 0, so that SQLite can match the conditions of partial indexes.
        case boolean(Bool)
        case column(String)
        /// A column that belongs to no table, such as the name of a selected expression. It is never
        /// qualified.
        case detachedColumn(String)
        /// An expression whose columns belong to the table of an alias.
        case qualified(SQLExpression, TableAliasBase)
        case literal(SQL)
        case subquery(SQLSubquery)
        case unary(UnaryOperator, SQLExpression)
        case binary(BinaryOperator, SQLExpression, SQLExpression)
        case associative(AssociativeBinaryOperator, [SQLExpression])
        case not(SQLExpression)
        case like(SQLExpression, pattern: SQLExpression, escape: SQLExpression?, isNegated: Bool)
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        case isIn(SQLExpression, Members, isNegated: Bool)
        case exists(SQLSubquery, isNegated: Bool)
        case collated(SQLExpression, Database.CollationName)
        case function(String, [SQLExpression])
        case aggregate(SQLAggregate)
        case cast(SQLExpression, Database.StorageClass)
        /// True if the table of an alias has a row, and not only the NULL values of an outer join.
        case rowExists(TableAliasBase, isNegated: Bool)
        /// The current table in a full-text search: the hidden column with the table's name.
        case currentTable
        /// The position of a column in the current table, from 0.
        case columnPosition(String)
        /// An expression whose text is interpreted as JSON by JSON functions.
        case json(SQLExpression)
    }

    /// The right-hand side of `IN`.
    enum Members: Sendable {
        case list([SQLExpression])
        case subquery(SQLSubquery)
        /// The only column of a table.
        case table(String)
    }

    let impl: Impl

    /// The expression of a plain value, which is bound as an argument and never written into the SQL text.
    static func databaseValue(_ value: DatabaseValue) -> SQLExpression {
        SQLExpression(impl: .databaseValue(value))
    }

    /// Creates a call of an SQL function.
    static func function(_ name: String, _ arguments: [SQLExpression]) -> SQLExpression {
        SQLExpression(impl: .function(name, arguments))
    }

    public var sqlExpression: SQLExpression { self }
}

extension SQLExpression.Impl {
    /// True if the expression needs parentheses as the operand of an operator.
    var isComposite: Bool {
        switch self {
        case .databaseValue, .boolean, .column, .detachedColumn, .subquery, .collated, .function, .aggregate,
            .cast:
            false
        case .currentTable, .columnPosition: false
        case .exists(_, let isNegated): isNegated
        case .literal, .unary, .binary, .associative, .not, .like, .between, .isIn, .rowExists: true
        case .qualified(let expression, _), .json(let expression): expression.impl.isComposite
        }
    }

    /// True if the expression specifies a collation.
    var isCollated: Bool {
        if case .collated = self { true } else { false }
    }

    /// True if the expression is a number with a sign.
    var isNegativeNumber: Bool {
        switch self {
        case .databaseValue(let value):
            switch value.storage {
            case .int64(let integer): integer < 0
            case .double(let number): number.sign == .minus
            default: false
            }
        case .qualified(let expression, _), .json(let expression): expression.impl.isNegativeNumber
        default: false
        }
    }

    /// True if the expression is the value NULL.
    var isNull: Bool {
        switch self {
        case .databaseValue(let value): value.isNull
        case .json(let expression): expression.impl.isNull
        default: false
        }
    }
}

// MARK: - SQL

extension SQLExpression {
    /// Writes the expression. It is put in parentheses if it is an operand and itself has an operator.
    func write(to writer: inout SQLWriter, asOperand: Bool = false) throws {
        guard asOperand, impl.isComposite else { return try writeBare(to: &writer) }
        writer.append("(")
        try writeBare(to: &writer)
        writer.append(")")
    }

    private func writeBare(to writer: inout SQLWriter) throws {
        switch impl {
        case .databaseValue(let value):
            writer.append(value)
        case .boolean(let value):
            writer.append(value ? "1" : "0")
        case .column(let name):
            writer.append(column: name)
        case .detachedColumn(let name):
            writer.append(identifier: name)
        case .qualified(let expression, let alias):
            try writer.inScope(
                { try $0.qualifyColumns(with: alias) }, write: { try expression.writeBare(to: &$0) })
        case .literal(let sql):
            try sql.write(to: &writer)
        case .subquery(let subquery):
            try subquery.writeInParentheses(to: &writer)
        case .unary(let op, let operand):
            writer.append(op.sql)
            // Never two signs in a row: `--` would start a comment.
            let isSigned = operand.impl.isNegativeNumber
            if isSigned { writer.append("(") }
            try operand.write(to: &writer, asOperand: true)
            if isSigned { writer.append(")") }
        case .binary(let op, let lhs, let rhs):
            try lhs.write(to: &writer, asOperand: true)
            writer.append(" \(op.sql) ")
            try rhs.write(to: &writer, asOperand: true)
        case .associative(let op, let operands):
            try writer.append(operands, separator: " \(op.sql) ") { try $0.write(to: &$1, asOperand: true) }
        case .not(let operand):
            writer.append("NOT ")
            try operand.write(to: &writer, asOperand: true)
        case .like(let operand, let pattern, let escape, let isNegated):
            try operand.write(to: &writer, asOperand: true)
            writer.append(isNegated ? " NOT LIKE " : " LIKE ")
            try pattern.write(to: &writer, asOperand: true)
            if let escape {
                writer.append(" ESCAPE ")
                try escape.write(to: &writer, asOperand: true)
            }
        case .between(let operand, let lower, let upper, let isNegated):
            try operand.write(to: &writer, asOperand: true)
            writer.append(isNegated ? " NOT BETWEEN " : " BETWEEN ")
            try lower.write(to: &writer, asOperand: true)
            writer.append(" AND ")
            try upper.write(to: &writer, asOperand: true)
        case .isIn(let operand, let members, let isNegated):
            if case .collated = operand.impl {
                writer.append("(")
                try operand.write(to: &writer)
                writer.append(")")
            } else {
                try operand.write(to: &writer, asOperand: true)
            }
            writer.append(isNegated ? " NOT IN " : " IN ")
            try members.write(to: &writer)
        case .exists(let subquery, let isNegated):
            writer.append(isNegated ? "NOT EXISTS " : "EXISTS ")
            try subquery.writeInParentheses(to: &writer)
        case .collated(let operand, let collation):
            try operand.write(to: &writer, asOperand: true)
            writer.append(" COLLATE ")
            writer.append(functionName: collation.rawValue)
        case .function(let name, let arguments):
            writer.append(functionName: name)
            try writer.writeList(arguments)
        case .aggregate(let aggregate):
            try aggregate.write(to: &writer)
        case .cast(let operand, let storageClass):
            writer.append("CAST(")
            try operand.write(to: &writer)
            writer.append(" AS ")
            writer.append(functionName: storageClass.rawValue)
            writer.append(")")
        case .rowExists(let alias, let isNegated):
            try writer.inScope(
                { try $0.qualifyColumns(with: alias) },
                write: { try $0.appendRowExistence(isNegated: isNegated) })
        case .currentTable:
            try writer.appendCurrentTable()
        case .columnPosition(let name):
            try writer.appendPosition(ofColumn: name)
        case .json(let expression):
            try expression.writeBare(to: &writer)
        }
    }
}

extension SQLExpression.Members {
    fileprivate func write(to writer: inout SQLWriter) throws {
        switch self {
        case .list(let expressions): try writer.writeList(expressions)
        case .subquery(let subquery): try subquery.writeInParentheses(to: &writer)
        case .table(let name): writer.append(identifier: name)
        }
    }
}

extension SQLSubquery {
    fileprivate func writeInParentheses(to writer: inout SQLWriter) throws {
        writer.append("(")
        try write(to: &writer)
        writer.append(")")
    }
}

extension SQLWriter {
    /// Writes a test of columns that cannot all be NULL in a row of the current table.
    fileprivate mutating func appendRowExistence(isNegated: Bool) throws {
        guard let tableName = scope.tableName else {
            throw DatabaseError.misuse(
                "A TableAlias is used that no table of this request has. Give it to a table with "
                    + "aliased(_:).")
        }
        let columns = try db.columnsOfExistingRow(of: tableName)
        // A view has no key. All of its columns are NULL only if there is no row, or a row of NULL values.
        append(columns, separator: isNegated ? " AND " : " OR ") { name, writer in
            if columns.count > 1 { writer.append("(") }
            writer.append(column: name)
            writer.append(isNegated ? " IS NULL" : " IS NOT NULL")
            if columns.count > 1 { writer.append(")") }
        }
    }

    /// Writes the hidden column of a full-text table, which SQLite does not find under an alias.
    fileprivate mutating func appendCurrentTable() throws {
        guard let tableName = scope.tableName else {
            throw DatabaseError.misuse("A full-text search needs a request that selects from a known table.")
        }
        if let qualifier = scope.columnQualifier,
            CaseInsensitiveName(qualifier) != CaseInsensitiveName(tableName)
        {
            append(identifier: qualifier)
            append(".")
        }
        append(identifier: tableName)
    }

    /// Writes the position of a column in the current table.
    fileprivate mutating func appendPosition(ofColumn name: String) throws {
        guard let tableName = scope.tableName else {
            throw DatabaseError.misuse("A full-text search needs a request that selects from a known table.")
        }
        let columns = try db.columns(in: tableName).map { CaseInsensitiveName($0.name) }
        guard let index = columns.firstIndex(of: CaseInsensitiveName(name)) else {
            throw DatabaseError(message: "no such column: \(name) in the table \(tableName)")
        }
        append("\(index)")
    }

    /// Writes expressions in parentheses, separated by commas.
    fileprivate mutating func writeList(_ expressions: [SQLExpression]) throws {
        append("(")
        try append(expressions, separator: ", ") { try $0.write(to: &$1) }
        append(")")
    }
}
