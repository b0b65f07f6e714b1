import Coffer
import CofferTestSupport
import Testing

// The public API of associations. Every line in the first part of the specification has a line here that
// compiles.

private struct Sky: TableRecord, EncodableRecord, FetchableRecord, Hashable {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
    }
    static let stars = hasMany(Star.self)
    static let planets = hasMany(Planet.self, through: stars, using: Star.planets)
    init() {}
    init(row: Row) {}
    func encode(to container: inout PersistenceContainer) {}
}

private struct Star: TableRecord, FetchableRecord, Hashable {
    enum Columns {
        static let name = Column("name")
        static let mass = Column("mass")
    }
    static let sky = belongsTo(Sky.self)
    static let planets = hasMany(Planet.self)
    init(row: Row) {}
}

private struct Planet: TableRecord {
    static let star = belongsTo(Star.self)
    static let sky: HasOneThroughAssociation<Planet, Sky> = hasOne(Sky.self, through: star, using: Star.sky)
}

extension DerivableRequest<Star> {
    fileprivate func heavy() -> Self { filter { $0.mass > 100 } }
    fileprivate func everything() -> Self {
        joining(required: Star.sky.filter(Column("name") == "x")).including(all: Star.planets).filter(key: 1)
            .orderByPrimaryKey()
            .groupByPrimaryKey().aliased(TableAlias<Star>()).having(Star.planets.isEmpty)
    }
}

private enum SkyKeys: String, CodingKey { case stars }

@Suite("The API of associations")
struct AssociationSignatureTests {
    private func refine<A: Association>(_ association: A) -> A where A.RowDecoder == Star {
        var result = association
        result._sqlAssociation = association._sqlAssociation as _SQLAssociation
        result = result.select(Column("id"))
        result = result.select([Column("id")])
        result = result.select(sql: "1")
        result = result.select(literal: "1")
        result = result.select { $0.name }
        result = result.select {
            [$0.name]
        }
        result = result.annotated(with: Column("id"))
        result = result.annotated(with: [Column("id")])
        result = result.annotated { $0.name }
        result = result.annotated(with: { [$0.name] })
        result = result.filter(Column("id") == 1)
        result = result.filter(key: 1)
        result = result.filter(keys: [1])
        result = result.filter(key: ["id": 1])
        result = result.filter(keys: [["id": 1]])
        result = result.filter(sql: "1")
        result = result.filter(literal: "1")
        result = result.filter { $0.name == "x" }
        result = result.none()
        result = result.all()
        result = result.order(Column("id"))
        result = result.order([Column("id")])
        result = result.order(sql: "1")
        result = result.order(literal: "1")
        result = result.order(\.name)
        result = result.order { [$0.name.desc] }
        result = result.reversed()
        result = result.unordered()
        result = result.withStableOrder()
        result = result.orderByPrimaryKey()
        result = result.distinct()
        result = result.groupByPrimaryKey()
        result = result.group(Column("id"))
        result = result.group(sql: "1")
        result = result.group(literal: "1")
        result = result.group(\.name)
        result = result.group { [$0.name] }
        result = result.having(Column("id") == 1)
        result = result.having(sql: "1")
        result = result.having(literal: "1")
        result = result.having { $0.name == "x" }
        result = result.with(CommonTableExpression(named: "cte", sql: "SELECT 1"))
        result = result.aliased(TableAlias<Star>())
        result = result.aliased(TableAlias<Void>())
        result = result.including(all: Star.planets)
        result = result.including(optional: Star.sky)
        result = result.including(required: Star.sky)
        result = result.joining(optional: Star.planets)
        result = result.joining(required: Star.sky)
        result = result.annotated(withOptional: Star.sky)
        result = result.annotated(withRequired: Star.sky)
        result = result.annotated(with: Star.planets.count)
        result = result.annotated(with: [Star.planets.count])
        result = result.having(Star.planets.isEmpty)
        result = result.selectWhenConnected { _ in [Column("id")] }
        result = result.annotatedWhenConnected { _ in [Column("id")] }
        result = result.filterWhenConnected { _ in true }
        result = result.orderWhenConnected { _ in [Column("id")] }
        result = result.groupWhenConnected { _ in [Column("id")] }
        result = result.havingWhenConnected { _ in true }
        return result.forKey("key").forKey(SkyKeys.stars)
    }

