/// A request that can join other tables, or prefetch their rows.
///
///     // SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
///     let request = Item.including(required: Item.owner)
///
///     struct ItemInfo: Decodable, FetchableRecord { var item: Item; var owner: Owner }
///     let infos = try request.asRequest(of: ItemInfo.self).fetchAll(db)
public protocol JoinableRequest<RowDecoder>: TypedRequest {
    /// Returns the request with the rows of an association, fetched after its own rows. See
    /// `including(all:)`.
    func _including(all association: _SQLAssociation) -> Self

    /// Returns the request with the row of an association, if there is one. See `including(optional:)`.
    func _including(optional association: _SQLAssociation) -> Self

    /// Returns the request with the row of an association. See `including(required:)`.
    func _including(required association: _SQLAssociation) -> Self

    /// Returns the request with an optional join of an association. See `joining(optional:)`.
    func _joining(optional association: _SQLAssociation) -> Self

    /// Returns the request with a required join of an association. See `joining(required:)`.
    func _joining(required association: _SQLAssociation) -> Self
}

extension JoinableRequest {
    /// Fetches all associated rows of each row, with one more statement for all rows.
    ///
    ///     // SELECT * FROM "owner"
    ///     // SELECT *, "ownerId" AS "grdb_ownerId" FROM "item" WHERE "ownerId" IN (?, ?, ...)
    ///     struct OwnerInfo: Decodable, FetchableRecord { var owner: Owner; var items: [Item] }
    ///     let infos = try Owner.including(all: Owner.items).asRequest(of: OwnerInfo.self).fetchAll(db)
    ///
    /// A row without associated rows gets an empty array. The request must select its columns of the foreign
    /// key. Counts, subqueries and values (`String.fetchAll`) ignore the associated rows; `fetchCursor`
    /// throws a ``DatabaseError``.
    public func including<A: AssociationToMany>(all association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(all: association._sqlAssociation)
    }

    /// Adds the columns of the associated row as a scope of the row. They are NULL if there is no associated
    /// row.
    ///
    /// If there are several associated rows, the row of the request is repeated for each.
    public func including<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(optional: association._sqlAssociation)
    }

    /// Adds the columns of the associated row as a scope of the row. Rows without an associated row are
    /// omitted.
    ///
    /// If there are several associated rows, the row of the request is repeated for each.
    public func including<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _including(required: association._sqlAssociation)
    }

    /// Joins a table without selecting its columns, for conditions and orderings that refer to it. See
    /// ``TableAlias``.
    public func joining<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _joining(optional: association._sqlAssociation)
    }

    /// Keeps the rows that have an associated row, without selecting its columns.
    ///
    ///     // SELECT "item".* FROM "item" JOIN "owner" ON ("owner"."id" = "item"."ownerId") AND ("owner"."name" = 'Ada')
    ///     Item.joining(required: Item.owner.filter { $0.name == "Ada" })
    public func joining<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        _joining(required: association._sqlAssociation)
    }
}

extension JoinableRequest where Self: SelectionRequest {
    /// Appends the selection of an association to the columns of the row itself, without a scope. The columns
    /// are NULL if there is no associated row.
    ///
    /// Give the columns unique names: if several columns have the same name, only the first one is found.
    public func annotated<A: Association>(withOptional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let (association, selection) = association._sqlAssociation.selectedByOrigin
        return _joining(optional: association).annotatedWhenConnected(with: selection)
    }

    /// Appends the selection of an association to the columns of the row itself. Rows without an associated
    /// row are omitted.
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
    /// The association, and its selection as a selection of the origin.
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
