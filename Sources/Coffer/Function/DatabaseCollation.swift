public import Foundation
internal import SQLCipherBridge

/// An order of strings that is written in Swift.
///
/// A connection knows a collation once it was added, best in ``Configuration/prepareDatabase(_:)``. A
/// database whose schema names a collation can be used only by connections that know it, and indexes stay
/// right only as long as the order stays the same.
///
/// Collations run in the middle of statements, and must not use the connection.
public final class DatabaseCollation: Identifiable, Sendable {
    /// What distinguishes collations: their name, without regard to the case of ASCII letters.
    public struct ID: Hashable, Sendable {
        let name: CaseInsensitiveName
    }

    /// What the collation is called in SQL.
    public var id: ID { ID(name: CaseInsensitiveName(name)) }

    /// What the collation is called in SQL.
    public let name: String

    private let compare: @Sendable (String, String) -> ComparisonResult

    private init(name: String, compare: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.name = name
        self.compare = compare
    }

    /// Creates a collation.
    ///
    /// - Parameters:
    ///   - name: what the collation is called in SQL.
    ///   - function: how the first string sorts beside the second one. It must be a total order that never
    ///     changes.
    public convenience init(
        _ name: String, function: @escaping @Sendable (String, String) -> ComparisonResult
    ) {
        self.init(name: name, compare: function)
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
