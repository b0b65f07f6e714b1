import Foundation

extension Comparison {
    private typealias C = Item.Columns

    private struct VaultInfo: Decodable, FetchableRecord {
        var vault: Vault
        var owner: Owner?
        var items: [Item]
    }
    private struct OwnerInfo: Decodable, FetchableRecord {
        struct VaultWithItems: Decodable { var vault: Vault; var items: [Item] }
        var owner: Owner
        var vaults: [VaultWithItems]
        var profile: Profile?
    }
    private struct Counts: Decodable, FetchableRecord { var vault: Vault; var itemCount: Int }
    private struct Titles: Decodable, FetchableRecord {
        var title: String; var items: [String]; var shares: Set<Int64>
    }
    private struct OptionalArrays: Decodable, FetchableRecord {
        var title: String; var items: [Item]?; var shares: [Share]?
    }
    private struct Nested: Decodable, FetchableRecord { var item: Item; var vault: Vault; var owner: Owner? }
    private struct TwoUnknown: Decodable, FetchableRecord { var first: Vault; var second: Vault }
    private struct MustHaveOwner: Decodable, FetchableRecord { var vault: Vault; var owner: Owner }

    /// Prefetched rows, aggregates, decoding, and requests for the associations of a record.
    static func prefetches(_ area: Area) {
        func prefetched<Request: FetchRequest>(_ name: String, _ request: @autoclosure () throws -> Request) {
            area.call("all." + name) { db in
                try Row.fetchAll(db, try request()).flatMap { row in
                    row.debugDescription.components(separatedBy: "\n")
                        + row.prefetchedRows.keys.sorted().flatMap { key in
                            (row.prefetchedRows[key] ?? []).map { "  \(key): \($0)" }
                        }
                }
            }
        }
        prefetched("many", Vault.including(all: Vault.items))
        prefetched("one.parent", Vault.filter(Column("id") == 1).including(all: Vault.items))
        prefetched("none.parent", Vault.none().including(all: Vault.items))
        prefetched("filtered", Vault.including(all: Vault.items.filter(C.size > 15).order(C.size.desc)))
        prefetched("key", Vault.including(all: Vault.items.forKey("things")))
        prefetched(
            "key.two",
            Vault.including(all: Vault.items.filter(C.isPinned).forKey("pinned")).including(all: Vault.items))
        prefetched("select", Vault.including(all: Vault.items.select(C.title)))
        prefetched(
            "annotated", Vault.including(all: Vault.items.annotated(with: (C.size * 2).forKey("double"))))
        prefetched("join.in", Vault.including(all: Vault.items.including(required: Item.attachments)))
        prefetched("join.out", Vault.including(optional: Vault.owner).including(all: Vault.items))
        prefetched(
            "nested",
            Owner.including(all: Owner.vaults.including(all: Vault.items.including(all: Item.attachments))))
        prefetched("siblings", Vault.including(all: Vault.items).including(all: Vault.shares))
        prefetched(
            "siblings.nested",
            Owner.including(all: Owner.vaults.including(all: Vault.items).including(all: Vault.shares)))
        prefetched("through", Owner.including(all: Owner.items.order(C.size)))
        prefetched(
            "through.filter",
            Owner.including(
                all: Owner.hasMany(
                    Item.self, through: Owner.vaults.filter(Column("color") == "red"), using: Vault.items)))
        prefetched(
            "through.two",
            Owner.including(
                all: Owner.hasMany(Attachment.self, through: Owner.items, using: Item.attachments)))
        prefetched("through.many", Vault.including(all: Vault.guests.order(Column("name"))))
        prefetched("through.shared", Owner.including(all: Owner.sharedVaults))
        prefetched(
            "through.merged",
            Owner.including(
                all: Owner.hasMany(
                    Item.self, through: Owner.vaults.filter(Column("color") == "red"), using: Vault.items)
            ).including(
                all: Owner.hasMany(
                    Item.self, through: Owner.vaults.filter(Column("title") == "Work"), using: Vault.items)))
        prefetched("in.one", Item.including(required: Item.vault.including(all: Vault.shares)))
        prefetched("in.one.optional", Vault.including(optional: Vault.owner.including(all: Owner.shares)))
        prefetched(
            "in.one.filtered",
            Item.including(required: Item.vault.filter(Column("color") == "red").including(all: Vault.items)))
        prefetched("self", Folder.including(optional: Folder.parent).including(all: Folder.children))
        prefetched(
            "self.nested",
            Folder.filter(Column("parentId") == nil).including(
                all: Folder.children.including(all: Folder.children)))
        prefetched(
            "merged", Vault.including(all: Vault.items).including(all: Vault.items.filter(C.size > 15)))
        prefetched(
            "merged.children",
            Owner.including(all: Owner.vaults.including(all: Vault.items)).including(
                all: Owner.vaults.including(all: Vault.shares)))
        prefetched("limit", Vault.order(Column("id")).limit(2).including(all: Vault.items))
        prefetched("distinct", Vault.including(all: Vault.guests.distinct()))
        prefetched(
            "composite",
            Table("share").including(
                all: Table("share").hasMany(
                    Table("share"), key: "others",
                    using: ForeignKey(["vaultId", "ownerId"], to: ["vaultId", "ownerId"]))))
        prefetched("stable", Vault.including(all: Vault.items).withStableOrder())
        prefetched(
            "unordered", Vault.order(Column("title")).including(all: Vault.items.order(C.size)).unordered())
        prefetched("reversed", Vault.order(Column("id")).including(all: Vault.items.order(C.size)).reversed())
        prefetched("grouped", Vault.including(all: Vault.items.annotated(with: Item.attachments.count)))
        prefetched("having", Vault.including(all: Vault.items.having(Item.attachments.count > 0)))
        prefetched(
            "null.parents",
            Vault.filter(Column("ownerId") == nil).including(
                optional: Vault.owner.including(all: Owner.vaults)))
        area.call("all.count") { db in
            (
                try Vault.including(all: Vault.items).fetchCount(db),
                try Vault.including(all: Vault.items).isEmpty(db)
            )
        }
        area.call("all.one") { db in
            try Row.fetchOne(db, Vault.including(all: Vault.items).orderByPrimaryKey())?.debugDescription
        }
        area.call("all.one.none") { db in
            try Row.fetchOne(db, Vault.none().including(all: Vault.items))?.debugDescription
        }
        area.call("all.set") { db in try Row.fetchSet(db, Vault.including(all: Vault.items)).count }
        area.call("all.access") { db in
            let row = try Row.fetchOne(
                db, Vault.including(all: Vault.items.orderByPrimaryKey()).orderByPrimaryKey())!
            let items: [Item] = row["items"], set: Set<Item> = row["items"]
            return [
                "\(items.map(\.title))", "\(set.count)", "\(row.prefetchedRows.isEmpty)",
                "\(row.prefetchedRows["nope"] as Any)",
                "\(row.unscoped)",
            ]
        }
        area.call("all.access.missing") { db in
            try Row.fetchOne(db, Vault.all())!.decode([Item].self, forKey: "items")
        }

        func aggregate(_ name: String, _ aggregate: AssociationAggregate<Vault>) {
            area.rows("aggregate." + name, Vault.annotated(with: aggregate))
        }
        aggregate("count", Vault.items.count)
        aggregate("count.key", Vault.items.count.forKey("n"))
        aggregate("count.forKey", Vault.items.forKey("things").count)
        aggregate("count.filter", Vault.items.filter(C.isPinned).count)
        aggregate("isEmpty", Vault.items.isEmpty)
        aggregate("isEmpty.not", !Vault.items.isEmpty)
        aggregate("sum", Vault.items.sum(C.size))
        aggregate("total", Vault.items.total(C.size))
        aggregate("average", Vault.items.average(C.size))
        aggregate("min", Vault.items.min(C.title))
        aggregate("max", Vault.items.max(C.size))
        aggregate("max.expression", Vault.items.max(length(C.title)).forKey("longest"))
        aggregate("closure", Vault.items.max { $0.size })
        aggregate("coalesce", Vault.items.max(C.size) ?? 0)
        aggregate("cast", cast(Vault.items.sum(C.size), as: .text))
        aggregate("abs", abs(Vault.items.min(C.weight)).forKey("a"))
        aggregate("length", length(Vault.items.max(C.title)).forKey("l"))
        aggregate("arithmetic", (Vault.items.count * 2 + Vault.shares.count - 1).forKey("n"))
        aggregate("compare", (Vault.items.count > Vault.shares.count).forKey("more"))
        aggregate("compare.value", (Vault.items.count == 2).forKey("two"))
        aggregate("negate", (-Vault.items.count).forKey("minus"))
        aggregate("through", Vault.attachments.count)
        aggregate("guests", Vault.guests.count)
        area.rows("aggregate.two", Vault.annotated(with: Vault.items.count, Vault.shares.count))
        area.rows("aggregate.array", Vault.annotated(with: [Vault.items.count, Vault.items.sum(C.size)]))
        area.rows(
            "aggregate.two.filters",
            Vault.annotated(with: Vault.items.count, Vault.items.filter(C.isPinned).forKey("pinned").count))
        area.rows(
            "aggregate.ordered",
            Vault.annotated(with: Vault.items.count).order(Column("itemCount").detached.desc, Column("id")))
        area.rows(
            "aggregate.filtered", Vault.annotated(with: Vault.items.count).filter(Column("color") == "red"))
        area.rows(
            "aggregate.joined", Vault.including(optional: Vault.owner).annotated(with: Vault.items.count))
        area.rows(
            "aggregate.composite",
            Share.annotated(
                with: Share.hasMany(Table("tag"), key: "tags", using: ForeignKey(["weight"], to: ["vaultId"]))
                    .count))
        area.rows(
            "aggregate.table", Table("vault").annotated(with: Table("vault").hasMany(Table("item")).count))
        func having(_ name: String, _ predicate: AssociationAggregate<Vault>) {
            area.rows("having." + name, Vault.having(predicate))
        }
        having("isEmpty", Vault.items.isEmpty)
        having("isEmpty.not", !Vault.items.isEmpty)
        having("isEmpty.false", Vault.items.isEmpty == false)
        having("count", Vault.items.count > 1)
        having("count.equal", Vault.items.count == 0)
        having("count.notEqual", Vault.items.count != 2)
        having("and", Vault.items.count > 0 && Vault.shares.isEmpty)
        having("or", Vault.items.isEmpty || Vault.shares.count >= 2)
        having("compare", Vault.items.count <= Vault.shares.count)
        having("max", Vault.items.max(C.size) > 30)
        having("nil", Vault.items.max(C.size) == nil)
        having("is", Vault.items.max(C.size) === 40)
        having("left", 2 <= Vault.items.count)
        area.rows("having.twice", Vault.having(Vault.items.count > 0).having(Vault.shares.count > 0))
        area.rows("having.annotated", Vault.annotated(with: Vault.items.count).having(Vault.items.count > 1))
        area.call("having.delete") { db in
            try Owner.having(Owner.shares.isEmpty && Owner.vaults.isEmpty).deleteAll(db)
        }
        area.call("having.delete.fetch") { db in
            let statement = try Owner.having(Owner.vaults.isEmpty).deleteAndFetchStatement(
                db, selection: [Column("id")])
            return [statement.sql, "\(statement.arguments)"]
        }
        area.call("having.update") { db in
            try Vault.having(Vault.items.isEmpty).updateAll(db, Column("title").set(to: "empty"))
        }

        area.call("decode.info") { db in
            try VaultInfo.fetchAll(
                db,
                Vault.including(optional: Vault.owner).including(all: Vault.items.orderByPrimaryKey())
                    .orderByPrimaryKey())
        }
        area.call("decode.nested") { db in
            try OwnerInfo.fetchAll(
                db,
                Owner.including(optional: Owner.profile)
                    .including(
                        all: Owner.vaults.including(all: Vault.items.orderByPrimaryKey()).orderByPrimaryKey()
                    ).orderByPrimaryKey())
        }
        area.call("decode.asRequest") { db in
            try Vault.annotated(with: Vault.items.count).asRequest(of: Counts.self).fetchAll(db)
        }
        area.call("decode.values") { db in
            try Titles.fetchAll(
                db,
                Vault.including(all: Vault.items.select(C.title).order(C.title))
                    .including(all: Vault.shares.select(Column("ownerId"))).orderByPrimaryKey()
            ).map { "\($0.title) \($0.items) \($0.shares.sorted())" }
        }
        area.call("decode.arrays.optional") { db in
            try OptionalArrays.fetchAll(db, Vault.including(all: Vault.shares).orderByPrimaryKey())
        }
        area.call("decode.scopes.nested") { db in
            try Nested.fetchAll(
                db, Item.including(required: Item.vault.including(optional: Vault.owner)).orderByPrimaryKey())
        }
        area.call("decode.two.unknown") { db in try TwoUnknown.fetchAll(db, Vault.all()) }
        area.call("decode.null.scope") { db in
            try MustHaveOwner.fetchAll(db, Vault.including(optional: Vault.owner).orderByPrimaryKey())
        }
        area.call("decode.missing.scope") { db in try MustHaveOwner.fetchAll(db, Vault.orderByPrimaryKey()) }
        area.call("decode.missing.rows") { db in
            try VaultInfo.fetchAll(db, Vault.including(all: Vault.shares))
        }

        func requested<Record: FetchableRecord & TableRecord & EncodableRecord, A: Association>(
            _ name: String, _ type: Record.Type, _ association: A, key: Int = 1
        ) where A.OriginRowDecoder == Record {
            area.call("for." + name) { db in
                let record = try Record.filter(sql: "rowid = ?", arguments: [key]).fetchOne(db)!
                return try Row.fetchAll(db, record.request(for: association)).map(\.description)
            }
        }
        requested("many", Vault.self, Vault.items)
        requested("one", Vault.self, Vault.owner)
        requested("one.null", Vault.self, Vault.owner, key: 4)
        requested("profile", Owner.self, Owner.profile)
        requested("filtered", Vault.self, Vault.items.filter(C.isPinned).order(C.title))
        requested("including", Vault.self, Vault.items.including(optional: Item.attachments))
        requested("through", Owner.self, Owner.items)
        requested("through.one", Item.self, Item.owner)
        requested("through.two", Vault.self, Vault.attachments)
        requested("through.guests", Vault.self, Vault.guests)
        requested("self", Folder.self, Folder.children)
        requested("self.parent", Folder.self, Folder.parent, key: 2)
        requested("through.join", Owner.self, Owner.items.joining(required: Item.vault))
        area.call("for.derived") { db in
            let vault = try Vault.find(db, key: 1)
            let items = vault.request(for: Vault.items)
            return (
                try items.filter(C.size > 15).fetchCount(db),
                try items.order(C.size.desc).fetchOne(db)?.title,
                try items.updateAll(db, C.size.set(to: 1))
            )
        }
        area.call("for.composite") { db in
            let share = try Share.fetchOne(db, sql: "SELECT * FROM share")!
            return try Row.fetchAll(
                db,
                share.request(
                    for: Share.hasMany(
                        Share.self, using: ForeignKey(["vaultId", "ownerId"], to: ["vaultId", "ownerId"]))))
        }
        area.call("for.insert") { db in
            var vault = Vault(id: nil, ownerId: 3, title: "new")
            try vault.insert(db)
            return try vault.request(for: Vault.owner).fetchOne(db)
        }
    }
}
