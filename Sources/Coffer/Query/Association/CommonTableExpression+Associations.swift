extension CommonTableExpression {
    /// Declares an association to a common table expression, by a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let lent = CommonTableExpression(named: "lent", request: Share.select(\.itemId))
    ///     let loans = heavy.association(to: lent) { item, loan in loan[Column("itemId")] == item[Column("id")] }
    ///     let request = heavy.all().with(heavy).with(lent).joining(required: loans)
    ///
    /// The request needs the definition of each common table expression, by `with(_:)`.
    /// - Parameters:
    ///   - cte: where the association leads to.
    ///   - condition: returns the condition that a row of either side must meet, which the aliases stand for.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(cte), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to a common table expression, without any condition: each row belongs to each.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(cte), by: nil))
    }

    /// Declares an association to the table of a record type, by a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let keeper = heavy.association(to: Owner.self) { item, owner in owner.id == item[Column("ownerId")] }
    ///     let request = heavy.all().with(heavy).including(required: keeper)
    ///
    /// The request needs the definition of each common table expression, by `with(_:)`.
    /// - Parameters:
    ///   - destination: where the association leads to.
    ///   - condition: returns the condition that a row of either side must meet, which the aliases stand for.
    public func association<Destination>(
        to destination: Destination.Type,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> where Destination: TableRecord {
        JoinAssociation(.toAny(.init(Destination.self), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to the table of a record type, without any condition: each row belongs to
    /// each.
    public func association<Destination>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> where Destination: TableRecord {
        JoinAssociation(.toAny(.init(Destination.self), by: nil))
    }

    /// Declares an association to a table, by a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let owners = Table("owner")
    ///     let keeper = heavy.association(to: owners) { item, owner in owner[Column("id")] == item[Column("ownerId")] }
    ///     let request = heavy.all().with(heavy).including(required: keeper)
    ///
    /// The request needs the definition of each common table expression, by `with(_:)`.
    /// - Parameters:
    ///   - table: where the association leads to.
    ///   - condition: returns the condition that a row of either side must meet, which the aliases stand for.
    public func association<Destination>(
        to table: Table<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(table), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to a table, without any condition: each row belongs to each.
    public func association<Destination>(
        to table: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.toAny(.init(table), by: nil))
    }
}
