/// The state of a custom aggregate: one instance for each group of rows.
///
/// To use it in SQL, create a function with ``DatabaseFunction/init(_:argumentCount:pure:aggregate:)``.
public protocol DatabaseAggregate: SendableMetatype {
    /// Creates the state of a group before its first row.
    init()

    /// Updates the state with a row of the group.
    ///
    /// - Throws: any error, which makes the statement fail.
    mutating func step(_ dbValues: [DatabaseValue]) throws

    /// Returns the result of the group; nil is NULL. It is called once, after the last row.
    ///
    /// - Throws: any error, which makes the statement fail.
    func finalize() throws -> (any DatabaseValueConvertible)?
}
