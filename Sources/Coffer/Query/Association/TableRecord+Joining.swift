// The joining methods of a record type forward to the request for all of its rows.

extension TableRecord {
    /// Fetches all associated rows of each row: see ``JoinableRequest/including(all:)``.
    public static func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(all: association)
    }

    /// Adds the columns of the associated row, if there is one: see ``JoinableRequest/including(optional:)``.
    public static func including<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(optional: association)
    }

    /// Adds the columns of the associated row: see ``JoinableRequest/including(required:)``.
    public static func including<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(required: association)
    }

    /// Joins a table without selecting its columns: see ``JoinableRequest/joining(optional:)``.
    public static func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(optional: association)
    }

    /// Keeps the rows that have an associated row: see ``JoinableRequest/joining(required:)``.
    public static func joining<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(required: association)
    }

    /// Appends the selection of an association to the columns, or NULL if there is no associated row: see
    /// ``JoinableRequest/annotated(withOptional:)``.
    public static func annotated<A: Association>(
        withOptional association: A
    ) -> QueryInterfaceRequest<Self> where A.OriginRowDecoder == Self {
        all().annotated(withOptional: association)
    }

    /// Appends the selection of an association to the columns: see
    /// ``JoinableRequest/annotated(withRequired:)``.
    public static func annotated<A: Association>(
        withRequired association: A
    ) -> QueryInterfaceRequest<Self> where A.OriginRowDecoder == Self {
        all().annotated(withRequired: association)
    }

    /// Appends aggregates of associated rows to the columns: see ``AssociationAggregate``.
    public static func annotated(with aggregates: AssociationAggregate<Self>...) -> QueryInterfaceRequest<
        Self
    > {
        all().annotated(with: aggregates)
    }

    /// Appends aggregates of associated rows to the columns: see ``AssociationAggregate``.
    public static func annotated(with aggregates: [AssociationAggregate<Self>]) -> QueryInterfaceRequest<Self>
    {
        all().annotated(with: aggregates)
    }

    /// Keeps the rows whose associated rows meet a condition: see ``AssociationAggregate``.
    public static func having(_ predicate: AssociationAggregate<Self>) -> QueryInterfaceRequest<Self> {
        all().having(predicate)
    }
}
