// The joining methods of a table forward to the request for all of its rows.

extension Table {
    /// Fetches all associated rows of each row: see ``JoinableRequest/including(all:)``.
    public func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(all: association)
    }

    /// Adds the columns of the associated row, if there is one: see ``JoinableRequest/including(optional:)``.
    public func including<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(optional: association)
    }

    /// Adds the columns of the associated row: see ``JoinableRequest/including(required:)``.
    public func including<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(required: association)
    }

    /// Joins a table without selecting its columns: see ``JoinableRequest/joining(optional:)``.
    public func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(optional: association)
    }

    /// Keeps the rows that have an associated row: see ``JoinableRequest/joining(required:)``.
    public func joining<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(required: association)
    }

    /// Appends the selection of an association to the columns, or NULL if there is no associated row: see
    /// ``JoinableRequest/annotated(withOptional:)``.
    public func annotated<A: Association>(
        withOptional association: A
    ) -> QueryInterfaceRequest<RowDecoder> where A.OriginRowDecoder == RowDecoder {
        all().annotated(withOptional: association)
    }

    /// Appends the selection of an association to the columns: see
    /// ``JoinableRequest/annotated(withRequired:)``.
    public func annotated<A: Association>(
        withRequired association: A
    ) -> QueryInterfaceRequest<RowDecoder> where A.OriginRowDecoder == RowDecoder {
        all().annotated(withRequired: association)
    }

    /// Appends aggregates of associated rows to the columns: see ``AssociationAggregate``.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> QueryInterfaceRequest<
        RowDecoder
    > {
        all().annotated(with: aggregates)
    }

    /// Appends aggregates of associated rows to the columns: see ``AssociationAggregate``.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> QueryInterfaceRequest<
        RowDecoder
    > {
        all().annotated(with: aggregates)
    }

    /// Keeps the rows whose associated rows meet a condition: see ``AssociationAggregate``.
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().having(predicate)
    }
}
