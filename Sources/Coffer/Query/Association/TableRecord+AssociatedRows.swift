extension TableRecord where Self: EncodableRecord {
    /// Returns a request for the rows that are associated with this record.
    ///
    ///     // SELECT * FROM "item" WHERE "ownerId" = 1 ORDER BY "name"
    ///     let items = try owner.request(for: Owner.items.order(\.name)).fetchAll(db)
    ///
    /// The record does not need to be in the database: the request uses the values of its columns. If one of
    /// them is NULL or missing, the request has no rows.
    ///
    /// - Returns: a request that can be refined further. When it is used, it throws any error that
    ///   ``EncodableRecord/encode(to:)`` has thrown, and a ``DatabaseError`` if there is no foreign key.
    public func request<A: Association>(for association: A) -> QueryInterfaceRequest<A.RowDecoder>
    where A.OriginRowDecoder == Self {
        let values = Result { try PersistenceContainer(self).databaseValues }
        return QueryInterfaceRequest(relation: association._sqlAssociation.relation(forOriginWith: values))
    }
}

extension PersistenceContainer {
    /// The values of the columns, by column name.
    fileprivate var databaseValues: [CaseInsensitiveName: DatabaseValue] {
        var result: [CaseInsensitiveName: DatabaseValue] = [:]
        for name in names.prefix(values.count) {
            result[CaseInsensitiveName(name)] = self[name]?.databaseValue ?? .null
        }
        return result
    }
}

extension _SQLAssociation {
    /// Returns the relation of the destination's rows for an origin with the given values.
    fileprivate func relation(forOriginWith values: Result<[CaseInsensitiveName: DatabaseValue], any Error>)
        -> Relation
    {
        let condition = steps[0].condition
        let tableName = steps[0].relation.source.tableName
        let path = steps.map {
            AssociatedRelation(
                key: $0.key.singular, kind: .required, condition: $0.condition, relation: $0.relation)
        }
        return path.relationBackToOrigin { first, _ in
            first.filters.append(
                .connected { db in
                    let values = try values.get()
                    guard let columns = try condition.columns(db) else {
                        throw DatabaseError.misuse(
                            "request(for:) follows foreign keys. The association to "
                                + "\(tableName.quotedDatabaseIdentifier) has a condition of its own.")
                    }
                    let pairs = columns.map { ($0.right, values[CaseInsensitiveName($0.left)] ?? .null) }
                    guard !pairs.contains(where: \.1.isNull) else {
                        return [SQLExpression(impl: .boolean(false))]
                    }
                    return pairs.map { .binary(.equal, Column($0), SQLExpression.databaseValue($1)) }
                })
            return []
        }
    }
}
