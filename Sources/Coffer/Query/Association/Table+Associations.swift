// MARK: - Declaring associations

extension Table {
    /// Declares that a foreign key of this table refers to a row of another one.
    ///
    ///     // SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
    ///     Item.including(required: Item.belongsTo(Owner.self))
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the name of the associated row; nil for the name of the other table, in the singular.
    ///   - foreignKey: the foreign key, where the schema has none or several; nil to look for it in the
    ///     schema.
    public func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(.belonging(tableName, to: .init(Destination.self), key, foreignKey))
    }

    /// The same as `belongsTo(_:key:using:)` with a record type, for a table.
    ///
    /// - Parameters:
    ///   - destination: the other record type, or table.
    ///   - key: the name by which the associated rows are decoded; nil makes it of the name of the table.
    ///   - foreignKey: the columns that lead from the one table to the other; nil asks the schema.
    public func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(.belonging(tableName, to: .init(destination), key, foreignKey))
    }

    /// Declares that a foreign key of another table refers to this one, from one row at most.
    ///
    /// Nothing limits the number of rows: if there are several, a joined request has several rows.
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the name of the associated row; nil for the name of the other table, in the singular.
    ///   - foreignKey: the foreign key of the other table, where the schema has none or several; nil to look
    ///     for it in the schema.
    public func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(.one(of: tableName, .init(Destination.self), key, foreignKey))
    }

    /// The same as `hasOne(_:key:using:)` with a record type, for a table.
    ///
    /// - Parameters:
    ///   - destination: the other record type, or table.
    ///   - key: the name by which the associated rows are decoded; nil makes it of the name of the table.
    ///   - foreignKey: the columns that lead from the one table to the other; nil asks the schema.
    public func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(.one(of: tableName, .init(destination), key, foreignKey))
    }

    /// Declares that a foreign key of another table refers to this one, from any number of rows.
    ///
    ///     // SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner" LEFT JOIN "item" ON ... GROUP BY "owner"."id"
    ///     Owner.annotated(with: Owner.hasMany(Item.self).count)
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the name of the associated rows; nil for the name of the other table, in the plural.
    ///   - foreignKey: the foreign key of the other table, where the schema has none or several; nil to look
    ///     for it in the schema.
    public func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(.many(of: tableName, .init(Destination.self), key, foreignKey))
    }

    /// The same as `hasMany(_:key:using:)` with a record type, for a table.
    ///
    /// - Parameters:
    ///   - destination: the other record type, or table.
    ///   - key: the name by which the associated rows are decoded; nil makes it of the name of the table.
    ///   - foreignKey: the columns that lead from the one table to the other; nil asks the schema.
    public func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(.many(of: tableName, .init(destination), key, foreignKey))
    }

    /// Declares an association to the rows that two associations lead to, one behind the other.
    ///
    ///     let (owners, items) = (Table("owner"), Table("item"))
    ///     let files = owners.hasMany(
    ///         Row.self, through: owners.hasMany(items), using: items.hasMany(Table("attachment")))
    ///
    /// - Parameters:
    ///   - destination: what the rows of the second association become.
    ///   - pivot: the association from here to the table between.
    ///   - target: the association from the table between to the destination.
    ///   - key: the name of the associated rows; nil for the key of `target`.
    public func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasManyThroughAssociation(
            .through(
                pivot._sqlAssociation, target._sqlAssociation, key: key.map(AssociationKey.init(ofMany:))))
    }

    /// Declares an association to the row that two associations to one row lead to, one behind the other.
    ///
    ///     let (attachments, items) = (Table("attachment"), Table("item"))
    ///     let owner = attachments.hasOne(
    ///         Row.self, through: attachments.belongsTo(items), using: items.belongsTo(Table("owner")))
    ///
    /// - Parameters:
    ///   - destination: what the row of the second association becomes.
    ///   - pivot: the association from here to the table between.
    ///   - target: the association from the table between to the destination.
    ///   - key: the name of the associated row; nil for the key of `target`.
    public func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasOneThroughAssociation(
            .through(pivot._sqlAssociation, target._sqlAssociation, key: key.map(AssociationKey.init(ofOne:)))
        )
    }

    /// Declares an association to a common table expression, by a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let owners = Table("owner")
    ///     let load = owners.association(to: heavy) { owner, item in item[Column("ownerId")] == owner[Column("id")] }
    ///     let request = owners.with(heavy).including(optional: load)
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
}
