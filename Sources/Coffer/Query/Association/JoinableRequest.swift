/// A request that other tables can be joined to, or fetched with.
///
///     // SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
///     let request = Item.including(required: Item.owner)
///
///     struct ItemInfo: Decodable, FetchableRecord { var item: Item; var owner: Owner }
///     let infos = try request.asRequest(of: ItemInfo.self).fetchAll(db)
public protocol JoinableRequest<RowDecoder>: TypedRequest {
    /// The request with the rows of an association, fetched after its own rows. See `including(all:)`.
    func _including(all association: _SQLAssociation) -> Self

    /// The request with the row of an association, if there is one. See `including(optional:)`.
    func _including(optional association: _SQLAssociation) -> Self

    /// The request with the row of an association. See `including(required:)`.
    func _including(required association: _SQLAssociation) -> Self

    /// The request with an association that is joined if there is a row. See `joining(optional:)`.
    func _joining(optional association: _SQLAssociation) -> Self

    /// The request with an association that is joined. See `joining(required:)`.
    func _joining(required association: _SQLAssociation) -> Self
}

extension JoinableRequest {
    /// Fetches, for each row, all rows of an association, by one more statement for all of them.
    ///
    ///     // SELECT * FROM "owner"
    ///     // SELECT *, "ownerId" AS "grdb_ownerId" FROM "item" WHERE "ownerId" IN (?, ?, ...)
    ///     struct OwnerInfo: Decodable, FetchableRecord { var owner: Owner; var items: [Item] }
    ///     let infos = try Owner.including(all: Owner.items).asRequest(of: OwnerInfo.self).fetchAll(db)
    ///
    /// A row without any gets an empty array. The request must select its columns of the foreign key. Counts,
    /// subqueries and values (`String.fetchAll`) leave these rows out; `fetchCursor` throws a
    /// ``DatabaseError``.
    public func including<A: AssociationToMany>(all association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(all: association._sqlAssociation)
    }

    /// Adds the columns of the associated row: those of NULL values where there is none. They are a scope of
    /// the row.
    ///
    /// Several associated rows repeat the row of the request.
    public func including<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(optional: association._sqlAssociation)
    }

    /// Adds the columns of the associated row, as a scope of the row. Rows without an associated one are left
    /// out.
    ///
    /// Several associated rows repeat the row of the request.
    public func including<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(required: association._sqlAssociation)
    }

    /// Joins a table without selecting anything of it, for conditions and orders that refer to it. See
    /// ``TableAlias``.
    public func joining<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _joining(optional: association._sqlAssociation)
    }

    /// Keeps the rows that have an associated row, without selecting anything of it.
    ///
    ///     // SELECT "item".* FROM "item" JOIN "owner" ON ("owner"."id" = "item"."ownerId") AND ("owner"."name" = 'Ada')
    ///     Item.joining(required: Item.owner.filter { $0.name == "Ada" })
    public func joining<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _joining(required: association._sqlAssociation)
    }
}

extension JoinableRequest where Self: SelectionRequest {
    /// Appends what an association selects to the columns of the row itself: NULL where there is no
    /// associated row. There is no scope.
    ///
    /// Give the columns names of their own: of equal names, the first column is the one that is found.
    public func annotated<A: Association>(withOptional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let (association, selection) = association._sqlAssociation.selectedByOrigin
        return _joining(optional: association).annotatedWhenConnected(with: selection)
    }

    /// Appends what an association selects to the columns of the row itself. Rows without an associated one
    /// are left out.
    ///
    ///     // SELECT "item".*, "owner"."name" AS "ownerName" FROM "item" JOIN "owner" ON ...
    ///     Item.annotated(withRequired: Item.owner.select { $0.name.forKey("ownerName") })
    public func annotated<A: Association>(withRequired association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let (association, selection) = association._sqlAssociation.selectedByOrigin
        return _joining(required: association).annotatedWhenConnected(with: selection)
    }
}

extension _SQLAssociation {
    /// The association, and its selection as one that the origin can make.
    fileprivate var selectedByOrigin: (_SQLAssociation, @Sendable (Database) throws -> [any SQLSelectable]) {
        let alias = TableAlias<Void>()
        let selection = destination.relation.selection
        return (
            with { $0.source.aliases.append(alias) },
            { db in try selection.resolve(db).map { alias[$0] as SQLSelection } }
        )
    }
}

extension QueryInterfaceRequest {
    public func _including(all association: _SQLAssociation) -> Self {
        with { $0.add(association, .prefetched) }
    }
    public func _including(optional association: _SQLAssociation) -> Self {
        with { $0.add(association, .optional) }
    }
    public func _including(required association: _SQLAssociation) -> Self {
        with { $0.add(association, .required) }
    }
    public func _joining(optional association: _SQLAssociation) -> Self {
        with { $0.add(association, .optional, selects: false) }
    }
    public func _joining(required association: _SQLAssociation) -> Self {
        with { $0.add(association, .required, selects: false) }
    }
}
