/// A relation from one type of rows, the origin, to another one, the destination.
///
///     extension Owner { static let items = hasMany(Item.self) }
///     extension Item { static let owner = belongsTo(Owner.self) }
///
/// Associations are made by functions of ``TableRecord``, ``Table`` and ``CommonTableExpression``, and used
/// by requests: see ``JoinableRequest`` and ``AssociationAggregate``. They are requests of their destination
/// that are not fetched by themselves: filter, sort, and join them as any request.
///
///     Owner.including(all: Owner.items.filter { $0.worth > 5000 }.order(\.name))
///
/// An association is a value. It can be made at any time, kept in a constant, and shared by threads. The
/// schema is looked at when a request that has it is used: a missing or ambiguous foreign key throws a
/// ``DatabaseError`` then.
public protocol Association: DerivableRequest, Sendable {
    /// What the rows of the origin become.
    associatedtype OriginRowDecoder

    /// What is behind the association; it has nothing for applications.
    var _sqlAssociation: _SQLAssociation { get set }

    /// The association with another key: the name of the property that its rows are decoded from, and of the
    /// scope or the prefetched rows.
    ///
    /// Associations of one request that have the same key are one. With keys of their own, two of the same
    /// table are joined twice.
    func forKey(_ key: String) -> Self
}

extension Association {
    /// The association with the name of a coding key for its key: see ``forKey(_:)-(String)``.
    public func forKey(_ codingKey: some CodingKey) -> Self { forKey(codingKey.stringValue) }
}

/// An association that leads to one row, or none.
public protocol AssociationToOne: Association {}

extension AssociationToOne {
    /// The association with another key, which is used as it is where one row is meant, and in the plural on
    /// the way to several.
    public func forKey(_ key: String) -> Self {
        var result = self
        result._sqlAssociation = _sqlAssociation.withKey(AssociationKey(ofOne: key))
        return result
    }
}

/// An association that leads to any number of rows.
public protocol AssociationToMany: Association {}

extension AssociationToMany {
    /// The association with another key, which is used as it is by `including(all:)`, and in the singular
    /// where one row is meant.
    ///
    ///     // The rows are in "heavyItems", the number of them is in the column "heavyItemCount".
    ///     let heavyItems = Owner.items.filter { $0.weight > 20_000 }.forKey("heavyItems")
    public func forKey(_ key: String) -> Self {
        var result = self
        result._sqlAssociation = _sqlAssociation.withKey(AssociationKey(ofMany: key))
        return result
    }
}
