import Foundation

extension Comparison {
    private typealias C = Item.Columns

    /// Expressions: their SQL and their values.
    static func expressions(_ area: Area) {
        func value(_ name: String, _ expression: any SQLSpecificExpressible) {
            area.call(name) { db in
                let request = try Item.select(expression.sqlExpression).makePreparedRequest(db)
                let (sql, arguments) = (request.statement.sql, request.statement.arguments)
                let values = try DatabaseValue.fetchAll(db, Item.select(expression.sqlExpression).order(C.id))
                return ["\(sql) \(arguments)", values.map(\.description).joined(separator: " | ")]
            }
        }
        value("add", C.size + 1)
        value("add.many", C.size + 1 + C.id + 2)
        value("subtract", C.size - (C.id - 1))
        value("subtract.left", 100 - C.size - 1)
        value("multiply", (C.size + 1) * C.id)
        value("divide", C.size / 3)
        value("divide.many", C.size / (C.id / 1.0))
        value("modulo", SQL("\(C.size) % \(7)").sqlExpression)
        value("negate", -C.size)
        value("negate.twice", -(-C.size))
        value("bits", (C.size & 6) | (C.id << 1))
        value("bits.shift", C.size >> 1)
        value("bits.not", ~C.size)
        value("concat", [C.title, C.kind].joined(operator: .concat))
        value(
            "joined.add",
            ([C.size, C.id, 5.databaseValue] as [any SQLSpecificExpressible]).joined(operator: .add))
        value("joined.empty", ([] as [Column]).joined(operator: .add))
        value("joined.and.empty", ([] as [Column]).joined(operator: .and))
        value("joined.or", [C.size > 10, C.isPinned == true].joined(operator: .or))
        value("compare", C.size < C.id)
        value("compare.values", 1.databaseValue < C.id)
        value("compare.negated", !(C.size <= 20))
        value("compare.equal.negated", !(C.size == 20))
        value("and.or", (C.size > 1 || C.id > 1) && C.id < 9)
        value("and.constant", C.size > 1 && true)
        value("or.constant", C.size > 1 || false)
        value("not.not", !(!C.isPinned))
        value("not.expression", !(C.size + 1))
        value("not.nil", !(C.size == nil))
        value("is.column", C.size === C.id)
        value("equal.column", C.size == C.id)
        value("functions.text", C.title.uppercased)
        value("functions.capitalized", C.title.capitalized)
        value("functions.localized", C.title.localizedUppercased)
        value("functions.lower", C.title.lowercased)
        value("functions.length", length(C.title))
        value("functions.abs", abs(C.weight))
        value("functions.coalesce", C.size ?? 0)
        value(
            "functions.coalesce.columns",
            coalesce([C.size, C.weight, 7.databaseValue] as [any SQLSpecificExpressible]))
        value("functions.cast", cast(C.weight, as: .integer))
        value("functions.cast.text", cast(C.size, as: .text))
        value("functions.sql", SQL("ROUND(\(C.weight), \(1))").sqlExpression)
        value("functions.dateTime", dateTime(C.changedAt, .startOfMonth, .day(1)))
        value("functions.julianDay", julianDay(C.changedAt))
        value(
            "functions.dateTime.many",
            dateTime(C.changedAt, .hour(-1), .minute(2), .second(0.5), .month(1), .year(-1)))
        value("functions.dateTime.more", dateTime(C.changedAt, .startOfDay, .startOfYear, .weekday(1)))
        value("collated", C.title.collating(.rtrim))
        value("collated.compare", C.title.collating(.nocase) < "c")
        value("collated.between", ("a"..."c").contains(C.title.collating(.nocase)))
        value("collated.nil", C.title.collating(.nocase) == nil)
        value("literal", SQL("size + \(1)").sqlExpression * 2)
        value("databaseValue", "x".databaseValue)
        value("rowid", Column.rowID)
        value("case", SQL("CASE WHEN \(C.size > 10) THEN 'big' ELSE \("small") END").sqlExpression)
        value("like", C.title.like("b%"))
        value("in", [1, 2].contains(C.id))
        value("in.expressions", [C.id, C.size].contains(C.vaultId))
        value("bool.assert", C.isPinned == false)
        value("bool.notEqual", C.isPinned != true)
        value("bool.expression", (C.size > 10) == true)
        value("bool.expression.false", (C.size > 10) == false)
        value("date", C.changedAt < Date(timeIntervalSince1970: 1_600_000_000))
        value("exists.literal", SQL("\(C.size) BETWEEN \(1) AND \(15)").sqlExpression)

        func aggregate(_ name: String, _ expression: any SQLSpecificExpressible) {
            area.call("aggregate." + name) { db in
                try Row.fetchOne(db, Item.select(expression.sqlExpression.forKey("value")))?.description
            }
        }
        aggregate("count", count(C.size))
        aggregate("count.sql", SQL("COUNT(*)").sqlExpression)
        aggregate("count.distinct", count(distinct: C.kind))
        aggregate("sum", sum(C.size))
        aggregate("sum.filter", sum(C.size, filter: C.isPinned))
        aggregate("total", total(C.size))
        aggregate("average", average(C.size))
        aggregate("average.filter", average(C.size, filter: C.size > 10))
        aggregate("min", min(C.title))
        aggregate("max.filter", max(C.size, filter: C.kind == "login"))
        aggregate("max.sum", max(C.size) - min(C.size))

        area.call("update.assignments") { db in
            try Item.filter(C.id < 3).updateAll(
                db, C.size += 5, C.weight.set(to: nil), C.title.set(to: C.title.uppercased))
            return try Row.fetchAll(db, Item.select(C.id, C.size, C.weight, C.title))
        }
        area.call("update.operators") { db in
            try Item.updateAll(db, [C.size -= 1, C.weight *= 2, C.vaultId.set(to: 1)])
            try Item.updateAll(db, C.weight /= 4)
            try Item.updateAll(db, C.size &= 7, C.weight.set(to: C.size | 1))
            return try Row.fetchAll(db, Item.select(C.id, C.size, C.weight))
        }
        area.call("update.columns") { db in
            try Item.filter { $0.id == 1 }.updateAll(db) { [$0.size.set(to: 1), $0.title.set(to: "new")] }
            return try Row.fetchAll(db, Item.select(C.id, C.size, C.title))
        }
        area.call("update.limit") { db in try Item.order(C.id).limit(2).updateAll(db, C.size.set(to: 0)) }
        area.call("update.ignore") { db in
            try Owner.updateAll(db, onConflict: .ignore, Owner.Columns.email.set(to: "same"))
        }
        area.call("update.none") { db in try Item.updateAll(db, [] as [ColumnAssignment]) }
        area.call("update.conflict") { db in try Owner.updateAll(db, Owner.Columns.email.set(to: "same")) }
        area.call("delete.filter") { db in try Share.filter(Column("role") == "reader").deleteAll(db) }
        area.call("delete.all") { db in (try Share.deleteAll(db), try Table("tag").deleteAll(db)) }
        area.call("delete.limit") { db in try Share.order(Column("role").desc).limit(1).deleteAll(db) }
        area.call("delete.key") { db in
            [
                try Share.deleteOne(db, key: ["vaultId": 1, "ownerId": 2]),
                try Table("tag").deleteOne(db, key: "alpha"),
                try Profile.deleteOne(db, key: 99),
            ]
        }
        area.call("delete.keys") { db in
            (try Profile.deleteAll(db, keys: [1, 3]), try Profile.deleteAll(db, keys: [] as [Int]))
        }
        area.call("delete.returning") { db in try Share.all().deleteAndFetchAll(db) }
        area.call("delete.returning.ids") { db in
            try Share.filter(Column("vaultId") == 1).deleteAndFetchIds(db: db)
        }
        area.call("update.returning") { db in
            try Profile.all().updateAndFetchAll(db, [Column("motto").set(to: "x")])
        }
        area.call("update.returning.statement") { db in
            let statement = try Profile.all().updateAndFetchStatement(
                db, [Column("motto").set(to: "x")], selection: [Column("ownerId")])
            return try Int.fetchAll(statement)
        }
    }
}

extension QueryInterfaceRequest<Share> {
    func deleteAndFetchIds(db: Database) throws -> [Int] {
        try Int.fetchAll(deleteAndFetchStatement(db, selection: [Column("ownerId")])).sorted()
    }
}
