/// The tables of the workloads with associations: each owner has a hundred items, and each town has owners.
public enum Joins {
    /// The number of items of an owner.
    public static let itemsOfOwner = 100

    public static let schema = """
        CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE owner (id INTEGER PRIMARY KEY, townId INTEGER NOT NULL REFERENCES town(id), name TEXT \
        NOT NULL);
        CREATE TABLE item (
            id INTEGER PRIMARY KEY, ownerId INTEGER NOT NULL REFERENCES owner(id), name TEXT NOT NULL, price \
        REAL NOT NULL);
        """

    /// Returns SQL that creates the rows. The items of an owner are far from each other in the file, as in
    /// real data.
    public static func insert(items: Int) -> String {
        """
        INSERT INTO town WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 16) SELECT i, \
        'Town number ' || i FROM n;
        INSERT INTO owner WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
        LIMIT \(items / itemsOfOwner))
        SELECT i, i % 16 + 1, 'Owner number ' || i FROM n;
        INSERT INTO item WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(items))
        SELECT i, i % \(items / itemsOfOwner) + 1, 'Item number ' || i, i % 500 / 4.0 FROM n;
        CREATE INDEX item_on_ownerId ON item (ownerId);
        """
    }

    public static let itemsWithOwners = """
        SELECT "item".*, "owner".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId"
        """

    public static let ownersWithCounts = """
        SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner" LEFT JOIN "item" ON \
        "item"."ownerId" = "owner"."id" GROUP BY "owner"."id"
        """

    public static let itemOfKey = """
        SELECT "item".*, "owner".*, "town".* FROM "item" JOIN "owner" ON "owner"."id" = "item"."ownerId" \
        LEFT JOIN "town" ON "town"."id" = "owner"."townId" WHERE "item"."id" = ?
        """

    @inlinable
    public static func check(item id: Int64, _ ownerID: Int64, _ nameLength: Int, _ price: Double) -> Int64 {
        id &+ ownerID &+ Int64(nameLength) &+ Int64(price * 4)
    }

    @inlinable
    public static func check(owner id: Int64, _ townID: Int64, _ nameLength: Int) -> Int64 {
        id &+ townID &+ Int64(nameLength)
    }
}

extension Assignment {
    /// The file of the workloads with associations.
    public var joinsFile: String { folder + "/joins.db" }

    /// The number of items in the file.
    public var items: Int { owners * Joins.itemsOfOwner }
    public var owners: Int { max(rows / Joins.itemsOfOwner, 10) }

    /// A tenth of the owners, for a comparison with all of them.
    public var someOwners: Int { owners / 10 }

    /// The number of joined requests.
    public var joinedRequests: Int { max(calls / 10, 100) }

    /// Returns keys of items in an order that no cache can predict, identical in every runner.
    public func itemKey(_ index: Int) -> Int64 { Int64((index &* 7919) % items) + 1 }
}
