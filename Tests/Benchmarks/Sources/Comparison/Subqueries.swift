import Foundation

extension Comparison {
    private typealias C = Item.Columns

    /// Subqueries and common table expressions.
    static func subqueries(_ area: Area) {
        area.rows("in", Vault.filter(Item.select(C.vaultId).contains(Column("id"))))
        area.rows("in.not", Vault.filter(!Item.select(C.vaultId).contains(Column("id"))))
        area.rows(
            "in.filtered",
            Item.filter(
                Vault.filter(Column("color") == "red").selectPrimaryKey(as: Int64.self).contains(C.vaultId)))
        area.rows("in.ordered", Item.filter(Item.select(C.id).order(C.size.desc).limit(2).contains(C.id)))
        area.rows("in.sql", Item.filter(SQLRequest<Int>("SELECT \(1) UNION SELECT 2").contains(C.id)))
        area.rows("equal", Item.filter(C.size == Item.select(max(C.size))))
        area.rows("less", Item.filter(C.size < Item.select(average(C.size))))
        area.rows("sum", Item.select(C.id, (C.size - Item.select(min(C.size))).forKey("above")))
        area.rows("exists", Vault.filter(Item.filter(C.vaultId == 1).exists()))
        area.rows("exists.not", Vault.filter(!Item.filter(C.vaultId == 9).exists()))
        area.rows(
            "exists.alias",
            {
                let vault = TableAlias(name: "v")
                return Vault.aliased(vault).filter(Item.filter(C.vaultId == vault[Column("id")]).exists())
            }())
        area.rows(
            "exists.alias.unnamed",
            {
                let vault = TableAlias()
                return Vault.aliased(vault).filter(
                    !Item.filter(C.vaultId == vault[Column("id")] && C.size > 30).exists())
            }())
        area.rows(
            "exists.sql",
            Vault.filter(SQLRequest<Int>("SELECT 1 FROM item WHERE vaultId = vault.id").exists()))
        area.rows(
            "selected",
            {
                let vault = TableAlias(name: "v")
                let items = Item.filter(C.vaultId == vault[Column("id")]).select(count(C.id))
                return Vault.aliased(vault).annotated(with: items.forKey("items"))
            }())
        area.rows(
            "nested",
            Owner.filter(
                Vault.filter(Item.filter(C.size > 30).select(C.vaultId).contains(Column("id"))).select(
                    Column("ownerId")
                ).contains(
                    Column("id"))))
        area.rows("ordered", Vault.order(Item.select(max(C.size)).desc, Column("id")))
        area.rows(
            "same.table",
            {
                let other = TableAlias(name: "other")
                return Item.filter(
                    Item.aliased(other).filter(other[C.size] > 45).select(other[C.kind]).contains(C.kind))
            }())
        area.rows(
            "cte.request",
            {
                let pinned = CommonTableExpression(named: "pin", request: Item.filter(C.isPinned))
                return Vault.with(pinned).filter(
                    pinned.all().select(Column("vaultId")).contains(Column("id")))
            }())
        area.rows(
            "cte.all",
            {
                let pinned = CommonTableExpression<Item>(named: "pin", request: Item.filter(C.isPinned))
                return pinned.all().with(pinned).order(C.id)
            }())
        area.rows(
            "cte.columns",
            {
                let sizes = CommonTableExpression<Row>(
                    named: "sizes", columns: ["vault", "total"],
                    request: Item.select(C.vaultId, sum(C.size)).group(C.vaultId))
                return sizes.all().with(sizes).filter(Column("total") > 30)
            }())
        area.rows(
            "cte.columns.empty",
            {
                let one = CommonTableExpression<Row>(
                    named: "one", columns: [] as [String], sql: "SELECT 1 AS n")
                return one.all().with(one)
            }())
        area.rows(
            "cte.sql",
            {
                let one = CommonTableExpression<Row>(named: "one", sql: "SELECT ? AS n", arguments: [5])
                return one.all().with(one)
            }())
        area.rows(
            "cte.literal",
            {
                let one = CommonTableExpression<Row>(named: "one", columns: ["n"], literal: "SELECT \(6)")
                return Item.with(one).annotated(with: one.all().select(Column("n")).forKey("n"))
            }())
        area.rows(
            "cte.recursive",
            {
                let counter = CommonTableExpression<Int>(
                    recursive: true, named: "counter", columns: ["x"],
                    sql: "VALUES(1) UNION ALL SELECT x + 1 FROM counter WHERE x < 4")
                return counter.all().with(counter)
            }())
        area.rows(
            "cte.recursive.request",
            {
                let tree = CommonTableExpression<Folder>(
                    recursive: true, named: "tree",
                    literal:
                        "SELECT * FROM folder WHERE id = \(2) UNION ALL SELECT folder.* FROM folder JOIN "
                        + "tree ON folder.parentId = tree.id"
                )
                return Folder.with(tree).filter(tree.contains(Column("id"), "id"))
            }())
        area.rows(
            "cte.two",
            {
                let small = CommonTableExpression<Item>(named: "small", request: Item.filter(C.size < 30))
                let pinned = CommonTableExpression<Item>(
                    named: "pin", request: small.all().filter(C.isPinned))
                return pinned.all().with(small).with(pinned)
            }())
        area.rows(
            "cte.materialized",
            {
                let one = CommonTableExpression<Row>(named: "one", columns: ["n"], literal: "SELECT 1")
                return one.all().with(one).filter(Column("n") > 0)
            }())
        area.call("cte.update") { db in
            let small = CommonTableExpression<Item>(named: "small", request: Item.filter(C.size < 30))
            try Item.with(small).filter(small.all().select(C.id).contains(C.id)).updateAll(
                db, C.size.set(to: 0))
            return try Int.fetchAll(db, sql: "SELECT size FROM item WHERE size IS NOT NULL")
        }
        area.call("cte.delete") { db in
            let one = CommonTableExpression<Row>(named: "one", columns: ["n"], literal: "SELECT 1")
            return try Profile.with(one).filter(one.all().contains(Column("ownerId"))).deleteAll(db)
        }
        area.call("value") { db in
            try Item.select(Vault.select(max(Column("id"))).forKey("v"), as: Int.self).fetchAll(db)
        }
        area.call("literal") { db in
            let small = Item.filter(C.size < 30)
            let request: SQLRequest<String> =
                "SELECT title FROM vault WHERE id IN \(small.select(C.vaultId)) AND \(small.exists())"
            return try request.fetchAll(db)
        }
    }
}

extension CommonTableExpression {
    fileprivate func contains(_ column: Column, _ name: String) -> SQLExpression {
        all().select(Column(name)).contains(column)
    }
}
