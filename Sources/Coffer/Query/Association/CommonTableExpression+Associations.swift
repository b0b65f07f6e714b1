extension CommonTableExpression {
    /// Declares an association to a common table expression, with a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let lent = CommonTableExpression(named: "lent", request: Share.select(\.itemId))
    ///     let loans = heavy.association(to: lent) { item, loan in loan[Column("itemId")] == item[Column("id")] }
    ///     let request = heavy.all().with(heavy).with(lent).joining(required: loans)
    ///
    /// The request must define each common table expression with `with(_:)`.
    ///
    /// - Parameter condition: a closure that returns the condition for a pair of rows. Its arguments are
    ///   aliases for the two tables.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(cte), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to a common table expression, without a condition: each row is associated with
    /// every row.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(cte), by: nil))
    }

    /// Declares an association to the table of a record type, with a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let keeper = heavy.association(to: Owner.self) { item, owner in owner.id == item[Column("ownerId")] }
    ///     let request = heavy.all().with(heavy).including(required: keeper)
    ///
    /// The request must define each common table expression with `with(_:)`.
    ///
    /// - Parameter condition: a closure that returns the condition for a pair of rows. Its arguments are
    ///   aliases for the two tables.
    public func association<Destination>(
        to destination: Destination.Type,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> where Destination: TableRecord {
        JoinAssociation(.toAny(.init(Destination.self), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to the table of a record type, without a condition: each row is associated
    /// with every row.
    public func association<Destination>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> where Destination: TableRecord {
        JoinAssociation(.toAny(.init(Destination.self), by: nil))
    }

    /// Declares an association to a table, with a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let owners = Table("owner")
    ///     let keeper = heavy.association(to: owners) { item, owner in owner[Column("id")] == item[Column("ownerId")] }
    ///     let request = heavy.all().with(heavy).including(required: keeper)
    ///
    /// The request must define each common table expression with `with(_:)`.
    ///
    /// - Parameter condition: a closure that returns the condition for a pair of rows. Its arguments are
    ///   aliases for the two tables.
    public func association<Destination>(
        to table: Table<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(table), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to a table, without a condition: each row is associated with every row.
    public func association<Destination>(
        to table: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(table), by: nil))
    }
}
