// MARK: - Declaring associations

extension TableRecord {
    /// Declares that a foreign key of this table refers to a row of another one.
    ///
    ///     // SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
    ///     Item.including(required: Item.belongsTo(Owner.self))
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the key of the associated row; nil uses the name of the other table in the singular.
    ///   - foreignKey: the foreign key, required if the schema has none or several; nil looks it up in the
    ///     schema.
    public static func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(.belonging(databaseTableName, to: .init(Destination.self), key, foreignKey))
    }

    /// Declares the same association as `belongsTo(_:key:using:)`, to a ``Table`` instead of a record type.
    ///
    /// - Parameters:
    ///   - destination: the other table.
    ///   - key: the key that the associated rows are decoded from; nil derives it from the name of the table.
    ///   - foreignKey: the columns of the foreign key; nil looks it up in the schema.
    public static func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(.belonging(databaseTableName, to: .init(destination), key, foreignKey))
    }

    /// Declares that a foreign key of another table refers to this one, from at most one row.
    ///
    /// The number of rows is not enforced: if there are several, a joined request returns several rows.
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the key of the associated row; nil uses the name of the other table in the singular.
    ///   - foreignKey: the foreign key of the other table, required if the schema has none or several; nil
    ///     looks it up in the schema.
    public static func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(.one(of: databaseTableName, .init(Destination.self), key, foreignKey))
    }

    /// Declares the same association as `hasOne(_:key:using:)`, to a ``Table`` instead of a record type.
    ///
    /// - Parameters:
    ///   - destination: the other table.
    ///   - key: the key that the associated rows are decoded from; nil derives it from the name of the table.
    ///   - foreignKey: the columns of the foreign key; nil looks it up in the schema.
    public static func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(.one(of: databaseTableName, .init(destination), key, foreignKey))
    }

    /// Declares that a foreign key of another table refers to this one, from any number of rows.
    ///
    ///     // SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner" LEFT JOIN "item" ON ... GROUP BY "owner"."id"
    ///     Owner.annotated(with: Owner.hasMany(Item.self).count)
    ///
    /// - Parameters:
    ///   - destination: the record type of the other table.
    ///   - key: the key of the associated rows; nil uses the name of the other table in the plural.
    ///   - foreignKey: the foreign key of the other table, required if the schema has none or several; nil
    ///     looks it up in the schema.
    public static func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(.many(of: databaseTableName, .init(Destination.self), key, foreignKey))
    }

    /// Declares the same association as `hasMany(_:key:using:)`, to a ``Table`` instead of a record type.
    ///
    /// - Parameters:
    ///   - destination: the other table.
    ///   - key: the key that the associated rows are decoded from; nil derives it from the name of the table.
    ///   - foreignKey: the columns of the foreign key; nil looks it up in the schema.
    public static func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(.many(of: databaseTableName, .init(destination), key, foreignKey))
    }

    /// Declares an association to the rows that are reached through one association and then another.
    ///
    ///     extension Owner {
    ///         static let attachments = hasMany(Attachment.self, through: items, using: Item.attachments)
    ///     }
    ///
    /// - Parameters:
    ///   - destination: the type that the rows of the second association are decoded to.
    ///   - pivot: the association from this table to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the key of the associated rows; nil uses the key of `target`.
    public static func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasManyThroughAssociation(
            .through(
                pivot._sqlAssociation, target._sqlAssociation, key: key.map(AssociationKey.init(ofMany:))))
    }

    /// Declares an association to the row that is reached through one association to a single row and then
    /// another.
    ///
    ///     extension Attachment {
    ///         static let owner = hasOne(Owner.self, through: item, using: Item.owner)
    ///     }
    ///
    /// - Parameters:
    ///   - destination: the type that the row of the second association is decoded to.
    ///   - pivot: the association from this table to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the key of the associated row; nil uses the key of `target`.
    public static func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasOneThroughAssociation(
            .through(pivot._sqlAssociation, target._sqlAssociation, key: key.map(AssociationKey.init(ofOne:)))
        )
    }

    /// Declares an association to a common table expression, with a condition.
    ///
    ///     let heavy = CommonTableExpression(named: "heavy", request: Item.filter { $0.weight > 20_000 })
    ///     let load = Owner.association(to: heavy) { owner, item in item[Column("ownerId")] == owner.id }
    ///     let request = Owner.with(heavy).including(optional: load)
    ///
    /// The request must define each common table expression with `with(_:)`.
    ///
    /// - Parameter condition: a closure that returns the condition for a pair of rows. Its arguments are
    ///   aliases for the two tables.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<Self>, _ right: TableAlias<Destination>) ->
            any SQLExpressible
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(.toAny(.init(cte), by: JoinCondition.predicate(condition)))
    }

    /// Declares an association to a common table expression, without a condition: each row is associated with
    /// every row.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(.toAny(.init(cte), by: nil))
    }
}
