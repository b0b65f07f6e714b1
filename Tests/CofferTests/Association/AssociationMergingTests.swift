import CofferTestSupport
import Testing

@testable import Coffer

@Suite("Merging of associations", .serialized)
struct AssociationMergingTests {
    @Test("combines associations with the same key into one join", arguments: GardenStore.allCases)
    func merging(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let start = #"SELECT "bed".*, "garden".* FROM "bed" "#
            try gardens.expect(
                Bed.including(optional: Bed.garden.filter(Column("id") > 1).order(Column("id")))
                    .joining(required: Bed.garden.filter(Column("id") < 9)),
                start
                    + #"JOIN "garden" ON ("garden"."id" = "bed"."gardenId") AND ("garden"."id" > 1) AND ("garden"."id" < 9) "#
                    + #"ORDER BY "garden"."id""#)
            try gardens.expect(
                Bed.joining(optional: Bed.garden).including(optional: Bed.garden),
                start + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            // The merged association moves to the end, and the associations below it keep their places.
            try gardens.expect(
                Bed.including(optional: Bed.garden).including(optional: Bed.labels).including(
                    optional: Bed.garden),
                #"SELECT "bed".*, "label".*, "garden".* FROM "bed" LEFT JOIN "label" ON "label"."bedId" = "bed"."id" "#
                    + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId""#)
            try gardens.expect(
                Plant.including(
                    optional: Plant.bed.including(optional: Bed.garden).including(optional: Bed.labels)
                )
                .including(optional: Plant.bed.joining(optional: Bed.garden)),
                #"SELECT "plant".*, "bed".*, "garden".*, "label".* FROM "plant" LEFT JOIN "bed" ON "bed"."id" = "plant"."bedId" "#
                    + #"LEFT JOIN "garden" ON "garden"."id" = "bed"."gardenId" LEFT JOIN "label" ON "label"."bedId" = "bed"."id""#
            )
        }
    }

    @Test("is refused if different associations have the same key", arguments: GardenStore.allCases)
    func ambiguousKeys(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            func isAmbiguous(_ request: any FetchRequest, _ key: String) -> Bool {
                gardens.message(request)?.contains("The association key \"\(key)\" is ambiguous") == true
            }
            let garden = Bed.including(required: Bed.garden)
            #expect(isAmbiguous(garden.including(required: Bed.hasOne(Label.self, key: "garden")), "garden"))
            #expect(
                isAmbiguous(
                    garden.joining(optional: Bed.belongsTo(Garden.self, using: ForeignKey(["gardenId"]))),
                    "garden"))
            let cte = CommonTableExpression(named: "garden", sql: "SELECT 1")
            #expect(isAmbiguous(garden.joining(optional: Bed.association(to: cte)), "garden"))
            let (g, h) = (TableAlias<Garden>(name: "g"), TableAlias<Garden>(name: "h"))
            #expect(
                isAmbiguous(
                    Bed.joining(required: Bed.garden.aliased(g)).joining(required: Bed.garden.aliased(h)),
                    "garden"))
            #expect(
                isAmbiguous(
                    Garden.including(required: Garden.beds.forKey("bed")).including(
                        all: Garden.hasMany(Bed.self, key: "bed")), "bed"))
            let throughBed = Plant.hasMany(Label.self, through: Plant.bed, using: Bed.labels)
            #expect(isAmbiguous(Plant.including(required: Plant.bed).including(all: throughBed), "bed"))
            let both = Garden.including(all: Garden.beds).including(all: Garden.plants)
            #expect(
                gardens.message(both)?.contains(
                    "including(all:) uses it both for its rows and as a step") == true)
            try gardens.expect(
                Garden.including(required: Garden.beds).including(all: Garden.beds).limit(1),
                #"SELECT "garden".*, "bed".* FROM "garden" JOIN "bed" ON "bed"."gardenId" = "garden"."id" LIMIT 1"#,
                #"SELECT *, "gardenId" AS "grdb_gardenId" FROM "bed" WHERE "gardenId" = 1"#)
        }
    }

    @Test(
        "is refused for grouped or distinct rows, and for required joins after optional ones",
        arguments: GardenStore.allCases)
    func misuse(_ store: GardenStore) throws {
        try withGardens(store) { gardens throws in
            let behind = Plant.including(optional: Plant.bed.joining(required: Bed.garden))
            #expect(
                gardens.message(behind)?.contains("A required association cannot follow an optional one")
                    == true)
            #expect(
                gardens.message(Bed.joining(required: Bed.garden.distinct()))?.contains(
                    "cannot be joined, because it selects DISTINCT rows")
                    == true)
            #expect(
                gardens.message(Bed.joining(required: Bed.garden.group(Column("id"))))?.contains(
                    "cannot be joined, because it groups rows") == true)
            let aggregated = Bed.including(required: Bed.garden.annotated(with: Garden.beds.count))
            #expect(gardens.message(aggregated)?.contains("cannot be joined, because it groups rows") == true)
            let grouped = Garden.hasMany(
                Plant.self, through: Garden.beds.group(Column("id")), using: Bed.plants)
            #expect(
                gardens.message(Garden.including(all: grouped))?.contains(
                    "cannot be joined, because it groups rows")
                    == true)
            #expect(
                gardens.message(Garden.having(Garden.beds.joining(required: Bed.labels).isEmpty))?
                    .contains("A required association cannot follow an optional one") == true)
        }
    }

    @Test("does not cache one statement for each number of rows")
    func statementCache() throws {
        try withGardens(.plainMemory) { gardens throws in
            try gardens.execute(
                "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO garden SELECT i, 'g' FROM n"
            )
            let db = gardens.db
            _ = try gardens.rows(Garden.including(all: Garden.beds).limit(2))
            let count = db.statementCaches[.request].count
            for limit in 3...60 {
                _ = try gardens.rows(Garden.filter(Column("id") <= 100 + limit).including(all: Garden.beds))
            }
            #expect(db.statementCaches[.request].count <= count + 1)
        }
    }

    @Test("is a pure function of values") func values() throws {
        func relation(_ change: (inout Relation) -> Void) -> Relation {
            var relation = Relation(table: "bed", selection: [.allColumns])
            change(&relation)
            return relation
        }
        let key = JoinCondition.foreignKey(
            SQLForeignKey(originTable: "bed", destinationTable: "garden", foreignKey: nil), originIsLeft: true
        )
        func child(_ kind: AssociatedRelation.Kind, _ relation: Relation) -> AssociatedRelation {
            AssociatedRelation(key: "bed", kind: kind, condition: key, relation: relation)
        }
        let first = child(.optional, relation { $0.isDistinct = true })
        let second = child(.required, relation { $0.limit = .init(count: 3, offset: nil) })
        let merged = first.merged(with: second)
        #expect(merged.kind == .required)
        #expect(merged.relation.isDistinct)
        #expect(merged.relation.limit?.count == 3)
        #expect(merged.relation.misuse == nil)
        #expect(second.merged(with: first).kind == .required)
        #expect(first.merged(with: child(.prefetched, relation { _ in })).relation.misuse != nil)
    }
}

