extension CommonTableExpression {
    /// Declares an association to a common table expression, by a condition.
    ///
    ///     let large = CommonTableExpression(named: "large", request: Item.filter { $0.size > 1_000_000 })
    ///     let association = Owner.association(to: large, on: { owner, item in item[Column("ownerId")] == owner[Column("id")] })
    ///     let request = Owner.with(large).including(optional: association)
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
    ///     let large = CommonTableExpression(named: "large", request: Item.filter { $0.size > 1_000_000 })
    ///     let association = Owner.association(to: large, on: { owner, item in item[Column("ownerId")] == owner[Column("id")] })
    ///     let request = Owner.with(large).including(optional: association)
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
    ///     let large = CommonTableExpression(named: "large", request: Item.filter { $0.size > 1_000_000 })
    ///     let association = Owner.association(to: large, on: { owner, item in item[Column("ownerId")] == owner[Column("id")] })
    ///     let request = Owner.with(large).including(optional: association)
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