    private func joined<Request: JoinableRequest<Sky>>(_ request: Request) -> Request {
        let association = Sky.stars._sqlAssociation
        return request._including(all: association)._including(optional: association)._including(
            required: association
        )
        ._joining(optional: association)._joining(required: association).including(all: Sky.stars).including(
            optional: Sky.stars
        )
        .including(required: Sky.stars).joining(optional: Sky.stars).joining(required: Sky.stars)
    }

    private func components<A: AssociationToMany>(_ association: A) -> A.DatabaseComponents
    where A.RowDecoder: TableRecord {
        A.RowDecoder.databaseComponents
    }

    @Test("has associations, which are requests") func associations() {
        let one: BelongsToAssociation<Star, Sky> = Star.belongsTo(
            Sky.self, key: "sky", using: ForeignKey(["skyId"]))
        let first: HasOneAssociation<Sky, Star> = Sky.hasOne(Star.self, key: nil, using: nil)
        let many: HasManyAssociation<Sky, Star> = Sky.hasMany(Star.self, key: "stars", using: nil)
        let rows: [any Association] = [
            Star.belongsTo(Table<Row>("sky"), key: nil, using: nil), Sky.hasOne(Table<Row>("star")),
            Sky.hasMany(Table<Row>("star")),
        ]
        let through: HasManyThroughAssociation<Sky, Planet> = Sky.hasMany(
            Planet.self, through: Sky.stars, using: Star.planets, key: "k")
        let oneThrough: HasOneThroughAssociation<Planet, Sky> = Planet.hasOne(
            Sky.self, through: Planet.star, using: Star.sky, key: "k")
        let table = Table<Sky>("sky")
        let ofTable: HasManyAssociation<Sky, Star> = table.hasMany(Star.self)
        let more: [any AssociationToMany] = [
            many, through, ofTable, table.hasMany(Table<Star>("star")),
            table.hasMany(Planet.self, through: ofTable, using: Star.planets),
        ]
        let ones: [any AssociationToOne] = [
            one, first, oneThrough, table.belongsTo(Star.self), table.hasOne(Star.self),
            table.belongsTo(Table<Row>("star")),
            table.hasOne(Table<Row>("star")),
            Table<Planet>("planet").hasOne(Sky.self, through: Planet.star, using: Star.sky),
        ]
        let refined: HasManyAssociation<Sky, Star> = refine(Sky.stars).heavy().everything()
        #expect(refined.databaseTableName == "star")
        #expect(components(Sky.stars) == Star.Columns.self)
        #expect(rows.count + more.count + ones.count == 16)
        _ = Star.all().heavy().everything()
    }

    @Test("has associations of common table expressions") func commonTables() {
        let cte = CommonTableExpression<Row>(named: "cte", sql: "SELECT 1")
        let association: JoinAssociation<Star, Row> = Star.association(to: cte) { left, right in
            left[Column("id")] == right[Column("id")]
        }
        let associations: [any AssociationToOne] = [
            association, Star.association(to: cte), Table<Star>("star").association(to: cte),
            cte.association(to: cte),
            Table<Star>("star").association(to: cte, on: { $0["id"] == $1["id"] }),
            cte.association(to: cte, on: { $0["id"] == $1["id"] }),
            cte.association(to: Star.self), cte.association(to: Star.self, on: { $0["id"] == $1["id"] }),
            cte.association(to: Table<Star>("star")),
            cte.association(to: Table<Star>("star"), on: { $0["id"] == $1["id"] }),
        ]
        #expect(associations.count == 10)
    }

    @Test("has foreign keys") func foreignKeys() {
        #expect(ForeignKey(["a"]) == ForeignKey([Column("a")], to: nil))
        #expect(ForeignKey(["a"], to: ["b"]) == ForeignKey([Column("a")], to: [Column("b")]))
        #expect(ForeignKey(["a"]) != ForeignKey(["a"], to: ["b"]))
    }

    @Test("has shortcuts on record types and tables") func shortcuts() {
        let table = Table<Sky>("sky")
        let requests: [QueryInterfaceRequest<Sky>] = [
            joined(Sky.all()), Sky.including(all: Sky.stars), Sky.including(optional: Sky.stars),
            Sky.including(required: Sky.stars),
            Sky.joining(optional: Sky.stars), Sky.joining(required: Sky.stars),
            Sky.annotated(withOptional: Sky.stars),
            Sky.annotated(withRequired: Sky.stars), Sky.annotated(with: Sky.stars.count),
            Sky.annotated(with: [Sky.stars.count]),
            Sky.having(Sky.stars.isEmpty), table.including(all: Sky.stars),
            table.including(optional: Sky.stars),
            table.including(required: Sky.stars), table.joining(optional: Sky.stars),
            table.joining(required: Sky.stars),
            table.annotated(withOptional: Sky.stars), table.annotated(withRequired: Sky.stars),
            table.annotated(with: Sky.stars.count),
            table.annotated(with: [Sky.stars.count]), table.having(Sky.stars.isEmpty),
        ]
        #expect(requests.count == 21)
        let request: QueryInterfaceRequest<Star> = Sky().request(for: Sky.stars)
        #expect(request.databaseTableName == "star")
    }

