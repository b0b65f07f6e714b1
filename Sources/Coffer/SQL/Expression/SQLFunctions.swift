/// The `ABS` function: the absolute value.
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("ABS", [value.sqlExpression])
}

/// The `CAST` expression: the value, converted to a storage class.
///
///     // CAST("worth" AS REAL) / "weight"
///     cast(Column("worth"), as: .real) / Column("weight")
///
/// See <https://www.sqlite.org/lang_expr.html#castexpr>.
public func cast(_ expression: some SQLSpecificExpressible, as storageClass: Database.StorageClass)
    -> SQLExpression
{
    SQLExpression(impl: .cast(expression.sqlExpression, storageClass))
}

/// The `COALESCE` function: the first value that is not NULL.
///
/// A single value is returned unchanged, and an empty collection becomes NULL, because SQLite's function
/// needs at least two arguments.
public func coalesce(_ values: some Collection<any SQLSpecificExpressible>) -> SQLExpression {
    let arguments = values.map(\.sqlExpression)
    guard arguments.count > 1 else { return arguments.first ?? .databaseValue(.null) }
    return .function("COALESCE", arguments)
}

/// The `LENGTH` function: the number of characters of a text, or of bytes of a blob.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LENGTH", [value.sqlExpression])
}

/// The `MAX` function of several values: the greatest one, or NULL if one of them is NULL.
public func max(
    _ value1: any SQLSpecificExpressible, _ value2: any SQLExpressible, _ values: any SQLExpressible...
) -> SQLExpression {
    .function("MAX", [value1.sqlExpression, value2.sqlExpression] + values.map(\.sqlExpression))
}

/// The `MIN` function of several values: the smallest one, or NULL if one of them is NULL.
public func min(
    _ value1: any SQLSpecificExpressible, _ value2: any SQLExpressible, _ values: any SQLExpressible...
) -> SQLExpression {
    .function("MIN", [value1.sqlExpression, value2.sqlExpression] + values.map(\.sqlExpression))
}

// MARK: - Functions written in Swift

extension DatabaseFunction {
    /// Returns a call of the function in SQL.
    ///
    ///     // initials("name")
    ///     Item.select { initials($0.name) }
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        let arguments = arguments.map(\.sqlExpression)
        guard isAggregate else { return .function(name, arguments) }
        return SQLExpression(impl: .aggregate(SQLAggregate(name: name, arguments: arguments)))
    }
}

extension SQLSpecificExpressible {
    /// The value converted by Swift's `capitalized`: see ``DatabaseFunction/capitalize``.
    public var capitalized: SQLExpression { DatabaseFunction.capitalize(sqlExpression) }

    /// The value converted by Swift's `lowercased()`: see ``DatabaseFunction/lowercase``.
    public var lowercased: SQLExpression { DatabaseFunction.lowercase(sqlExpression) }

    /// The value converted by Swift's `uppercased()`: see ``DatabaseFunction/uppercase``.
    public var uppercased: SQLExpression { DatabaseFunction.uppercase(sqlExpression) }

    /// The value converted by Foundation's `localizedCapitalized`: see
    /// ``DatabaseFunction/localizedCapitalize``.
    public var localizedCapitalized: SQLExpression { DatabaseFunction.localizedCapitalize(sqlExpression) }

    /// The value converted by Foundation's `localizedLowercase`: see ``DatabaseFunction/localizedLowercase``.
    public var localizedLowercased: SQLExpression { DatabaseFunction.localizedLowercase(sqlExpression) }

    /// The value converted by Foundation's `localizedUppercase`: see ``DatabaseFunction/localizedUppercase``.
    public var localizedUppercased: SQLExpression { DatabaseFunction.localizedUppercase(sqlExpression) }
}
