import Coffer
import CofferTestSupport
import Testing

@Suite("Random schemas and records")
struct RandomRecordTests {
    /// A row of the table under test.
    private struct RandomRecord: FetchableRecord, PersistableRecord {
        @TaskLocal static var tableName = ""
        static var databaseTableName: String { tableName }

        var values: [(name: String, value: DatabaseValue)]

        init(_ values: [(name: String, value: DatabaseValue)]) { self.values = values }

        init(row: Row) { values = zip(row.columnNames, row.databaseValues).map { ($0, $1) } }

        func encode(to container: inout PersistenceContainer) {
            for (name, value) in values { container[name] = value }
        }

        func storage() -> [String] { values.map { "\($0.value.storage)" } }
    }

    @Test("record operations agree with hand-written SQL")
    func records() throws {
        try TwinTableTests.forEachSchema("records", withRows: false) { db, table, random in
            try RandomRecord.$tableName.withValue(table.name) {
                try check(db, table, &random)
            }
        }
    }

    private func check(_ db: Database, _ table: RandomTable, _ random: inout SeededRandom) throws {
        let names = table.columns.map(\.name)
        for row in table.rows { try RandomRecord(Array(zip(names, row)).map { ($0, $1) }).insert(db) }
        try table.insertRows(db, into: RandomTable.twin)
        try compare(db, table)
        guard !table.keyColumns.isEmpty else { return }

        for number in 0..<12 {
            // Some of the rows exist, and some do not.
            let row = table.row(Int.random(in: 0...(table.rows.count + 3), using: &random), &random)
            let record = RandomRecord(Array(zip(names, row)).map { ($0, $1) })
            let key = Dictionary(
                uniqueKeysWithValues: zip(names, row).filter { table.keyColumns.contains($0.0) })
            let condition = table.keyColumns.map { "\(RandomTable.quote($0)) = ?" }.joined(separator: " AND ")
            let keyArguments = table.keyColumns.map { key[$0] ?? .null }
            let stored = try Row.fetchOne(
                db, sql: "SELECT * FROM \(RandomTable.twin) WHERE \(condition)",
                arguments: StatementArguments(keyArguments))
            let exists = stored != nil

            let fetched = try RandomRecord.fetchOne(db, key: key)
            try #require(fetched?.storage() == stored.map(TwinTableTests.storage(of:)))
            try #require(try record.exists(db) == exists)
            try #require(try RandomRecord.exists(db, key: key) == exists)
            try #require(try RandomRecord.filter(key: key).fetchCount(db) == (exists ? 1 : 0))

            let assignments = names.filter { !table.keyColumns.contains($0) }
            let setting = assignments.map { "\(RandomTable.quote($0)) = ?" }.joined(separator: ", ")
            let values = zip(names, row).filter { assignments.contains($0.0) }.map(\.1)
            let update = { () throws in
                guard !setting.isEmpty else { return }
                try db.execute(
                    sql: "UPDATE \(RandomTable.twin) SET \(setting) WHERE \(condition)",
                    arguments: StatementArguments(values + keyArguments))
            }
            let insert = { () throws in
                let marks = names.map { _ in "?" }.joined(separator: ", ")
                try db.execute(
                    sql: "INSERT INTO \(RandomTable.twin) VALUES (\(marks))",
                    arguments: StatementArguments(row))
            }
            switch number % 4 {
            case 0:
                if exists {
                    try record.update(db)
                    try update()
                } else {
                    #expect(throws: RecordError.self) { try record.update(db) }
                }
            case 1:
                try record.save(db)
                try exists ? update() : insert()
            case 2:
                try #require(try record.delete(db) == exists)
                try db.execute(
                    sql: "DELETE FROM \(RandomTable.twin) WHERE \(condition)",
                    arguments: StatementArguments(keyArguments))
            default:
                if exists {
                    #expect(throws: DatabaseError.self) { try record.insert(db) }
                    try record.insert(db, onConflict: .replace)
                    try db.execute(
                        sql: "DELETE FROM \(RandomTable.twin) WHERE \(condition)",
                        arguments: StatementArguments(keyArguments))
                    try insert()
                } else {
                    try record.insert(db)
                    try insert()
                }
            }
            try compare(db, table)
        }
    }

    private func compare(_ db: Database, _ table: RandomTable) throws {
        try #require(
            try TwinTableTests.contents(db, table.name) == TwinTableTests.contents(db, RandomTable.twin))
        let records = try RandomRecord.fetchAll(db).map { $0.storage().joined(separator: ",") }.sorted()
        try #require(try records == TwinTableTests.contents(db, RandomTable.twin))
        try #require(try RandomRecord.fetchCount(db) == records.count)
    }
}
