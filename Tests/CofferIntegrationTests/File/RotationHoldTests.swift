import Coffer
import CofferTestSupport
import Testing

@Suite("Open statements and objects of a connection whose key is rotated")
struct RotationHoldTests {
    enum Module: String, CaseIterable, Sendable {
        case fts3, fts4, fts5, rtree

        var creation: String {
            self == .rtree
                ? "CREATE VIRTUAL TABLE v USING rtree(id, x0, x1)"
                : "CREATE VIRTUAL TABLE v USING \(rawValue)(text)"
        }
        var insertion: String {
            self == .rtree ? "INSERT INTO v VALUES (NULL, 1, 2)" : "INSERT INTO v VALUES ('hello world')"
        }
        var search: String {
            self == .rtree
                ? "SELECT count(*) FROM v WHERE x0 > 0" : "SELECT count(*) FROM v WHERE v MATCH 'hello'"
        }
    }

    enum Change: String, CaseIterable, Sendable {
        case copy, inPlace, passphrase

        func run(_ writer: any DatabaseWriter, _ byte: UInt8) throws {
            let key = DatabaseKey.rawKey([UInt8](repeating: byte, count: 32))
            switch self {
            case .copy: try writer.rotateKey(to: key)
            case .inPlace:
                var options = DatabaseFile.RotationOptions()
                options.method = .inPlace
                try writer.rotateKey(to: key, options: options)
            case .passphrase:
                try writer.barrierWriteWithoutTransaction { try $0.changePassphrase("passphrase \(byte)") }
            }
        }
    }

    @Test(
        "the key is rotated again and again after the use of virtual tables", arguments: Module.allCases,
        Access.allCases)
    func virtualTables(module: Module, access: Access) throws {
        for change in Change.allCases {
            try withTestDirectory { directory in
                let writer = try directory.make(access)
                try writer.write { db in
                    try db.execute(sql: module.creation)
                    try db.execute(sql: module.insertion)
                }
                try change.run(writer, 1)
                #expect(try writer.read { try Int.fetchOne($0, sql: module.search) } == 1)
                try change.run(writer, 2)
                try change.run(writer, 3)
                try writer.writeWithoutTransaction { db in
                    try db.cachedStatement(sql: module.insertion).execute()
                    #expect(try Int.fetchOne(db, sql: module.search) == 2)
                }
                try change.run(writer, 4)
                #expect(try writer.read { try Int.fetchOne($0, sql: module.search) } == 2)
                try writer.close()
            }
        }
    }

    @Test(
        "the error names the application's open statement, not those of virtual tables",
        arguments: Access.allCases)
    func heldStatement(access: Access) throws {
        try withTestDirectory { directory in
            let writer = try directory.make(access)
            try writer.write { try $0.execute(sql: Module.fts5.creation + "; " + Module.fts5.insertion) }
            try writer.barrierWriteWithoutTransaction { db in
                let statement = try db.makeStatement(sql: "SELECT text FROM v ORDER BY rank")
                let error = #expect(throws: DatabaseError.self) { try db.changePassphrase("other") }
                #expect(error?.resultCode == .SQLITE_BUSY)
                #expect(
                    error?.message?.contains("SELECT text FROM v ORDER BY rank") == true,
                    "\(String(describing: error))")
                #expect(error?.message?.contains("v_data") == false)
                withExtendedLifetime(statement) {}
            }
            try writer.barrierWriteWithoutTransaction { try $0.changePassphrase("other") }
            #expect(try writer.read { try Int.fetchOne($0, sql: Module.fts5.search) } == 1)
        }
    }

    @Test(
        "a rotation that would lose temporary objects or attached databases names them and is refused",
        arguments: [
            ("CREATE TEMP TABLE scratch (a)", "table scratch"),
            ("CREATE TEMP VIEW scratch AS SELECT 1", "view scratch"),
            ("CREATE TEMP TRIGGER scratch AFTER INSERT ON t BEGIN SELECT 1; END", "trigger scratch"),
            ("ATTACH ':memory:' AS scratch", "scratch"),
            ("CREATE VIRTUAL TABLE temp.scratch USING fts5(a)", "table scratch"),
            ("ATTACH 'PATH' AS scratch", "scratch"),
        ])
    func lost(sql: String, words: String) throws {
        for access in Access.allCases {
            for change in Change.allCases {
                try withTestDirectory { directory in
                    let writer = try directory.make(access)
                    try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                    try writer.writeWithoutTransaction {
                        try $0.execute(sql: sql.replacing("PATH", with: directory.path("other.db")))
                        try $0.execute(sql: "INSERT INTO t VALUES (1)")
                    }
                    let error = #expect(throws: (any Error).self) { try change.run(writer, 9) }
                    #expect("\(String(describing: error))".contains(words), "\(String(describing: error))")
                    // Nothing has changed: the object exists, and the key is the same.
                    try writer.writeWithoutTransaction { db in
                        try db.execute(
                            sql: sql.hasPrefix("ATTACH")
                                ? "DETACH scratch" : "DROP \(words.prefix { $0 != " " }) temp.scratch")
                    }
                    try writer.close()
                    #expect(
                        try directory.make(access).read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
                }
            }
        }
    }
}
