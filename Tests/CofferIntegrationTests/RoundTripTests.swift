import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Runs 10,000 random statements against a model in memory, and checks the file with the `sqlcipher` shell.
@Suite("Round trips of values", .enabled(if: SQLCipherShell.isAvailable))
struct RoundTripTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "5,000 random statements leave the same content as the same changes to a dictionary",
        arguments: Access.allCases)
    func randomStatements(access: Access) throws {
        var random = SeededRandom("statements \(access)")
        var model: [Int64: RandomValue] = [:]
        let writer = try directory.make(access)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, v, note TEXT)") }
        var count = 0
        while count < 5000 {
            let batch = Int.random(in: 1...400, using: &random)
            let isKept = Int.random(in: 0..<5, using: &random) > 0
            let before = model
            try writer.writeWithoutTransaction { db in
                try db.inTransaction {
                    for _ in 0..<batch { try Operation.random(&random).run(db, &model, &random) }
                    return isKept ? .commit : .rollback
                }
            }
            if !isKept { model = before }
            count += batch
        }
        try writer.read { try check(model, in: $0, seed: random.seed) }
        try writer.close()
        try checkShell(model, seed: random.seed)
        // Check again after reopening.
        try directory.make(access).read { try check(model, in: $0, seed: random.seed) }
    }

    @Test("literals of the shell are read by Coffer unchanged")
    func literals() throws {
        var random = SeededRandom("literals")
        let values = (0..<1000).map { _ in RandomValue.random(&random) }
        _ = try directory.makeQueue()
        let inserts = values.enumerated().map { "INSERT INTO t VALUES (\($0 + 1), \($1.literal));" }
        _ = try SQLCipherShell(path: directory.path("a.db"))
            .run(
                "BEGIN; CREATE TABLE t (id INTEGER PRIMARY KEY, v);\n\(inserts.joined(separator: "\n"))\nCOMMIT;"
            )
        let model = Dictionary(uniqueKeysWithValues: values.enumerated().map { (Int64($0 + 1), $1) })
        try directory.makeQueue().read { try check(model, in: $0, seed: random.seed) }
    }

    @Test("random expressions have the same value in Coffer and in the shell")
    func expressions() throws {
        var random = SeededRandom("expressions")
        let expressions = (0..<1000).map { _ in RandomExpression.make(depth: 3, &random) }
        let sql = { (expression: String) in
            "SELECT typeof(x) || ' ' || CASE typeof(x) WHEN 'real' THEN quote(x) ELSE hex(x) END FROM (SELECT \(expression) AS x)"
        }
        let queue = try directory.makeQueue()
        let mine = try queue.read { db in
            try expressions.map { expression in
                do {
                    return try String.fetchOne(db, sql: sql(expression)) ?? "NULL"
                } catch let error as DatabaseError {
                    return "error \(error.resultCode.rawValue)"
                }
            }
        }
        // The shell would stop at an error, so statements with errors are left out.
        let answers = try SQLCipherShell(path: directory.path("a.db")).run(
            zip(expressions, mine).filter { !$1.hasPrefix("error") }.map { "\(sql($0.0));" }.joined(
                separator: "\n"))
        let expected = zip(expressions, mine).filter { !$1.hasPrefix("error") }
        #expect(expected.count > 900)
        #expect(answers.count == expected.count)
        for ((expression, mine), theirs) in zip(expected, answers) where mine != theirs {
            Issue.record("\(expression): \(mine), but the shell says \(theirs) (seed \(random.seed))")
        }
    }

    @Test("blobs and texts of 10 MB, also with NUL characters, are the same bytes for the shell")
    func largeValues() throws {
        var random = SeededRandom("large")
        let blob = Data(random.bytes(10_000_000))
        let text = String(repeating: "a\0é'\"\n𝄞", count: 1_000_000)
        let queue = try directory.makeQueue()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
            try db.execute(sql: "INSERT INTO t (v) VALUES (?), (?)", arguments: [blob, text])
        }
        try queue.read { db throws in
            #expect(try Data.fetchOne(db, sql: "SELECT v FROM t WHERE id = 1") == blob)
            #expect(try String.fetchOne(db, sql: "SELECT v FROM t WHERE id = 2") == text)
        }
        let answer = try SQLCipherShell(path: directory.path("a.db")).run(
            """
            SELECT typeof(v), length(CAST(v AS BLOB)) FROM t ORDER BY id;
            SELECT writefile('\(directory.path("1"))', v) + writefile('\(directory.path("2"))', CAST((SELECT \
            v FROM t WHERE id = 2) AS BLOB))
            FROM t WHERE id = 1;
            """)
        #expect(answer == ["blob|10000000", "text|\(text.utf8.count)", "\(10_000_000 + text.utf8.count)"])
        #expect(try Data(directory.bytes(of: "1")) == blob)
        #expect(try Data(directory.bytes(of: "2")) == Data(text.utf8))
    }

    @Test("2,000 columns are written, found by name and by position, and read by the shell")
    func manyColumns() throws {
        var random = SeededRandom("columns")
        let values = (0..<2000).map { _ in Int64(bitPattern: random.next()) }
        let names = (0..<2000).map { "c\($0)" }
        let queue = try directory.makeQueue()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE t (\(names.joined(separator: ", ")))")
            let marks = [String](repeating: "?", count: 2000).joined(separator: ", ")
            try db.execute(sql: "INSERT INTO t VALUES (\(marks))", arguments: StatementArguments(values))
        }
        let row = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM t") })
        #expect(row.count == 2000)
        #expect((0..<2000).allSatisfy { row[$0] as Int64 == values[$0] })
        #expect((0..<2000).reversed().allSatisfy { row[names[$0].uppercased()] as Int64 == values[$0] })
        #expect(
            try SQLCipherShell(path: directory.path("a.db")).run("SELECT * FROM t;") == [
                values.map(String.init).joined(separator: "|")
            ])
        try queue.inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "ALTER TABLE t ADD COLUMN one_more")
            }
            #expect(error?.resultCode == .SQLITE_ERROR)
        }
    }

    @Test("32,766 arguments are bound, and one more is refused")
    func manyArguments() throws {
        let queue = try directory.makeQueue()
        try queue.read { db throws in
            let most = db.maximumStatementArgumentCount
            #expect(most == 32766)
            let sum = { (count: Int) in
                try Int.fetchOne(
                    db,
                    sql:
                        "SELECT sum(column1) FROM (VALUES \([String](repeating: "(?)", count: count).joined(separator: ",")))",
                    arguments: StatementArguments(Array(1...count)))
            }
            #expect(try sum(most) == most * (most + 1) / 2)
            #expect(throws: DatabaseError.self) { try sum(most + 1) }
        }
    }

    @Test("values beyond SQLite's limits are refused with SQLITE_TOOBIG, and leave the statement usable")
    func tooBig() throws {
        let queue = try directory.makeQueue()
        try queue.inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT zeroblob(1000000001)")
            }
            #expect(error?.resultCode == .SQLITE_TOOBIG)
            #expect(try Int.fetchOne(db, sql: "SELECT length(zeroblob(1000))") == 1000)
        }
    }

    // MARK: - Checks

    private func check(_ model: [Int64: RandomValue], in db: Database, seed: UInt64) throws {
        var left = model
        let rows = try Row.fetchCursor(db, sql: "SELECT id, v, typeof(v) AS type, hex(v) AS hex FROM t")
        while let row = try rows.next() {
            let id: Int64 = row["id"]
            guard let expected = left.removeValue(forKey: id) else {
                Issue.record("row \(id) must not exist (seed \(seed))")
                continue
            }
            let value: DatabaseValue = row["v"]
            if !expected.matches(value) || row["type"] != expected.type {
                Issue.record("row \(id): \(value) instead of \(expected) (seed \(seed))")
            }
            if let hex = expected.hex, hex != row["hex"] {
                Issue.record("row \(id): other bytes than \(expected) (seed \(seed))")
            }
        }
        #expect(left.isEmpty, "rows are missing (seed \(seed))")
    }

    /// Checks the exact bits of numbers and the exact bytes of all other values, with another program.
    private func checkShell(_ model: [Int64: RandomValue], seed: UInt64) throws {
        let lines = try SQLCipherShell(path: directory.path("a.db")).run(
            """
            SELECT id, typeof(v), CASE typeof(v) WHEN 'real' THEN hex(ieee754_to_blob(v)) WHEN 'integer' \
            THEN quote(v) ELSE hex(v) END
            FROM t ORDER BY id;
            PRAGMA integrity_check;
            """)
        let expected = model.sorted { $0.key < $1.key }.map { "\($0)|\($1.type)|\($1.shellText)" } + ["ok"]
        #expect(lines.count == expected.count)
        for (line, expected) in zip(lines, expected) where line != expected {
            Issue.record(
                "the shell reads \(line.prefix(200)) instead of \(expected.prefix(200)) (seed \(seed))")
        }
    }
}
