/// A relationship from one type of rows, the origin, to another, the destination.
///
///     extension Owner { static let items = hasMany(Item.self) }
///     extension Item { static let owner = belongsTo(Owner.self) }
///
/// Functions of ``TableRecord``, ``Table`` and ``CommonTableExpression`` create associations, and requests
/// use them: see ``JoinableRequest`` and ``AssociationAggregate``. An association is a request for its
/// destination that is not fetched by itself: filter, sort and join it like any request.
///
///     Owner.including(all: Owner.items.filter { $0.worth > 5000 }.order(\.name))
///
/// An association is a value. It can be created at any time, stored in a constant, and shared between
/// threads. The schema is read when a request with the association is used. A missing or ambiguous foreign
/// key throws a ``DatabaseError`` at that point.
public protocol Association: DerivableRequest, Sendable {
    /// The type that rows of the origin are decoded to.
    associatedtype OriginRowDecoder

    /// The implementation of the association. Applications do not need it.
    var _sqlAssociation: _SQLAssociation { get set }

    /// Returns the association with another key: the name of the property that its rows are decoded from, and
    /// of the scope or the prefetched rows.
    ///
    /// Associations with the same key in one request are merged. With different keys, two associations to the
    /// same table join it twice.
    func forKey(_ key: String) -> Self
}

extension Association {
    /// Returns the association with the name of a coding key as its key: see ``forKey(_:)-(String)``.
    public func forKey(_ codingKey: some CodingKey) -> Self { forKey(codingKey.stringValue) }
}

/// An association to at most one row.
public protocol AssociationToOne: Association {}

extension AssociationToOne {
    /// Returns the association with another key. The key is used unchanged where it stands for one row, and
    /// in the plural on the way to several rows.
    public func forKey(_ key: String) -> Self {
        var result = self
        result._sqlAssociation = _sqlAssociation.withKey(AssociationKey(ofOne: key))
        return result
    }
}

/// An association to any number of rows.
public protocol AssociationToMany: Association {}

extension AssociationToMany {
    /// Returns the association with another key. The key is used unchanged by `including(all:)`, and in the
    /// singular where it stands for one row.
    ///
    ///     // The rows are in "heavyItems", their number in the column "heavyItemCount".
    ///     let heavyItems = Owner.items.filter { $0.weight > 20_000 }.forKey("heavyItems")
    public func forKey(_ key: String) -> Self {
        var result = self
        result._sqlAssociation = _sqlAssociation.withKey(AssociationKey(ofMany: key))
        return result
    }
}
