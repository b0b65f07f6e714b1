import Coffer
import CofferTestSupport

/// A random schema with random rows, and the results of associations in it, computed with nested loops.
struct RandomGraph {
    struct Reference {
        let origin: Int
        let destination: Int
        let columns: [String]
        let destinationColumns: [String]
    }

    typealias Values = [String: Int64?]

    let tableNames: [String]
    private(set) var references: [Reference] = []
    private(set) var rows: [[Values]] = []

    init(_ random: inout SeededRandom) {
        let names = ["node1", "node2", "Branch", "leaf", "my table", "person", "order", "tree"].shuffled(
            using: &random)
        tableNames = Array(names.prefix(.random(in: 3...8, using: &random)))
        for origin in tableNames.indices {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let number = references.count
                let isComposite = Bool.random(using: &random)
                references.append(
                    Reference(
                        origin: origin, destination: .random(in: tableNames.indices, using: &random),
                        columns: isComposite ? ["f\(number)a", "f\(number)b"] : ["f\(number)"],
                        destinationColumns: isComposite ? ["k1", "k2"] : ["id"]))
            }
        }
        for table in tableNames.indices {
            rows.append(
                (0..<Int.random(in: 0...6, using: &random)).map { index in
                    var values: Values = [
                        "id": Int64(index + 1), "k1": Int64(index / 2), "k2": Int64(index % 2),
                        "v": Int64.random(in: 0...3, using: &random),
                    ]
                    for reference in references where reference.origin == table {
                        // Some keys refer to a missing row, and some are partly NULL.
                        for column in reference.columns {
                            let largest: Int64 = reference.columns.count == 1 ? 6 : 1
                            values[column] = .some(
                                Int.random(in: 0...5, using: &random) == 0
                                    ? nil : .random(in: 0...largest, using: &random))
                        }
                    }
                    return values
                })
        }
    }

    func create(_ db: Database) throws {
        for (index, name) in tableNames.enumerated() {
            let own = references.filter { $0.origin == index }
            var parts = ["id INTEGER PRIMARY KEY", "k1 INTEGER", "k2 INTEGER", "v INTEGER"]
            parts += own.flatMap(\.columns).map { "\($0) INTEGER" }
            parts.append("UNIQUE (k1, k2)")
            parts += own.map { reference in
                "FOREIGN KEY (\(reference.columns.joined(separator: ", "))) REFERENCES \"\(tableNames[reference.destination])\""
                    + "(\(reference.destinationColumns.joined(separator: ", ")))"
            }
            try db.execute(sql: "CREATE TABLE \"\(name)\" (\(parts.joined(separator: ", ")))")
            for row in rows[index] {
                let columns = row.keys.sorted()
                let values: [Int64?] = columns.map { row[$0] ?? nil }
                let places = columns.map { _ in "?" }.joined(separator: ", ")
                try db.execute(
                    sql: "INSERT INTO \"\(name)\" (\(columns.joined(separator: ", "))) VALUES (\(places))",
                    arguments: StatementArguments(values))
            }
        }
    }
}

// MARK: - Requests

/// A table of a random request, with its associations.
struct RandomNode {
    let table: Int

    /// The lower bound, exclusive, for the column "v".
    let bound: Int64?
    var edges: [RandomEdge] = []
}

struct RandomEdge {
    enum Kind: CaseIterable {
        case includingRequired, includingOptional, joiningRequired, joiningOptional, all, passage

        var isJoin: Bool { self != .all && self != .passage }
        var isRequired: Bool { self == .includingRequired || self == .joiningRequired }
        var selects: Bool { self != .joiningRequired && self != .joiningOptional }
    }

    let key: String
    let reference: RandomGraph.Reference

    /// True if the preceding table has the foreign key.
    let isForward: Bool
    let kind: Kind
    var node: RandomNode
}

struct RandomTreeMaker {
    let graph: RandomGraph
    private var keyCount = 0

    init(_ graph: RandomGraph) { self.graph = graph }

    mutating func root(_ random: inout SeededRandom) -> RandomNode {
        node(.random(in: graph.tableNames.indices, using: &random), depth: 3, isOptional: false, &random)
    }

    private mutating func node(_ table: Int, depth: Int, isOptional: Bool, _ random: inout SeededRandom)
        -> RandomNode
    {
        var result = RandomNode(table: table, bound: Int.random(in: 0...3, using: &random) == 0 ? 0 : nil)
        guard depth > 0 else { return result }
        for _ in 0..<Int.random(in: depth == 3 ? 1...3 : 0...2, using: &random) {
            let kinds = RandomEdge.Kind.allCases.filter { !isOptional || !$0.isRequired }
            guard let kind = kinds.randomElement(using: &random) else { continue }
            if let edge = edge(from: table, kind, depth: depth, isOptional: isOptional, &random) {
                result.edges.append(edge)
            }
        }
        return result
    }

