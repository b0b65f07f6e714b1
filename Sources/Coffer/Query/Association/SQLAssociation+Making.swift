extension _SQLAssociation {
    /// The destination of an association: a table and its selection.
    struct Target {
        let relation: Relation

        init(_ record: (some TableRecord).Type) {
            relation = Relation(
                table: record.databaseTableName, selection: record.databaseSelection.map(\.sqlSelection))
        }

        init(_ table: Table<some Any>) {
            relation = Relation(table: table.tableName, selection: [.allColumns])
        }

        init(_ cte: CommonTableExpression<some Any>) {
            relation = Relation(table: cte.tableName, selection: [.allColumns])
        }
    }

    /// Creates an association by a foreign key of either the left table or the right one.
    private static func toTable(
        from tableName: String, to target: Target, key: AssociationKey?, _ foreignKey: ForeignKey?,
        originIsLeft: Bool, isToOne: Bool
    ) -> _SQLAssociation {
        let destinationName = target.relation.source.tableName
        let sqlForeignKey = SQLForeignKey(
            originTable: originIsLeft ? tableName : destinationName,
            destinationTable: originIsLeft ? destinationName : tableName,
            foreignKey: foreignKey)
        return _SQLAssociation(
            Step(
                key: key ?? AssociationKey(tableName: destinationName),
                condition: .foreignKey(sqlForeignKey, originIsLeft: originIsLeft), relation: target.relation,
                isToOne: isToOne))
    }

    /// Creates an association by a foreign key of the origin.
    static func belonging(_ origin: String, to target: Target, _ key: String?, _ foreignKey: ForeignKey?)
        -> _SQLAssociation
    {
        toTable(
            from: origin, to: target, key: key.map(AssociationKey.init(ofOne:)), foreignKey,
            originIsLeft: true, isToOne: true)
    }

    /// Creates an association by a foreign key of the destination, which at most one row has.
    static func one(of origin: String, _ target: Target, _ key: String?, _ foreignKey: ForeignKey?)
        -> _SQLAssociation
    {
        toTable(
            from: origin, to: target, key: key.map(AssociationKey.init(ofOne:)), foreignKey,
            originIsLeft: false, isToOne: true)
    }

    /// Creates an association by a foreign key of the destination.
    static func many(of origin: String, _ target: Target, _ key: String?, _ foreignKey: ForeignKey?)
        -> _SQLAssociation
    {
        toTable(
            from: origin, to: target, key: key.map(AssociationKey.init(ofMany:)), foreignKey,
            originIsLeft: false, isToOne: false)
    }

    /// Creates an association with any condition, or none.
    static func toAny(_ target: Target, by predicate: JoinCondition.Predicate?) -> _SQLAssociation {
        _SQLAssociation(
            Step(
                key: AssociationKey(tableName: target.relation.source.tableName),
                condition: .predicate(predicate, isReversed: false),
                relation: target.relation, isToOne: true))
    }

    /// Creates an association through two others.
    static func through(_ pivot: _SQLAssociation, _ target: _SQLAssociation, key: AssociationKey?)
        -> _SQLAssociation
    {
        let association = _SQLAssociation(through: pivot, using: target)
        return key.map(association.withKey) ?? association
    }
}
