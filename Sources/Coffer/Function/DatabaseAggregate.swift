/// The state of a custom aggregate: one instance for each group of rows.
///
/// It makes an SQL function by ``DatabaseFunction/init(_:argumentCount:pure:aggregate:)``.
public protocol DatabaseAggregate: SendableMetatype {
    /// Creates the state of a group before its first row.
    init()

    /// Takes one row of the group.
    ///
    /// - Throws: any error, to have the statement fail with it.
    mutating func step(_ dbValues: [DatabaseValue]) throws

    /// The result of the group; nil is NULL. Called once, after the last row.
    ///
    /// - Throws: any error, to have the statement fail with it.
    func finalize() throws -> (any DatabaseValueConvertible)?
}
