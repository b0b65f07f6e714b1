import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Fetching records")
struct FetchableRecordTests {
    @Test(
        "records are fetched from SQL, statements and requests, as cursor, array, set or single record",
        arguments: Access.allCases)
    func fetching(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { db in
                try Athlete.createTable(db)
                try db.execute(sql: "INSERT INTO athlete (name, score) VALUES ('a', 1), ('b', 2)")
            }
            let a = Athlete(id: 1, name: "a", score: 1)
            let b = Athlete(id: 2, name: "b", score: 2)
            try database.read { db in
                let sql = "SELECT * FROM athlete WHERE score > ? ORDER BY id"
                #expect(try Athlete.fetchAll(db, sql: sql, arguments: [0]) == [a, b])
                #expect(try Athlete.fetchSet(db, sql: sql, arguments: [0]) == [a, b])
                #expect(try Athlete.fetchOne(db, sql: sql, arguments: [1]) == b)
                #expect(try Athlete.fetchOne(db, sql: sql, arguments: [2]) == nil)
                #expect(try Array(Athlete.fetchCursor(db, sql: sql, arguments: [0])) == [a, b])

                let statement = try db.makeStatement(sql: sql)
                #expect(try Athlete.fetchAll(statement, arguments: [0]) == [a, b])
                #expect(try Athlete.fetchSet(statement, arguments: [1]) == [b])
                #expect(try Athlete.fetchOne(statement) == b)
                let cursor: RecordCursor<Athlete> = try Athlete.fetchCursor(statement, arguments: [0])
                #expect(try cursor.next() == a)
                #expect(try cursor.next() == b)
                #expect(try cursor.next() == nil)

                let request = SQLRequest<Athlete>(sql: sql, arguments: [0])
                #expect(try request.fetchAll(db) == [a, b])
                #expect(try request.fetchSet(db) == [a, b])
                #expect(try request.fetchOne(db) == a)
                #expect(try Array(request.fetchCursor(db)) == [a, b])
                let rows = SQLRequest<Row>(sql: sql, arguments: [0])
                #expect(try Athlete.fetchAll(db, rows) == [a, b])
                #expect(try Athlete.fetchSet(db, rows) == [a, b])
                #expect(try Athlete.fetchOne(db, rows) == a)
                #expect(try Array(Athlete.fetchCursor(db, rows)) == [a, b])

                let adapter = ColumnMapping(["id": "i", "name": "n", "score": "s"])
                #expect(
                    try Athlete.fetchAll(db, sql: "SELECT 1 AS i, 'a' AS n, 1 AS s", adapter: adapter) == [a])
            }
        }
    }

    @Test(
        "codable records are decoded from columns in any order and letter case, also from copied and adapted rows"
    )
    func codable() throws {
        try DatabaseQueue().read { db in
            let france = Nation(code: "FR", name: "France", population: nil)
            let sql = "SELECT 1 AS more, 'France' AS NAME, 'FR' AS code, NULL AS population"
            #expect(try Nation.fetchOne(db, sql: sql) == france)
            #expect(try Nation.fetchOne(db, sql: "SELECT 'FR' AS code, 'France' AS name") == france)
            #expect(try Nation.fetchAll(db, sql: "\(sql) UNION ALL \(sql)") == [france, france])
            let row = try #require(try Row.fetchOne(db, sql: sql))
            #expect(try Nation(row: row) == france)
            #expect(
                try Nation(row: ["code": "FR", "name": "France", "population": 67])
                    == Nation(code: "FR", name: "France", population: 67))
            #expect(try FetchableRecordDecoder().decode(Nation.self, from: row) == france)
            let adapted = try Nation.fetchOne(
                db, sql: "SELECT 0, 'FR' AS c, 'France' AS n",
                adapter: ColumnMapping(["code": "c", "name": "n"]))
            #expect(adapted == france)
        }
    }

    @Test("a missing column and a value that does not fit are decoding errors that name the column")
    func errors() throws {
        try DatabaseQueue().read { db in
            #expect {
                try Nation.fetchAll(db, sql: "SELECT 'FR' AS code")
            } throws: { error in
                error is RowDecodingError && "\(error)".contains("column not found: \"name\"")
            }
            #expect {
                try Nation.fetchAll(db, sql: "SELECT 'FR' AS code, NULL AS name")
            } throws: { error in
                error is RowDecodingError && "\(error)".contains("could not decode String")
                    && "\(error)".contains("column: \"name\"")
            }
            // SQLite converts the values of statements. Only the values of a copied row have to fit.
            let adapter = SuffixRowAdapter(fromIndex: 0)
            let sql = "SELECT 'FR' AS code, 'France' AS name, 'many' AS population"
            #expect(try Nation.fetchOne(db, sql: sql, adapter: adapter)?.population == 0)
            let row = try #require(try Row.fetchOne(db, sql: sql, adapter: adapter))
            #expect(throws: RowDecodingError.self) { try Nation(row: row) }
        }
    }

    @Test("a cursor releases its row, its decoder and its statement")
    func noLeak() throws {
        try DatabaseQueue().read { db in
            weak var statement: Statement?
            do {
                let strong = try db.makeStatement(sql: "SELECT 'FR' AS code, 'France' AS name")
                statement = strong
                #expect(try Nation.fetchAll(strong).count == 1)
                let cursor = try Nation.fetchCursor(strong)
                #expect(try cursor.next() != nil)
            }
            #expect(statement == nil)
        }
    }
}