    @Test("has aggregates") func aggregates() {
        let (a, b, c) = (Sky.stars.count, Sky.stars.isEmpty, Column("mass"))
        var aggregates: [AssociationAggregate<Sky>] = []
        func add(_ aggregate: AssociationAggregate<Sky>) { aggregates.append(aggregate) }
        add(Sky.stars.average(c))
        add(Sky.stars.max(c))
        add(Sky.stars.min(c))
        add(Sky.stars.sum(c))
        add(Sky.stars.total(c))
        add(Sky.stars.average { $0.mass })
        add(Sky.stars.max { $0.mass })
        add(Sky.stars.min { $0.mass })
        add(Sky.stars.sum { $0.mass })
        add(Sky.stars.total { $0.mass })
        add(a.forKey("k"))
        add(a.forKey(SkyKeys.stars))
        add(!b)
        add(b && b)
        add(b || b)
        add(b && c)
        add(c && b)
        add(b || c)
        add(c || b)
        add(a == a)
        add(a != a)
        add(a == nil)
        add(a != nil)
        add(a == 1)
        add(1 == a)
        add(a != 1)
        add(1 != a)
        add(b == true)
        add(false == b)
        add(b != true)
        add(false != b)
        add(a === a)
        add(a !== a)
        add(a === nil)
        add(a !== 1)
        add(1 === a)
        add(1 !== a)
        add(a < a)
        add(a < 2)
        add(2 < a)
        add(a <= a)
        add(a <= 2)
        add(2 <= a)
        add(a > a)
        add(a > 2)
        add(2 > a)
        add(a >= a)
        add(a >= 2)
        add(2 >= a)
        add(a + a)
        add(a + 2)
        add(2 + a)
        add(a - a)
        add(a - 2)
        add(2 - a)
        add(a * a)
        add(a * 2)
        add(2 * a)
        add(a / a)
        add(a / 2)
        add(2 / a)
        add(-a)
        add(a ?? 0)
        add(abs(a))
        add(length(a))
        add(cast(a, as: .text))
        #expect(aggregates.count == 66)
    }

    @Test("has aliases") func aliases() {
        let alias = TableAlias<Star>(name: "s")
        let base: TableAliasBase = alias
        #expect(base == alias)
        let others: [TableAliasBase] = [
            base, TableAlias<Void>(), TableAlias<Void>(name: "x"), TableAlias(for: Star.self),
        ]
        #expect(Set(others).count == 4)
        let (first, second, third): (SQLExpression, SQLExpression, SQLExpression) = (
            alias[Column("x")], alias["x"], alias.exists
        )
        let expressions: [SQLExpression] = [first, second, third, alias.name, alias.mass]
        let selection: SQLSelection = alias[AllColumns()]
        let ordering: SQLOrdering = alias[Column("x").desc]
        #expect(expressions.count == 5)
        _ = (selection, ordering, Star.all()._aliased(base))
    }

    @Test("has scopes and prefetched rows") func rows() throws {
        let row: Row = ["a": 1]
        #expect(row.scopes.isEmpty)
        #expect(row.scopes["x"] == nil)
        #expect(row.scopesTree.names == [])
        #expect(row.scopesTree["x"] == nil)
        #expect(row.prefetchedRows.isEmpty)
        #expect(row.prefetchedRows.keys == [])
        #expect(row.prefetchedRows["x"] == nil)
        #expect(row.prefetchedRows == row.prefetchedRows)
        #expect(row.unscoped == row)
        #expect(row.unadapted == row)
        #expect(row.containsNonNullValue)
        #expect(row["x"] as Sky? == nil)
        #expect(try row.decodeIfPresent(Sky.self, forKey: "x") == nil)
        #expect(throws: RowDecodingError.self) { try row.decode(Sky.self, forKey: "x") }
        #expect(throws: RowDecodingError.self) { try row.decode([Sky].self, forKey: "x") }
        #expect(throws: RowDecodingError.self) { try row.decode(Set<Sky>.self, forKey: "x") }
    }
}
