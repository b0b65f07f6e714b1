import Foundation

extension Comparison {
    private typealias C = Item.Columns

    /// Filters, orders, limits, groups, selections: their results, and their SQL.
    static func requests(_ area: Area) {
        area.rows("all", Item.all())
        area.rows("none", Item.none())
        area.rows("none.filtered", Item.filter(C.id > 1).none())
        area.rows("filter.equal", Item.filter(C.title == "Bank"))
        area.rows("filter.notEqual", Item.filter(C.size != 10))
        area.rows("filter.nil", Item.filter(C.size == nil))
        area.rows("filter.notNil", Item.filter(C.size != nil))
        area.rows("filter.id.nil", Item.filter(C.id == nil))
        area.rows("filter.is", Item.filter(C.size === nil))
        area.rows("filter.isNot", Item.filter(C.size !== 10))
        area.rows("filter.less", Item.filter(C.size < 40 && C.size >= 10))
        area.rows("filter.or", Item.filter(C.size > 40 || C.isPinned))
        area.rows("filter.not", Item.filter(!(C.size > 20)))
        area.rows("filter.not.and", Item.filter(!(C.size > 20 && C.isPinned)))
        area.rows("filter.bool", Item.filter(C.isPinned))
        area.rows("filter.bool.true", Item.filter(C.isPinned == true))
        area.rows("filter.bool.left", Item.filter(true.databaseValue == C.isPinned))
        area.rows("filter.bool.not", Item.filter(!C.isPinned))
        area.rows("filter.constant", Item.filter(true.databaseValue))
        area.rows("filter.constant.false", Item.filter(false.databaseValue))
        area.rows("filter.range", Item.filter((10...40).contains(C.size)))
        area.rows("filter.range.open", Item.filter((10..<40).contains(C.size)))
        area.rows("filter.range.not", Item.filter(!(10...40).contains(C.size)))
        area.rows("filter.in", Item.filter([1, 3].contains(C.id)))
        area.rows("filter.in.one", Item.filter([1].contains(C.id)))
        area.rows("filter.in.empty", Item.filter(([] as [Int]).contains(C.id)))
        area.rows("filter.in.not", Item.filter(!["Bank", "Door"].contains(C.title)))
        area.rows("filter.in.not.empty", Item.filter(!([] as [String]).contains(C.title)))
        area.rows("filter.in.nocase", Item.filter(["BANK"].contains(C.title.collating(.nocase))))
        area.rows("filter.in.two.nocase", Item.filter(["BANK", "door"].contains(C.title.collating(.nocase))))
        area.rows("filter.nocase", Item.filter(C.title.collating(.nocase) == "BANK"))
        area.rows("filter.nocase.condition", Item.filter((C.title == "BANK").collating(.nocase)))
        area.rows("filter.nocase.in", Item.filter(["BANK", "x"].contains(C.title).collating(.nocase)))
        area.rows(
            "filter.nocase.and", Item.filter((C.title == "BANK" && C.kind == "CARD").collating(.nocase)))
        area.rows("filter.nocase.range", Item.filter(("a"..<"c").contains(C.title).collating(.nocase)))
        area.rows("filter.like", Item.filter(C.title.like("%an%")))
        area.rows("filter.like.escape", Item.filter(C.title.like("%\\%%", escape: "\\")))
        area.rows("filter.like.not", Item.filter(!C.title.like("B%")))
        area.rows("filter.date", Item.filter(C.changedAt > Date(timeIntervalSince1970: 0)))
        area.rows("filter.enum", Item.filter(C.kind == Item.Kind.login))
        area.rows("filter.sql", Item.filter(sql: "size > ? AND title <> :t", arguments: [10] + ["t": "Mail"]))
        area.rows("filter.literal", Item.filter(literal: "size > \(10) OR title = \("Mail")"))
        area.rows("filter.twice", Item.filter(C.size > 10).filter(C.isPinned == false))
        area.rows("filter.three", Item.filter(C.size > 1 && C.size > 2 && C.size > 3).filter(C.id > 0))
        area.rows("filter.key", Item.filter(key: 1))
        area.rows("filter.key.nil", Item.filter(key: nil as Int?))
        area.rows("filter.keys", Item.filter(keys: [1, 2]))
        area.rows("filter.keys.empty", Item.filter(keys: [] as [Int]))
        area.rows("filter.id", Item.filter(id: 1))
        area.rows("filter.ids", Item.filter(ids: [3, 1]))
        area.rows("filter.key.dictionary", Share.filter(key: ["vaultId": 1, "ownerId": 2]))
        area.rows(
            "filter.keys.dictionary",
            Share.filter(keys: [["vaultId": 1, "ownerId": 2], ["vaultId": 3, "ownerId": 1]]))
        area.rows("filter.key.unique", Owner.filter(key: ["email": "ann@example.com"]))
        area.rows("filter.rowid", Item.filter(Column.rowID == 2))
        area.rows("filter.withoutRowID", Table("tag").filter(key: "beta"))
        area.rows("filter.columns", Item.filter { $0.size > 15 && $0.title != "bank" })

        area.rows("order", Item.order(C.title))
        area.rows("order.desc", Item.order(C.size.desc, C.id))
        area.rows("order.asc", Item.order(C.size.asc))
        area.rows("order.nulls.last", Item.order(C.size.ascNullsLast))
        area.rows("order.nulls.first", Item.order(C.size.descNullsFirst))
        area.rows("order.collated", Item.order(C.title.collating(.nocase), C.id))
        area.rows(
            "order.collated.desc", Item.order(C.title.collating(.localizedCaseInsensitiveCompare).desc, C.id))
        area.rows("order.expression", Item.order(C.size * 3 - C.id, abs(C.weight)))
        area.rows("order.sql", Item.order(sql: "size + ? DESC", arguments: [1]))
        area.rows("order.literal", Item.order(literal: "size * \(-1), id"))
        area.rows("order.reversed", Item.order(C.title.desc, C.size).reversed())
        area.rows("order.reversed.twice", Item.order(C.title, C.size.desc).reversed().reversed())
        area.rows("order.reversed.none", Item.all().reversed())
        area.rows("order.reversed.nulls", Item.order(C.size.ascNullsLast, C.weight.descNullsFirst).reversed())
        area.rows("order.reversed.collated", Item.order(C.title.collating(.nocase)).reversed())
        area.rows("order.twice", Item.order(C.title).order(C.id))
        area.rows("order.un", Item.order(C.title).unordered())
        area.rows("order.primaryKey", Item.all().orderByPrimaryKey())
        area.rows("order.primaryKey.two", Share.all().orderByPrimaryKey())
        area.rows("order.primaryKey.none", Table("loose").all().orderByPrimaryKey())
        area.rows("order.stable", Item.order(C.kind).withStableOrder())
        area.rows("order.stable.reversed", Item.order(C.kind).reversed().withStableOrder())
        area.rows("order.stable.view", Table("pinned").all().withStableOrder())
        area.rows("order.random.no", Item.order(C.isPinned.desc, -C.id))

        area.rows("limit", Item.order(C.id).limit(2))
        area.rows("limit.offset", Item.order(C.id).limit(2, offset: 3))
        area.rows("limit.filter.count", Item.filter(C.id > 2).limit(1))
        area.rows("limit.reversed", Item.order(C.id).limit(2).reversed())
        area.rows("distinct", Item.select(C.kind).distinct())
        area.rows("distinct.all", Item.all().distinct())
        area.rows("distinct.two", Item.select(C.kind, C.isPinned).distinct())

        area.rows("select", Item.select(C.id, C.title))
        area.rows("select.array", Item.select([C.id, C.size + 1]))
        area.rows("select.named", Item.select(C.id, (C.size * 2).forKey("double")))
        area.rows("select.sql", Item.select(sql: "id, ? AS extra", arguments: ["x"]))
        area.rows("select.literal", Item.select(literal: "id, \(7) AS seven"))
        area.rows("select.id", Item.selectID())
        area.rows("select.key", Owner.selectPrimaryKey(as: Int64.self))
        area.rows("select.as", Item.select(C.title, as: String.self))
        area.rows("select.all", Item.select(.allColumns))
        area.rows("select.excluding", Item.select(.allColumns(excluding: [C.size, C.weight])))
        area.rows("select.excluding.names", Item.select(.allColumns(excluding: ["size", "nope"])))
        area.rows("select.rowID", Item.select(.rowID, C.title))
        area.rows("select.twice", Item.select(C.id).select(C.title))
        area.rows("select.columns", Item.select { [$0.id, $0.kind] })
        area.rows("annotated", Item.annotated(with: C.size + 1))
        area.rows(
            "annotated.named",
            Item.annotated(with: (C.size + 1).forKey("more"), C.title.uppercased.forKey("loud")))
        area.rows(
            "annotated.count",
            Item.annotated(with: (C.size * 2).forKey("double")).filter(Column("double").detached > 30))
        area.rows("group", Item.select(C.kind, count(C.id).forKey("n")).group(C.kind))
        area.rows("group.having", Item.select(C.kind, count(C.id)).group(C.kind).having(count(C.id) > 1))
        area.rows("group.having.not", Item.select(C.kind).group(C.kind).having(!(sum(C.size) > 20)))
        area.rows(
            "group.two",
            Item.select(C.kind, C.isPinned, sum(C.size)).group(C.kind, C.isPinned).order(C.kind, C.isPinned))
        area.rows(
            "group.sql",
            Item.select(sql: "kind, COUNT(*)").group(sql: "kind").having(sql: "COUNT(*) > ?", arguments: [1]))
        area.rows("group.primaryKey", Item.select(C.id).groupByPrimaryKey())
        area.rows("group.max", Item.annotated(with: max(C.size)).group(C.vaultId))

        area.rows("table", Table("item").all())
        area.rows(
            "table.filter", Table("item").filter(Column("size") > 20).select(Column("id"), as: Int64.self))
        area.rows("table.record", Table<Item>("item").order(C.id).limit(1))
        area.rows("table.view", Table("pinned").order(Column("id").desc))
        area.rows("alias", Item.aliased(TableAlias(name: "i")).filter(C.id == 1))
        area.rows(
            "alias.used",
            {
                let i = TableAlias(name: "i"); return Item.aliased(i).filter(i[C.id] > i[C.size] - 12)
            }())
        area.rows(
            "alias.unused",
            {
                let i = TableAlias(); return Item.aliased(i).filter(i[C.id] == 1)
            }())

        area.call("fetch.one") { db in try Item.order(C.id).fetchOne(db)?.title }
        area.call("fetch.one.key") { db in try Item.filter(key: 2).fetchOne(db)?.title }
        area.call("fetch.one.unique") { db in
            try Owner.filter(Owner.Columns.email == "ann@example.com").fetchOne(db)
        }
        area.call("fetch.one.nil") { db in try Item.filter(C.id == nil).fetchOne(db)?.title }
        area.call("fetch.one.limit") { db in try Item.limit(3).fetchOne(db)?.title }
        area.call("fetch.one.aggregate") { db in try Item.select(max(C.size), as: Int.self).fetchOne(db) }
        area.call("fetch.one.aggregate.expression") { db in
            try Item.select(max(C.size) + 1, as: Int.self).fetchOne(db)
        }
        area.call("fetch.set") { db in try Item.select(C.kind, as: String.self).fetchSet(db) }
        area.call("fetch.cursor") { db in try Array(Item.order(C.id.desc).fetchCursor(db).map(\.id)) }
        area.call("fetch.optional") { db in try Item.select(C.size, as: Int?.self).order(C.id).fetchAll(db) }
        area.call("fetch.asRequest") { db in
            try Item.select(C.title).order(C.id).asRequest(of: String.self).fetchAll(db)
        }
        area.call("isEmpty") { db in
            [
                try Item.all().isEmpty(db), try Item.filter(C.id > 9).isEmpty(db),
                try Item.order(C.id).limit(2).isEmpty(db),
                try Item.none().isEmpty(db),
            ]
        }
        area.call("count.columns") { db in
            [try Item.select(C.size).fetchCount(db), try Item.select(C.size).distinct().fetchCount(db)]
        }
        area.call("count.excluding") { db in
            try Item.select(.allColumns(excluding: [] as [String])).distinct().fetchCount(db)
        }
        area.call("count.table") { db in [try Item.fetchCount(db), try Table("vault").fetchCount(db)] }
        area.call("count.ordered") { db in try Item.order(C.title).fetchCount(db) }
        area.call("region") { db in
            try [
                "\(Item.all().databaseRegion(db))", "\(Item.filter(key: 1).databaseRegion(db))",
                "\(Item.filter(C.id == nil).databaseRegion(db))",
                "\(Item.select(C.title).databaseRegion(db))", "\(Item.none().databaseRegion(db))",
                "\(Item.filter([1, 2].contains(C.id)).databaseRegion(db))",
            ]
        }
        area.call("prepared") { db in
            let request = try Item.filter(C.id > 1).makePreparedRequest(db, forSingleResult: true)
            return [
                "\(request.statement.sql)", "\(request.statement.arguments)", "\(request.adapter == nil)",
            ]
        }
        area.call("bad.column") { db in try Item.filter(Column("nope") == 1).fetchAll(db) }
        area.call("bad.table") { db in try Table("nope").fetchCount(db) }
        area.call("bad.key") { db in try Owner.find(db, key: 99) }
        area.call("find") { db in [try Owner.find(db, key: 1).name, try Item.find(db, id: 2).title] }
        area.call("key.fetch") { db in
            [
                try Owner.fetchOne(db, key: 2)?.name,
                try Owner.fetchOne(db, key: ["email": "zoe@example.com"])?.name,
                try Owner.fetchOne(db, key: nil as Int?)?.name,
            ]
        }
        area.call("keys.fetch") { db in
            [
                try Owner.fetchAll(db, keys: [1, 3]).count, try Owner.fetchAll(db, keys: [] as [Int]).count,
                try Item.fetchSet(db, ids: [1, 2]).count,
            ]
        }
        area.call("exists") { db in
            [
                try Owner.exists(db, key: 1), try Owner.exists(db, key: ["email": "x"]),
                try Item.exists(db, id: 7),
            ]
        }
        area.call("columns.count") { db in
            (try Item.numberOfSelectedColumns(db), try Share.numberOfSelectedColumns(db))
        }
    }
}
