import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Workloads that read rows of several tables through associations.
enum Joining {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        guard assignment.workload.hasPrefix("join-") || assignment.workload.hasPrefix("all-") else {
            return nil
        }
        let pool = try DatabasePool(path: assignment.joinsFile, configuration: Engine.rawKeyed())
        let outcome = try joining(assignment, pool) ?? prefetching(assignment, pool)
        try pool.close()
        return outcome
    }

    private static func measured(
        _ assignment: Assignment, _ pool: DatabasePool, _ operations: Int, _ work: (Database) throws -> Int64
    ) throws -> Runner.Result {
        let (seconds, check) = try measure(
            repetitions: assignment.repetitions, prepare: {}, work: { try pool.read(work) })
        return Runner.Result(seconds: seconds, check: check, operations: operations)
    }

    private static func joining(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let keys = (0..<assignment.joinedRequests).map(assignment.itemKey)
        switch assignment.workload {
        case "join-struct":
            return try measured(assignment, pool, assignment.items) { db in
                try ItemInfo.fetchAll(db, Item.including(required: Item.owner)).reduce(0) {
                    $0 &+ $1.item.check &+ $1.owner.check
                }
            }
        case "join-codable":
            return try measured(assignment, pool, assignment.items) { db in
                try CodableItemInfo.fetchAll(db, CodableItem.including(required: CodableItem.owner))
                    .reduce(0) { $0 &+ $1.item.check &+ $1.owner.check }
            }
        case "join-count":
            return try measured(assignment, pool, assignment.owners) { db in
                try OwnerCount.fetchAll(db, Owner.annotated(with: Owner.items.count)).reduce(0) {
                    $0 &+ $1.owner.check &+ $1.itemCount
                }
            }
        case "join-request":
            return try measured(assignment, pool, keys.count) { db in
                try keys.reduce(0) { sum, key in
                    try ItemInTown.fetchAll(db, request(key)).reduce(sum) {
                        $0 &+ $1.item.check &+ $1.owner.check &+ $1.town.id &+ Int64($1.town.name.utf8.count)
                    }
                }
            }
        case "join-build":
            return try measured(assignment, pool, keys.count) { db in
                try keys.reduce(0) { sum, key in
                    let request = try request(key).makePreparedRequest(db, forSingleResult: false)
                    return sum &+ (request.adapter == nil ? 0 : 1)
                }
            }
        default: return nil
        }
    }

    private static func request(_ key: Int64) -> QueryInterfaceRequest<Item> {
        Item.including(required: Item.owner.including(optional: Owner.town)).filter(Column("id") == key)
    }

    private static func prefetching(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        switch assignment.workload {
        case "all-struct", "all-tenth":
            let owners = assignment.workload == "all-struct" ? assignment.owners : assignment.someOwners
            return try measured(assignment, pool, owners * Joins.itemsOfOwner) { db in
                try Family.fetchAll(db, Owner.filter(Column("id") <= owners).including(all: Owner.items))
                    .reduce(0) { sum, family in
                        family.items.reduce(sum &+ family.owner.check) { $0 &+ $1.check }
                    }
            }
        case "all-codable":
            return try measured(assignment, pool, assignment.items) { db in
                try CodableFamily.fetchAll(
                    db,
                    CodableOwner.filter(Column("id") <= assignment.owners).including(all: CodableOwner.items)
                )
                .reduce(0) { sum, family in family.items.reduce(sum &+ family.owner.check) { $0 &+ $1.check }
                }
            }
        default: return nil
        }
    }
}

// MARK: - Records whose columns are read by hand

private struct Town: TableRecord, FetchableRecord {
    var id: Int64
    var name: String

    init(row: Row) {
        id = row["id"]
        name = row["name"]
    }
}

private struct Owner: TableRecord, FetchableRecord {
    static let items = hasMany(Item.self)
    static let town = belongsTo(Town.self)

    var id: Int64
    var townID: Int64
    var name: String

    init(row: Row) {
        id = row["id"]
        townID = row["townId"]
        name = row["name"]
    }

    var check: Int64 { Joins.check(owner: id, townID, name.utf8.count) }
}

private struct Item: TableRecord, FetchableRecord {
    static let owner = belongsTo(Owner.self)

    var id: Int64
    var ownerID: Int64
    var name: String
    var price: Double

    init(row: Row) {
        id = row["id"]
        ownerID = row["ownerId"]
        name = row["name"]
        price = row["price"]
    }

    var check: Int64 { Joins.check(item: id, ownerID, name.utf8.count, price) }
}

private struct ItemInfo: FetchableRecord {
    var item: Item
    var owner: Owner

    init(row: Row) {
        item = Item(row: row)
        owner = row["owner"]
    }
}

private struct ItemInTown: FetchableRecord {
    var item: Item
    var owner: Owner
    var town: Town

    init(row: Row) {
        item = Item(row: row)
        owner = row["owner"]
        town = row["town"]
    }
}

private struct OwnerCount: FetchableRecord {
    var owner: Owner
    var itemCount: Int64

    init(row: Row) {
        owner = Owner(row: row)
        itemCount = row["itemCount"]
    }
}

private struct Family: FetchableRecord {
    var owner: Owner
    var items: [Item]

    init(row: Row) {
        owner = Owner(row: row)
        items = row["items"]
    }
}

// MARK: - Codable records

private struct CodableOwner: Codable, TableRecord, FetchableRecord {
    static let databaseTableName = "owner"
    static let items = hasMany(CodableItem.self)

    var id: Int64
    var townId: Int64
    var name: String

    var check: Int64 { Joins.check(owner: id, townId, name.utf8.count) }
}

private struct CodableItem: Codable, TableRecord, FetchableRecord {
    static let databaseTableName = "item"
    static let owner = belongsTo(CodableOwner.self)

    var id: Int64
    var ownerId: Int64
    var name: String
    var price: Double

    var check: Int64 { Joins.check(item: id, ownerId, name.utf8.count, price) }
}

private struct CodableItemInfo: Decodable, FetchableRecord {
    var item: CodableItem
    var owner: CodableOwner
}

private struct CodableFamily: Decodable, FetchableRecord {
    var owner: CodableOwner
    var items: [CodableItem]
}
