public import Foundation
internal import SQLCipherBridge

/// A collation, that is, an order of strings, written in Swift.
///
/// Add a collation to each connection that uses it, preferably in ``Configuration/prepareDatabase(_:)``. If a
/// schema names a collation, only connections with this collation can use the database. Indexes remain valid
/// only as long as the order does not change.
///
/// Collations run while a statement is executed, and must not use the connection.
public final class DatabaseCollation: Identifiable, Sendable {
    /// The identity of a collation: its name, compared without regard to the case of ASCII letters.
    public struct ID: Hashable, Sendable {
        let name: CaseInsensitiveName
    }

    /// The name of the collation in SQL.
    public var id: ID { ID(name: CaseInsensitiveName(name)) }

    /// The name of the collation in SQL.
    public let name: String

    private let compare: @Sendable (String, String) -> ComparisonResult

    /// Creates a collation.
    ///
    /// - Parameters:
    ///   - name: the name of the collation in SQL.
    ///   - function: compares the first string with the second one. It must be a total order that never
    ///     changes.
    public init(_ name: String, function: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.name = name
        compare = function
    }
}

extension DatabaseCollation {
    func install(on connection: ConnectionHandle) throws(EngineError) {
        let compare = compare
        try connection.createCollation(name) { left, right in
            CInt(compare(left.string, right.string).rawValue)
        }
    }

    func uninstall(from connection: ConnectionHandle) throws(EngineError) {
        try connection.removeCollation(name)
    }
}
