import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Aggregates of associations", .serialized)
struct AssociationAggregateTests {
    private static let join = #"FROM "garden" LEFT JOIN "bed" ON "bed"."gardenId" = "garden"."id""#
    private static let joins = join + #" LEFT JOIN "plant" ON "plant"."bedId" = "bed"."id""#

    @Test("group the rows by their primary key", arguments: GardenStore.allCases)
    func requests(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            try gardens.expect(
                Garden.annotated(with: Garden.beds.count),
                #"SELECT "garden".*, COUNT(DISTINCT "bed"."id") AS "bedCount" "# + Self.join
                    + #" GROUP BY "garden"."id""#)
            try gardens.expect(
                Garden.having(Garden.beds.isEmpty),
                #"SELECT "garden".* "# + Self.join
                    + #" GROUP BY "garden"."id" HAVING COUNT(DISTINCT "bed"."id") = 0"#)
            try gardens.expect(
                Garden.annotated(with: Garden.plants.max(Column("height"))).having(Garden.plants.count >= 2),
                #"SELECT "garden".*, MAX("plant"."height") AS "maxPlantHeight" "# + Self.joins
                    + #" GROUP BY "garden"."id" HAVING COUNT(DISTINCT "plant"."id") >= 2"#)
            let rows = try gardens.rows(
                Garden.annotated(with: Garden.beds.count, Garden.plants.sum(Column("height"))))
            #expect(rows.map { $0["bedCount"] as Int } == [2, 1, 0])
            #expect(rows.map { $0["plantHeightSum"] as Int? } == [280, 120, nil])
            let custom = TableAlias<Bed>(name: "custom")
            try gardens.expect(
                Garden.annotated(with: Garden.beds.aliased(custom).count),
                #"SELECT "garden".*, COUNT(DISTINCT "custom"."id") AS "bedCount" FROM "garden" "#
                    + #"LEFT JOIN "bed" "custom" ON "custom"."gardenId" = "garden"."id" GROUP BY "garden"."id""#
            )
            try gardens.expect(
                Garden.annotated(with: Garden.beds.count).joining(required: Garden.beds),
                #"SELECT "garden".*, COUNT(DISTINCT "bed"."id") AS "bedCount" FROM "garden" JOIN "bed" "#
                    + #"ON "bed"."gardenId" = "garden"."id" GROUP BY "garden"."id""#)
            try gardens.expect(
                Garden.annotated(with: Garden.beds.count).group(Column("name")),
                #"SELECT "garden".*, COUNT(DISTINCT "bed"."id") AS "bedCount" "# + Self.join
                    + #" GROUP BY "garden"."name""#)
            let small = Garden.beds.filter(Column("id") < 2).forKey("smallBeds")
            try gardens.expect(
                Garden.annotated(with: small.count, Garden.beds.count),
                #"SELECT "garden".*, COUNT(DISTINCT "bed1"."id") AS "smallBedCount", COUNT(DISTINCT "bed2"."id") AS "bedCount" FROM "garden" "#
                    + #"LEFT JOIN "bed" "bed1" ON ("bed1"."gardenId" = "garden"."id") AND ("bed1"."id" < 2) "#
                    + #"LEFT JOIN "bed" "bed2" ON "bed2"."gardenId" = "garden"."id" GROUP BY "garden"."id""#)
        }
    }

    @Test("are expressions", arguments: GardenStore.allCases)
    func expressions(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let (n, e, plants, c) = (Garden.beds.count, Garden.beds.isEmpty, Garden.plants, Column("height"))
            let count = #"COUNT(DISTINCT "bed"."id")"#
            let plantCount = #"COUNT(DISTINCT "plant"."id")"#
            func check(_ aggregate: AssociationAggregate<Garden>, _ sql: String) throws {
                let statement = try #require(try gardens.sql(Garden.having(aggregate)).first)
                #expect(statement.components(separatedBy: " HAVING ").last == sql)
            }
            try check(e, "\(count) = 0")
            try check(e == true, "\(count) = 0")
            try check(!e, "\(count) > 0")
            try check(e == false, "\(count) > 0")
            try check(e != true, "\(count) > 0")
            try check(e != false, "\(count) = 0")
            try check(!(!e), "\(count) = 0")
            try check(!(e == true), "\(count) > 0")
            try check(n, "\(count)")
            try check(n == nil, "\(count) IS NULL")
            try check(n != 2, "\(count) <> 2")
            try check(n === nil, "\(count) IS NULL")
            try check(n !== 2, "\(count) IS NOT 2")
            try check(2 == n, "2 = \(count)")
            try check(n == n, "\(count) = \(count)")
            try check(plants.average(c), "AVG(\"plant\".\"height\")")
            try check(plants.min(c), "MIN(\"plant\".\"height\")")
            try check(plants.max(c), "MAX(\"plant\".\"height\")")
            try check(plants.sum(c), "SUM(\"plant\".\"height\")")
            try check(plants.total { $0.height }, "TOTAL(\"plant\".\"height\")")
            try check(e && plants.isEmpty, "(\(count) = 0) AND (\(plantCount) = 0)")
            try check(!(e || plants.isEmpty), "NOT ((\(count) = 0) OR (\(plantCount) = 0))")
            try check(plants.min(c) ?? 0, "IFNULL(MIN(\"plant\".\"height\"), 0)")
            try check(cast(n, as: .real), "CAST(\(count) AS REAL)")
            try check(abs(plants.sum(c)), "ABS(SUM(\"plant\".\"height\"))")
            try check(length(plants.max(c)), "LENGTH(MAX(\"plant\".\"height\"))")
            try check(n * 2 + 1, "(\(count) * 2) + 1")
            try check(-n, "-\(count)")
            try check(1 - n, "1 - \(count)")
            try check(n / n, "\(count) / \(count)")
            try check(n < 3, "\(count) < 3")
            try check(3 <= n, "3 <= \(count)")
            try check(n > n, "\(count) > \(count)")
            try check(n >= 2, "\(count) >= 2")
        }
    }

    @Test("have names", arguments: GardenStore.allCases)
    func names(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            func check(_ aggregate: AssociationAggregate<Garden>, _ name: String) throws {
                #expect(try gardens.rows(Garden.annotated(with: [aggregate])).first?.columnNames.last == name)
            }
            try check(Garden.beds.count, "bedCount")
            try check(Garden.beds.isEmpty, "hasNoBed")
            try check(Garden.plants.average { $0.height }, "averagePlantHeight")
            try check(Garden.plants.min { $0.height }, "minPlantHeight")
            try check(Garden.plants.max { $0.height }, "maxPlantHeight")
            try check(Garden.plants.sum { $0.height }, "plantHeightSum")
            try check(Garden.plants.total(Column("height")), "plantHeightSum")
            try check(Garden.plants.forKey("smallPlants").count, "smallPlantCount")
            try check(Garden.beds.count.forKey("n"), "n")
            try check(Garden.plants.min { $0.height } ?? 0, "minPlantHeight")
            try check(cast(Garden.beds.count, as: .text), "bedCount")
            try check(Garden.beds.count + 1, #"COUNT(DISTINCT "bed"."id") + ?"#)
        }
    }
}
