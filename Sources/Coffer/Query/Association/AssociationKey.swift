/// What an association is called among those of its origin: in the singular where it stands for one row, in
/// the plural where it stands for an array of them.
struct AssociationKey: Sendable {
    private enum Form {
        /// The name comes from a table, and is brought into either form.
        case inflected
        /// The name was given to an association to one row.
        case singular
        /// The name was given to an association to many rows.
        case plural
    }

    private let name: String
    private let form: Form

    /// The key that follows from the name of a table.
    init(tableName: String) { (name, form) = (tableName, .inflected) }

    /// A key that was given to an association to one row.
    init(ofOne name: String) { (self.name, form) = (name, .singular) }

    /// A key that was given to an association to many rows.
    init(ofMany name: String) { (self.name, form) = (name, .plural) }

    /// The name of the scope where the association is joined.
    var singular: String { form == .singular ? name : Inflections.singular(name) }

    /// The name of the rows that are fetched for it.
    var plural: String { form == .plural ? name : Inflections.plural(name) }
}
