/// Parts of a request that are known now, or as soon as there is a connection that knows the schema.
enum Deferred<Element: Sendable>: Sendable {
    case values([Element])
    case connected(@Sendable (Database) throws -> [Element])

    /// No part.
    static var none: Self { .values([]) }

    /// Whether it is known that there is no part.
    var isEmpty: Bool {
        if case .values(let values) = self { values.isEmpty } else { false }
    }

    func resolve(_ db: Database) throws -> [Element] {
        switch self {
        case .values(let values): values
        case .connected(let values): try values(db)
        }
    }

    mutating func append(_ other: Deferred) {
        switch (self, other) {
        case (.values(let values), .values(let newValues)):
            self = .values(values + newValues)
        case (.values(let values), _) where values.isEmpty:
            self = other
        case (let first, _):
            self = .connected { db in try first.resolve(db) + other.resolve(db) }
        }
    }
}
