// The association types differ in their destination. Programs use them in the types of constants.

/// An association to the row that a foreign key of the origin refers to. See
/// ``TableRecord/belongsTo(_:key:using:)-(Destination.Type,_,_)``.
///
///     extension Item {
///         static let keeper: BelongsToAssociation<Item, Owner> = belongsTo(Owner.self)
///     }
public struct BelongsToAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}

/// An association to the row whose foreign key refers to the origin. See
/// ``TableRecord/hasOne(_:key:using:)-(Destination.Type,_,_)``.
///
///     extension Owner {
///         static let profile: HasOneAssociation<Owner, Profile> = hasOne(Profile.self)
///     }
public struct HasOneAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}

/// An association to all rows whose foreign key refers to the origin. See
/// ``TableRecord/hasMany(_:key:using:)-(Destination.Type,_,_)``.
///
///     extension Owner {
///         static let belongings: HasManyAssociation<Owner, Item> = hasMany(Item.self)
///     }
public struct HasManyAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}

/// An association to one row, through another association to one row. See
/// ``TableRecord/hasOne(_:through:using:key:)``.
///
///     extension Attachment {
///         static let owner: HasOneThroughAssociation<Attachment, Owner> = hasOne(Owner.self, through: item, using: Item.owner)
///     }
public struct HasOneThroughAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}

/// An association to any number of rows, through another association. See
/// ``TableRecord/hasMany(_:through:using:key:)``.
///
///     extension Owner {
///         static let attachments: HasManyThroughAssociation<Owner, Attachment> =
///             hasMany(Attachment.self, through: items, using: Item.attachments)
///     }
public struct HasManyThroughAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}

/// An association from or to a common table expression, with any condition. See
/// ``TableRecord/association(to:on:)``.
public struct JoinAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination

    public var _sqlAssociation: _SQLAssociation

    init(_ association: _SQLAssociation) { _sqlAssociation = association }
}
