import Testing

@testable import Coffer

@Suite struct DatabaseRegionTests {
    private let player = DatabaseRegion(table: "player")
    private let name = DatabaseRegion(table: "player", columns: ["name"])
    private let score = DatabaseRegion(table: "player", columns: ["score"])
    private let team = DatabaseRegion(table: "team", columns: ["id", "name"])
    private let rows = DatabaseRegion(table: "player", rowIds: [2, 1])

    @Test("a region describes its tables, columns and rows in order")
    func description() {
        #expect(DatabaseRegion().description == "empty")
        #expect(DatabaseRegion.fullDatabase.description == "full database")
        #expect(player.description == "player(*)")
        #expect(team.union(name).description == "player(name),team(id,name)")
        #expect(rows.description == "player(*)[1,2]")
        #expect(name.tableIntersection("player", rowIds: [7]).description == "player(name)[7]")
    }

    @Test("a region without columns or rows is empty")
    func emptiness() {
        #expect(DatabaseRegion().isEmpty)
        #expect(DatabaseRegion(table: "player", columns: []).isEmpty)
        #expect(DatabaseRegion(table: "player", rowIds: []).isEmpty)
        #expect(name.intersection(score).isEmpty)
        #expect(name.intersection(team).isEmpty)
        #expect(!DatabaseRegion.fullDatabase.isEmpty)
        #expect(DatabaseRegion.fullDatabase.isFullDatabase)
        #expect(!player.isFullDatabase)
    }

    @Test("unions and intersections obey the laws of sets")
    func algebra() {
        let regions = [
            DatabaseRegion(), .fullDatabase, player, name, score, team, rows, name.union(team),
            rows.union(team),
        ]
        for a in regions {
            #expect(a.union(a) == a)
            #expect(a.intersection(a) == a)
            #expect(a.union(DatabaseRegion()) == a)
            #expect(a.intersection(.fullDatabase) == a)
            #expect(a.union(.fullDatabase).isFullDatabase)
            #expect(a.intersection(DatabaseRegion()).isEmpty)
            for b in regions {
                #expect(a.union(b) == b.union(a))
                #expect(a.intersection(b) == b.intersection(a))
                #expect(a.union(a.intersection(b)) == a)
            }
        }
        #expect(name.union(score).description == "player(name,score)")
        #expect(name.union(player) == player)
        #expect(rows.union(DatabaseRegion(table: "player", rowIds: [5])).description == "player(*)[1,2,5]")
        #expect(rows.union(player) == player)
    }

    @Test("names are compared without ASCII case, but with the case of other letters")
    func caseOfNames() {
        #expect(DatabaseRegion(table: "PLAYER", columns: ["Name"]) == name)
        #expect(name.isModified(byEventsOfKind: .update(tableName: "Player", columnNames: ["NAME"])))
        #expect(DatabaseRegion(table: "É") != DatabaseRegion(table: "é"))
    }

    @Test("the kind of a change determines whether it may alter a region")
    func kinds() {
        #expect(name.isModified(byEventsOfKind: .insert(tableName: "player")))
        #expect(name.isModified(byEventsOfKind: .delete(tableName: "player")))
        #expect(name.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["id", "name"])))
        #expect(!name.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])))
        #expect(player.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])))
        #expect(!name.isModified(byEventsOfKind: .insert(tableName: "team")))
        #expect(DatabaseRegion.fullDatabase.isModified(byEventsOfKind: .insert(tableName: "anything")))
        #expect(!DatabaseRegion().isModified(byEventsOfKind: .insert(tableName: "player")))
    }

    @Test("a change alters a region of rows only if the region contains the row")
    func events() {
        let event = DatabaseEvent(kind: .update, databaseName: "main", tableName: "player", rowID: 2)
        let other = DatabaseEvent(kind: .update, databaseName: "main", tableName: "player", rowID: 3)
        #expect(rows.isModified(by: event))
        #expect(!rows.isModified(by: other))
        #expect(player.isModified(by: other))
        #expect(!team.isModified(by: other))
        #expect(DatabaseRegion.fullDatabase.isModified(by: other))
        #expect(event.copy() == event)
    }

    @Test("SQLite's own tables are known by their names")
    func internalTables() {
        #expect("SQLITE_master".isSQLiteInternalTableName)
        #expect(!"sqliteful".isSQLiteInternalTableName)
    }
}