    private mutating func edge(
        from table: Int, _ kind: RandomEdge.Kind, depth: Int, isOptional: Bool, mustBeToMany: Bool = true,
        _ random: inout SeededRandom
    ) -> RandomEdge? {
        let forward =
            kind == .all && mustBeToMany
            ? [] : graph.references.filter { $0.origin == table }.map { ($0, true) }
        let backward = graph.references.filter { $0.destination == table }.map { ($0, false) }
        guard let (reference, isForward) = (forward + backward).randomElement(using: &random) else {
            return nil
        }
        keyCount += 1
        let key = "k\(keyCount)"
        let target = isForward ? reference.destination : reference.origin
        var node: RandomNode
        switch kind {
        case .passage:
            node = RandomNode(table: target, bound: Bool.random(using: &random) ? 0 : nil)
            guard
                let last = edge(
                    from: target, .all, depth: depth, isOptional: false, mustBeToMany: false, &random)
            else { return nil }
            node.edges = [last]
        case .all:
            node = self.node(target, depth: depth - 1, isOptional: false, &random)
        default:
            node = self.node(target, depth: depth - 1, isOptional: isOptional || !kind.isRequired, &random)
        }
        return RandomEdge(key: key, reference: reference, isForward: isForward, kind: kind, node: node)
    }
}

extension RandomGraph {
    func request(_ node: RandomNode) -> QueryInterfaceRequest<Row> {
        refine(Table<Row>(tableNames[node.table]).all(), node)
    }

    private func refine<Request: DerivableRequest<Row>>(_ request: Request, _ node: RandomNode) -> Request {
        var request = request
        if let bound = node.bound { request = request.filter(Column("v") > bound) }
        for edge in node.edges {
            let table = Table<Row>(tableNames[node.table])
            let target = Table<Row>(tableNames[edge.node.table])
            let key = ForeignKey(edge.reference.columns)
            if edge.kind == .passage, let last = edge.node.edges.first {
                let end = Table<Row>(tableNames[last.node.table])
                let lastKey = ForeignKey(last.reference.columns)
                func through<Pivot: Association>(_ pivot: Pivot) -> HasManyThroughAssociation<Row, Row>
                where Pivot.OriginRowDecoder == Row, Pivot.RowDecoder == Row {
                    last.isForward
                        ? table.hasMany(
                            Row.self, through: pivot,
                            using: refine(target.belongsTo(end, using: lastKey), last.node), key: last.key)
                        : table.hasMany(
                            Row.self, through: pivot,
                            using: refine(target.hasMany(end, using: lastKey), last.node), key: last.key)
                }
                let bare = RandomNode(table: edge.node.table, bound: edge.node.bound)
                request =
                    edge.isForward
                    ? request.including(
                        all: through(refine(table.belongsTo(target, key: edge.key, using: key), bare)))
                    : request.including(
                        all: through(refine(table.hasMany(target, key: edge.key, using: key), bare)))
            } else if edge.isForward {
                request = add(
                    refine(table.belongsTo(target, key: edge.key, using: key), edge.node), edge.kind,
                    to: request)
            } else if edge.kind == .all {
                request = request.including(
                    all: refine(table.hasMany(target, key: edge.key, using: key), edge.node))
            } else {
                request = add(
                    refine(table.hasMany(target, key: edge.key, using: key), edge.node), edge.kind,
                    to: request)
            }
        }
        return request
    }

    private func add<Request: DerivableRequest<Row>, A: Association>(
        _ association: A, _ kind: RandomEdge.Kind, to request: Request
    ) -> Request where A.OriginRowDecoder == Row {
        switch kind {
        case .includingRequired: request.including(required: association)
        case .includingOptional: request.including(optional: association)
        case .joiningRequired: request.joining(required: association)
        case .joiningOptional: request.joining(optional: association)
        case .all, .passage: request
        }
    }
}

// MARK: - Fetched results