@Suite("Names of joined tables")
struct TableNamesTests {
    private func names(_ tables: (String, String?)...) throws -> [String] {
        try TableNames.names(of: tables.map { (tableName: $0.0, aliasName: $0.1) })
    }

    @Test("are unchanged if they are unique, and numbered otherwise") func numbers() throws {
        #expect(try names(("a", nil), ("b", nil)) == ["a", "b"])
        #expect(try names(("a", nil), ("b", nil), ("a", nil)) == ["a1", "b", "a2"])
        #expect(try names(("Person", nil), ("person", nil)) == ["Person1", "person2"])
    }

    @Test("leave digits of the table out, and skip numbers that are taken") func digits() throws {
        #expect(try names(("t1", nil), ("t1", nil)) == ["t1", "t2"])
        #expect(try names(("t", nil), ("t", nil), ("t1", nil)) == ["t2", "t3", "t1"])
        #expect(try names(("t1", nil), ("t1", nil), ("t2", nil)) == ["t1", "t3", "t2"])
    }

    @Test("follow aliases that have a name") func aliasNames() throws {
        #expect(try names(("person", "p"), ("person", nil)) == ["p", "person"])
        #expect(try names(("garden", "bed"), ("bed", nil)) == ["bed", "bed1"])
        #expect(try names(("person", nil), ("person", "p"), ("person", nil)) == ["person1", "p", "person2"])
        #expect(throws: DatabaseError.self) { try names(("a", "x"), ("b", "X")) }
    }
}
