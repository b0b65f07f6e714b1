import Foundation

extension Comparison {
    private typealias C = Item.Columns

    /// Joins by associations: including, joining, through, merging, aliases, keys, foreign keys.
    static func joins(_ area: Area) {
        area.rows("required", Vault.including(required: Vault.owner))
        area.rows("optional", Vault.including(optional: Vault.owner))
        area.rows("many.required", Vault.including(required: Vault.items))
        area.rows("many.optional", Vault.including(optional: Vault.items))
        area.rows("one.required", Owner.including(required: Owner.profile))
        area.rows("one.optional", Owner.including(optional: Owner.profile))
        area.rows("joining.required", Vault.joining(required: Vault.owner))
        area.rows("joining.optional", Vault.joining(optional: Vault.items))
        area.rows("joining.distinct", Vault.joining(required: Vault.items).distinct())
        area.rows("filter.base", Vault.including(optional: Vault.owner).filter(Column("color") == "red"))
        area.rows(
            "filter.association", Vault.including(optional: Vault.owner.filter(Column("name") == "Ann")))
        area.rows(
            "filter.both",
            Vault.including(required: Vault.owner.filter(Column("name") == "Ann")).filter(
                Column("title") == "Work"))
        area.rows("filter.none", Vault.including(optional: Vault.owner.none()))
        area.rows("filter.false", Vault.including(required: Vault.owner.filter(false.databaseValue)))
        area.rows(
            "filter.sql",
            Vault.including(required: Vault.owner.filter(sql: "owner.name = ?", arguments: ["bob"])))
        area.rows("filter.literal", Vault.including(required: Vault.items.filter(literal: "size > \(15)")))
        area.rows("filter.key", Vault.including(required: Vault.owner.filter(key: 1)))
        area.rows("filter.keys", Vault.including(required: Vault.owner.filter(keys: [1, 2])))
        area.rows("filter.id.base", Vault.including(required: Vault.owner).filter(id: 1))
        area.rows("filter.closure", Vault.including(required: Vault.items.filter { $0.size > 15 }))
        area.rows("filter.columns", Vault.including(required: Vault.owner).filter { $0.title != "Home" })
        area.rows("order.base", Vault.including(required: Vault.owner).order(Column("title").desc))
        area.rows("order.association", Vault.including(required: Vault.owner.order(Column("name").desc)))
        area.rows(
            "order.both", Vault.including(required: Vault.items.order(C.size.desc)).order(Column("title")))
        area.rows(
            "order.reversed",
            Vault.including(required: Vault.items.order(C.size.desc)).order(Column("title")).reversed())
        area.rows(
            "order.association.reversed",
            Vault.including(required: Vault.items.order(C.size).reversed()).order(Column("title")))
        area.rows("order.stable", Vault.including(required: Vault.items.order(C.kind)).withStableOrder())
        area.rows(
            "order.un",
            Vault.including(required: Vault.items.order(C.kind)).order(Column("title")).unordered())
        area.rows(
            "order.primaryKey", Vault.including(required: Vault.items.orderByPrimaryKey()).orderByPrimaryKey()
        )
        area.rows("limit", Vault.including(required: Vault.items).order(Column("id")).limit(2, offset: 1))
        area.rows("select.association", Vault.including(required: Vault.owner.select(Column("name"))))
        area.rows("select.base", Vault.select(Column("title")).including(required: Vault.owner))
        area.rows("select.base.none", Vault.select([]).including(required: Vault.owner))
        area.rows(
            "select.excluding",
            Vault.including(required: Vault.owner.select(.allColumns(excluding: ["email"]))))
        area.rows("select.named", Vault.including(required: Vault.owner.select(Column("name").forKey("who"))))
        area.rows(
            "select.expression", Vault.including(required: Vault.items.select((C.size + 1).forKey("more"))))
        area.rows(
            "select.annotated",
            Vault.including(required: Vault.items.annotated(with: (C.size * 2).forKey("double"))))
        area.rows(
            "annotated.required",
            Vault.annotated(withRequired: Vault.owner.select(Column("name").forKey("ownerName"))))
        area.rows(
            "annotated.optional",
            Vault.annotated(withOptional: Vault.owner.select(Column("name"), Column("born"))))
        area.rows("annotated.all", Vault.annotated(withOptional: Vault.owner))
        area.rows(
            "annotated.through", Attachment.annotated(withRequired: Attachment.vault.select(Column("title"))))
        area.rows(
            "annotated.twice",
            Item.annotated(withRequired: Item.vault.select(Column("color"))).annotated(
                withOptional: Item.owner.select(Column("name"))))

        area.rows("nested", Item.including(required: Item.vault.including(optional: Vault.owner)))
        area.rows(
            "nested.three",
            Attachment.including(
                required: Attachment.item.including(required: Item.vault.including(optional: Vault.owner)))
        )
        area.rows("nested.joining", Item.joining(required: Item.vault.including(required: Vault.owner)))
        area.rows(
            "nested.joined.filter",
            Item.joining(required: Item.vault.joining(required: Vault.owner.filter(Column("name") == "Ann"))))
        area.rows("nested.optional", Item.including(optional: Item.vault.joining(optional: Vault.owner)))
        area.rows("siblings", Vault.including(optional: Vault.owner).including(optional: Vault.items))
        area.rows("siblings.joined", Vault.joining(required: Vault.owner).including(optional: Vault.shares))
        area.rows("down.up", Owner.including(required: Owner.vaults.including(required: Vault.items)))
        area.rows("cycle", Owner.including(required: Owner.vaults.including(required: Vault.owner)))

        area.rows("through.one", Item.including(optional: Item.owner))
        area.rows("through.one.required", Item.including(required: Item.owner))
        area.rows("through.many", Owner.including(required: Owner.items))
        area.rows("through.many.joining", Owner.joining(required: Owner.items).distinct())
        area.rows(
            "through.pivot.included", Item.including(required: Item.vault).including(optional: Item.owner))
        area.rows(
            "through.target.first", Item.including(optional: Item.owner).including(required: Item.vault))
        area.rows("through.two", Attachment.including(required: Attachment.vault))
        area.rows("through.filter", Owner.including(required: Owner.items.filter(C.isPinned)))
        area.rows(
            "through.pivot.filter",
            Owner.including(
                required: Owner.hasMany(
                    Item.self, through: Owner.vaults.filter(Column("color") == "red"), using: Vault.items)))
        area.rows("through.key", Owner.including(required: Owner.sharedVaults))
        area.rows("through.guests", Vault.including(optional: Vault.guests))
        area.rows("through.profile", Vault.including(optional: Vault.profile))
        area.rows("through.select", Item.including(optional: Item.owner.select(Column("name"))))
        area.rows("through.nested", Item.including(optional: Item.owner.including(optional: Owner.profile)))
        area.rows(
            "through.same",
            {
                let siblings = Item.hasMany(
                    Item.self, through: Item.vault, using: Vault.items, key: "siblings")
                return Item.including(required: siblings)
            }())

        area.rows("self.parent", Folder.including(optional: Folder.parent))
        area.rows("self.children", Folder.including(required: Folder.children))
        area.rows("self.three", Folder.including(optional: Folder.parent.including(optional: Folder.parent)))
        area.rows("self.alias", Folder.aliased(TableAlias(name: "f")).including(optional: Folder.parent))
        area.rows(
            "self.alias.inner", Folder.including(optional: Folder.parent.aliased(TableAlias(name: "p"))))
        area.rows(
            "two.keys", Transfer.including(required: Transfer.sender).including(optional: Transfer.receiver))
        area.rows(
            "two.keys.filter",
            Transfer.including(required: Transfer.sender.filter(Column("name") == "Ann")).including(
                optional: Transfer.receiver))
        area.rows(
            "two.keys.through",
            Transfer.joining(required: Transfer.sender).including(
                optional: Transfer.receiver.including(optional: Owner.profile)))

        area.rows(
            "alias",
            {
                let owner = TableAlias<Owner>()
                return Vault.joining(required: Vault.owner.aliased(owner)).filter(
                    owner[Column("name")] == "Ann"
                ).order(
                    owner[Column("name")].desc)
            }())
        area.rows(
            "alias.named",
            {
                let owner = TableAlias(name: "o")
                return Vault.including(required: Vault.owner.aliased(owner)).filter(
                    sql: "o.born > ?", arguments: [1975])
            }())
        area.rows(
            "alias.optional",
            {
                let owner = TableAlias()
                return Vault.including(optional: Vault.owner.aliased(owner)).filter(
                    owner[Column("name")] == nil)
            }())
        area.rows(
            "alias.member",
            {
                let owner = TableAlias<Owner>()
                return Vault.joining(optional: Vault.owner.aliased(owner)).filter(owner.born > 1975)
            }())
        area.rows(
            "alias.exists",
            {
                let owner = TableAlias<Owner>()
                return Vault.joining(optional: Vault.owner.aliased(owner)).filter(owner.exists)
            }())
        area.rows(
            "alias.exists.not",
            {
                let owner = TableAlias<Owner>()
                return Vault.joining(optional: Vault.owner.aliased(owner)).filter(!owner.exists)
            }())
        area.rows(
            "alias.exists.selected",
            {
                let profile = TableAlias<Profile>()
                return Owner.joining(optional: Owner.profile.aliased(profile)).annotated(
                    with: profile.exists.forKey("hasProfile"))
            }())
        area.rows(
            "alias.selected",
            {
                let owner = TableAlias()
                return Vault.joining(optional: Vault.owner.aliased(owner)).annotated(
                    with: owner[Column("name")].forKey("who"))
            }())
        area.rows(
            "alias.compared",
            {
                let owner = TableAlias(), item = TableAlias()
                return Vault.joining(required: Vault.owner.aliased(owner)).including(
                    required: Vault.items.aliased(item)
                )
                .filter(item[Column("size")] * 100 > owner[Column("born")])
            }())
        area.rows(
            "alias.subquery",
            {
                let vault = TableAlias()
                return Vault.aliased(vault).including(optional: Vault.owner).filter(
                    Item.filter(C.vaultId == vault[Column("id")]).exists())
            }())
        area.rows(
            "alias.group",
            {
                let item = TableAlias()
                return Vault.joining(optional: Vault.items.aliased(item)).annotated(
                    with: count(item[Column("id")]).forKey("n")
                )
                .groupByPrimaryKey()
            }())
        area.rows(
            "alias.having",
            {
                let item = TableAlias()
                return Vault.joining(required: Vault.items.aliased(item)).groupByPrimaryKey().having(
                    sum(item[Column("size")]) > 30)
            }())
        area.rows("alias.clash", Owner.aliased(TableAlias(name: "vault")).including(required: Owner.vaults))

        area.rows("merge.same", Vault.including(required: Vault.owner).including(required: Vault.owner))
        area.rows("merge.kinds", Vault.including(optional: Vault.owner).joining(required: Vault.owner))
        area.rows(
            "merge.filters",
            Vault.including(optional: Vault.owner.filter(Column("id") > 1).order(Column("id"))).joining(
                required: Vault.owner.filter(Column("id") < 9)))
        area.rows(
            "merge.children",
            Item.including(required: Item.vault.including(optional: Vault.owner)).including(
                required: Item.vault.including(optional: Vault.shares)))
        area.rows(
            "merge.select",
            Vault.including(required: Vault.owner.select(Column("name"))).including(
                required: Vault.owner.select(Column("born"))))
        area.rows(
            "merge.order",
            Vault.including(required: Vault.owner.order(Column("name"))).including(
                required: Vault.owner.order(Column("born").desc)))
        area.rows(
            "merge.keys",
            Vault.including(required: Vault.owner).including(
                required: Vault.owner.forKey("again").filter(Column("id") == 1)))

        area.rows("key.one", Vault.including(required: Vault.owner.forKey("keeper")))
        area.rows("key.many", Vault.including(required: Vault.items.forKey("smallThings")))
        area.call("key.scopes") { db in
            let row = try Row.fetchOne(
                db,
                Item.including(required: Item.vault.forKey("safe").including(optional: Vault.owner))
                    .including(optional: Item.attachments)
                    .orderByPrimaryKey())!
            return row.debugDescription.components(separatedBy: "\n") + ["\(row.scopesTree.names.sorted())"]
        }
        area.call("key.scopes.optional") { db in
            let rows = try Row.fetchAll(db, Vault.including(optional: Vault.owner).orderByPrimaryKey())
            return rows.flatMap { $0.debugDescription.components(separatedBy: "\n") } + [
                "\(rows[3].scopes["owner"] as Any)", "\(rows[3]["owner"] as Owner? as Any)",
            ]
        }
        area.call("key.scopes.joined") { db in
            try Row.fetchAll(
                db, Item.joining(required: Item.vault.including(optional: Vault.owner)).orderByPrimaryKey()
            ).map(
                \.debugDescription)
        }

        area.rows(
            "foreignKey.given",
            Vault.including(required: Vault.belongsTo(Owner.self, using: ForeignKey(["ownerId"]))))
        area.rows(
            "foreignKey.both",
            Vault.including(required: Vault.belongsTo(Owner.self, using: ForeignKey(["ownerId"], to: ["id"])))
        )
        area.rows(
            "foreignKey.columns",
            Vault.including(
                required: Vault.belongsTo(
                    Owner.self, using: ForeignKey([Column("ownerId")], to: [Column("id")]))))
        area.rows(
            "foreignKey.free",
            Item.including(
                required: Item.hasMany(
                    Attachment.self, key: "same", using: ForeignKey(["name"], to: ["title"]))))
        area.rows(
            "foreignKey.table", Table("item").including(required: Table("item").belongsTo(Table("vault"))))
        area.rows(
            "foreignKey.table.many", Table("vault").including(optional: Table("vault").hasMany(Item.self)))
        area.rows(
            "foreignKey.view",
            Table("pinned").including(
                required: Table("pinned").hasMany(
                    Table("attachment"), using: ForeignKey(["itemId"], to: ["id"]))))
        area.call("composite") { db in
            try db.execute(
                sql: """
                    CREATE TABLE memo (id INTEGER PRIMARY KEY, v INTEGER, o INTEGER, text TEXT, FOREIGN KEY \
                    (v, o) REFERENCES share(vaultId, ownerId));
                    INSERT INTO memo VALUES (1, 1, 2, 'a'), (2, 1, 3, 'b'), (3, NULL, 3, 'c')
                    """)
            let share = Table("memo").belongsTo(Share.self), memos = Share.hasMany(Table("memo"))
            return try Row.fetchAll(db, Table("memo").including(optional: share))
                + Row.fetchAll(db, Share.including(required: memos))
                + Row.fetchAll(db, Share.including(all: memos)).map {
                    Row(["memos": $0.prefetchedRows["memos"]?.count])
                }
        }

        area.rows(
            "cte",
            {
                let big = CommonTableExpression(named: "big", request: Item.filter(C.size > 15))
                let association = Vault.association(
                    to: big, on: { vault, item in item[Column("vaultId")] == vault[Column("id")] })
                return Vault.with(big).including(optional: association)
            }())
        area.rows(
            "cte.filter",
            {
                let big = CommonTableExpression(named: "big", request: Item.filter(C.size > 15))
                let association = Vault.association(
                    to: big, on: { vault, item in item[Column("vaultId")] == vault[Column("id")] })
                return Vault.with(big).joining(required: association.filter(Column("kind") == "card"))
            }())
        area.rows(
            "cte.cross",
            {
                let two = CommonTableExpression<Row>(
                    named: "two", columns: ["n"], literal: "SELECT 1 UNION SELECT 2")
                return Owner.with(two).including(required: Owner.association(to: two)).order(Column("id"))
            }())
        area.rows(
            "cte.to.record",
            {
                let ids = CommonTableExpression<Row>(
                    named: "ids", columns: ["n"], literal: "SELECT 1 UNION SELECT 3")
                return ids.all().with(ids).including(
                    required: ids.association(to: Owner.self, on: { $0[Column("n")] == $1[Column("id")] }))
            }())
        area.rows(
            "cte.columns.unknown",
            {
                let one = CommonTableExpression<Row>(named: "one", sql: "SELECT 1 AS n, 2 AS m")
                return Owner.with(one).including(required: Owner.association(to: one))
            }())

        area.call("fetch.one") { db in try Vault.including(required: Vault.owner).fetchOne(db) }
        area.call("fetch.one.key") { db in
            try Vault.including(required: Vault.owner).filter(key: 2).fetchOne(db)
        }
        area.call("isEmpty") { db in
            try [
                Vault.joining(required: Vault.owner).isEmpty(db),
                Vault.joining(required: Vault.owner.none()).isEmpty(db),
            ]
        }
        area.rows(
            "in",
            Item.filter(
                Vault.joining(required: Vault.owner.filter(Column("name") == "Ann")).select(Column("id"))
                    .contains(C.vaultId))
        )
        area.call("delete") { db in
            try Share.joining(required: Share.owner.filter(Column("name") == "bob")).deleteAll(db)
        }
        area.call("delete.rowid") { db in
            try Attachment.joining(required: Attachment.item.filter(C.isPinned)).deleteAll(db)
        }
        area.call("update") { db in
            try Item.joining(required: Item.vault.filter(Column("color") == "red")).updateAll(
                db, C.size.set(to: 0))
            return try Int?.fetchAll(db, sql: "SELECT size FROM item ORDER BY id")
        }
        area.call("update.limit") { db in
            try Item.joining(required: Item.vault).order(C.id).limit(2).updateAll(db, C.size.set(to: 0))
        }
        area.call("region") { db in
            try [
                "\(Vault.including(required: Vault.owner).databaseRegion(db))",
                "\(Vault.filter(key: 1).including(required: Vault.owner).databaseRegion(db))",
                "\(Owner.including(all: Owner.vaults).databaseRegion(db))",
                "\(Vault.including(all: Vault.items.none()).databaseRegion(db))",
            ]
        }
        area.call("columns") { db in
            try Vault.including(required: Vault.owner).makePreparedRequest(db).statement.columnNames
        }
    }
}