extension RandomGraph {
    /// Returns a row as text, with everything that was fetched for it.
    func text(_ row: Row?, _ node: RandomNode, selects: Bool = true, prefetched: Row? = nil) -> String {
        let isThere = row.map { selects ? $0.containsNonNullValue : true } ?? false
        var parts = selects ? [isThere ? "\((row?["id"] as Int64?) ?? -1)" : "NULL"] : []
        for edge in node.edges {
            switch edge.kind {
            case .all, .passage:
                let last = edge.kind == .all ? edge : edge.node.edges[0]
                // Keys are unique within a request, so the row itself finds the rows of its scopes.
                let rows = prefetched?.prefetchedRows[last.key] ?? row?.prefetchedRows[last.key]
                let texts =
                    rows.map { $0.map { text($0, last.node) }.sorted().joined(separator: ",") } ?? "missing"
                parts.append("\(last.key):[\(texts)]")
            default:
                let scope = row?.scopes[edge.key]
                parts.append(
                    "\(edge.key):"
                        + text(scope, edge.node, selects: edge.kind.selects, prefetched: prefetched ?? row))
            }
        }
        return "(\(parts.joined(separator: " ")))"
    }
}

// MARK: - Nested loops

extension RandomGraph {
    /// Returns the expected results of a request as texts, in any order.
    func expected(_ node: RandomNode) -> [String] { rows[node.table].flatMap { results(of: $0, node) } }

    /// Returns the result rows for one row of the first table of a statement.
    private func results(of row: Values, _ node: RandomNode) -> [String] {
        guard meets(row, node) else { return [] }
        return combinations(row, node).map { text($0, node, selects: true, base: row, path: []) }
    }

    private func meets(_ row: Values, _ node: RandomNode) -> Bool {
        node.bound.map { bound in ((row["v"] ?? nil) ?? -1) > bound } ?? true
    }

    /// Returns the rows that an association leads to.
    private func matches(_ row: Values, _ edge: RandomEdge) -> [Values] {
        let (left, right) =
            edge.isForward
            ? (edge.reference.columns, edge.reference.destinationColumns)
            : (edge.reference.destinationColumns, edge.reference.columns)
        let key = left.map { row[$0] ?? nil }
        guard !key.contains(nil) else { return [] }
        return rows[edge.node.table].filter { candidate in
            meets(candidate, edge.node) && right.map { candidate[$0] ?? nil } == key
        }
    }

    /// A row with its joined rows, or only NULL values.
    private final class Combination {
        let row: Values?
        let joined: [String: Combination]

        init(_ row: Values?, _ joined: [String: Combination]) { (self.row, self.joined) = (row, joined) }
    }

    private func combinations(_ row: Values, _ node: RandomNode, without omitted: String? = nil)
        -> [Combination]
    {
        var results: [[String: Combination]] = [[:]]
        for edge in node.edges where edge.kind.isJoin && edge.key != omitted {
            var joined = matches(row, edge).flatMap { combinations($0, edge.node) }
            if joined.isEmpty, !edge.kind.isRequired { joined = [nothing(edge.node)] }
            results = results.flatMap { result in joined.map { result.merging([edge.key: $0]) { $1 } } }
        }
        return results.map { Combination(row, $0) }
    }

    private func nothing(_ node: RandomNode) -> Combination {
        let joined = node.edges.filter(\.kind.isJoin).map { ($0.key, nothing($0.node)) }
        return Combination(nil, Dictionary(uniqueKeysWithValues: joined))
    }

    private func text(
        _ combination: Combination, _ node: RandomNode, selects: Bool, base: Values, path: [RandomEdge]
    ) -> String {
        var parts = selects ? [combination.row.flatMap { $0["id"] ?? nil }.map { "\($0)" } ?? "NULL"] : []
        for edge in node.edges {
            switch edge.kind {
            case .all, .passage:
                let way = edge.kind == .all ? [edge] : [edge, edge.node.edges[0]]
                let rows = prefetched(base, (path + way)[...])
                parts.append("\(way[way.count - 1].key):[\(rows.sorted().joined(separator: ","))]")
            default:
                let joined = combination.joined[edge.key] ?? nothing(edge.node)
                parts.append(
                    "\(edge.key):"
                        + text(joined, edge.node, selects: edge.kind.selects, base: base, path: path + [edge])
                )
            }
        }
        return "(\(parts.joined(separator: " ")))"
    }

    /// Returns the rows at the end of a path, repeated as often as joins along the path repeat them.
    private func prefetched(_ row: Values, _ path: ArraySlice<RandomEdge>) -> [String] {
        guard let edge = path.first else { return [] }
        let rest = path.dropFirst()
        return matches(row, edge).flatMap { match -> [String] in
            guard let next = rest.first else { return results(of: match, edge.node) }
            let repetitions = combinations(match, edge.node, without: next.key).count
            let rows = prefetched(match, rest)
            return (0..<repetitions).flatMap { _ in rows }
        }
    }
}
