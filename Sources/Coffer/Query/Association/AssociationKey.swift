/// The name of an association among the associations of its origin: singular where it stands for one row,
/// plural where it stands for an array of rows.
struct AssociationKey: Sendable {
    private enum Form {
        /// The name comes from a table, and is converted to either form.
        case inflected
        /// The name was given to an association to one row.
        case singular
        /// The name was given to an association to many rows.
        case plural
    }

    private let name: String
    private let form: Form

    /// Creates the key that is derived from the name of a table.
    init(tableName: String) { (name, form) = (tableName, .inflected) }

    /// Creates a key that was given to an association to one row.
    init(ofOne name: String) { (self.name, form) = (name, .singular) }

    /// Creates a key that was given to an association to many rows.
    init(ofMany name: String) { (self.name, form) = (name, .plural) }

    /// The name of the scope if the association is joined.
    var singular: String { form == .singular ? name : Inflections.singular(name) }

    /// The name of the rows that are prefetched for it.
    var plural: String { form == .plural ? name : Inflections.plural(name) }
}
