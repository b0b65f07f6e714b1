public import Coffer
import CofferTestSupport
import Dispatch
public import Foundation
import Testing

/// Declarations that programs for GRDB 7 use. Half of the test is that they compile.
@Suite("GRDB symbols that programs use")
struct SymbolTests {
    private struct Owner: Codable, Identifiable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "owner"
        var id: Int64
        var name: String
    }

    private enum Name: CodingKey { case name }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO owner VALUES (1, 'b'), (2, 'a'), (3, NULL)
                    """)
        }
        return queue
    }

    @Test("an optional column is a column, or NULL")
    func optionalColumns() throws {
        try makeQueue().read { (db) throws in
            let name: Column? = Column("name")
            let none: Column? = nil
            #expect(try Int.fetchAll(db, Table("owner").filter(name == "a").select(Column("id"))) == [2])
            #expect(
                try Int.fetchAll(db, Table("owner").filter(name != nil).order(name).select(Column("id"))) == [
                    2, 1,
                ])
            #expect(
                try Int.fetchAll(db, Table("owner").order(none, Column("id").desc).select(Column("id"))) == [
                    3, 2, 1,
                ])
            #expect(
                try Row.fetchAll(db, Table("owner").select(name, none)).map {
                    $0.databaseValues.map(\.isNull)
                }[0] == [false, true])
            #expect(try Table("owner").filter(none).fetchCount(db) == 0)
        }
    }

    @Test("SQL literals accept identifiers and existentials")
    func interpolations() throws {
        try makeQueue().read { (db) throws in
            let table = "owner"
            let key: any CodingKey = Name.name
            let ordering: any SQLOrderingTerm = Column("id").desc
            let type: any TableRecord.Type = Owner.self
            let request: SQLRequest<String?> = "SELECT \(key) FROM \(identifier: table) ORDER BY \(ordering)"
            #expect(try request.fetchAll(db) == [nil, "a", "b"])
            #expect(try Int.fetchOne(db, SQLRequest<Int>("SELECT COUNT(*) FROM \(type)")) == 3)
            #expect(
                try String.fetchOne(db, SQLRequest<String>("SELECT \("x") AS \(identifier: "a \"b\"")"))
                    == "x")
        }
    }

    @Test("missing records are described by type, key and record")
    func recordsNotFound() throws {
        try makeQueue().read { (db) throws in
            let texts = [
                "\(Owner.recordNotFound(db, key: 7))", "\(Owner.recordNotFound(db, id: 7))",
                "\(Owner.recordNotFound(key: ["id": 7]))",
                "\(Owner(id: 7, name: "x").recordNotFound(db))",
            ]
            #expect(Set(texts) == ["Key not found in table owner: [id:7]"])
        }
    }

    @Test("a violation becomes the error that SQLite would have thrown")
    func violations() throws {
        try makeQueue().writeWithoutTransaction { (db) throws in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = 0;
                    CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner(id));
                    INSERT INTO item VALUES (1, 9)
                    """)
            let violation = try #require(try db.foreignKeyViolations().next())
            let error = violation.databaseError(db)
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(
                error.message
                    == "FOREIGN KEY constraint violation - from item(ownerId) to owner(id), in [id:1 ownerId:9]"
            )
            let row = try #require(try Row.fetchOne(db, sql: "PRAGMA foreign_key_check"))
            #expect(ForeignKeyViolation(row: row).originTable == "item")
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(owner)").map { ColumnInfo(row: $0) }
            #expect(columns.map(\.name) == ["id", "name"])
        }
    }

    @Test("names of objects and schemas")
    func objectNames() {
        #expect(DatabaseObjectID(name: "v", schemaID: .main).name == "v")
        #expect(DatabaseSchemaID.main.schemaTableName == "sqlite_master")
        #expect(DatabaseSchemaID.temp.schemaTableName == "sqlite_temp_master")
        #expect(DatabaseSchemaID.attached("other").schemaTableName == "sqlite_master")
    }

    @Test("the elements of a container are columns with their stored values")
    func containerElements() throws {
        for (column, value) in try PersistenceContainer(Owner(id: 1, name: "x")) {
            let stored: DatabaseValue = value
            #expect(stored == (column == "id" ? 1.databaseValue : "x".databaseValue))
        }
    }

    @Test("the last error of the connection is reported, without a key")
    func lastErrors() throws {
        try makeQueue().writeWithoutTransaction { (db) throws in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO owner VALUES (1, 'c')") }
            #expect(db.lastErrorCode == .SQLITE_CONSTRAINT)
            #expect(db.lastErrorMessage == "UNIQUE constraint failed: owner.id")
            try db.execute(sql: "SELECT 1")
            #expect(db.lastErrorCode == .SQLITE_OK)
        }
    }

    @Test("the Community edition ignores a license, and does not trace it")
    func license() throws {
        let recorder = SQLRecorder()
        try makeQueue().writeWithoutTransaction { (db) throws in
            recorder.record(db)
            try db.applySQLCipherLicense("it's a \"code\"")
            #expect(recorder.statements == [])
        }
    }

    @Test("SQLCipher log targets can be created from their names")
    func logTargets() {
        #expect(Database.SQLCipherLogTarget(rawValue: "stdout") == .stdout)
        #expect(Database.SQLCipherLogTarget(rawValue: "/vault/log") == .file("/vault/log"))
        #expect(Database.SQLCipherLogTarget.device.rawValue == "device")
    }

    @Test("a snapshot can be read inside its own read")
    func reentrantReads() throws {
        try withTestDirectory { directory in
            let pool = try DatabasePool(path: directory.path("pool.db"), configuration: .rawKeyed)
            let snapshot = try pool.makeSnapshot()
            let value = try snapshot.read { _ in
                try snapshot.reentrantRead { try Int.fetchOne($0, sql: "SELECT 5") }
            }
            #expect(value == 5)
        }
    }

    @Test(
        "names of tables come from names of types",
        arguments: zip(
            ["iPhone", "aB", "_Safe", "ÉCole", "Safe", "URLItem"],
            ["iphone", "ab", "_safe", "école", "safe", "urlItem"]))
    func tableNames(type: String, table: String) {
        #expect(defaultTableNames[type] == table)
    }

    private let defaultTableNames = [
        "iPhone": iPhone.databaseTableName, "aB": aB.databaseTableName, "_Safe": _Safe.databaseTableName,
        "ÉCole": ÉCole.databaseTableName, "Safe": Safe.databaseTableName,
        "URLItem": URLItem.databaseTableName,
    ]

    @Test("a value type is stored like the object that it wraps")
    func referenceTypes() {
        let zone = TimeZone(identifier: "Europe/Paris")
        #expect(zone?.databaseValue == "Europe/Paris".databaseValue)
        #expect(TimeZone.fromDatabaseValue("Europe/Paris".databaseValue) == zone)
        #expect(TimeZone.fromDatabaseValue("nowhere".databaseValue) == nil)
    }

    @Test("schedulers can be created by their type names")
    func schedulers() {
        let queue = DispatchQueue(label: "values")
        let scheduler = AsyncValueObservationScheduler(queue: queue)
        #expect(!scheduler.immediateInitialValue())
        _ = ImmediateValueObservationScheduler()
        func take<T: GRDBSendableMetatype>(_ type: T.Type) -> String { "\(type)" }
        #expect(take(Int.self) == "Int")
    }
}

// swift-format-ignore: TypeNamesShouldBeCapitalized
private struct iPhone: TableRecord {}
// swift-format-ignore: TypeNamesShouldBeCapitalized
private struct aB: TableRecord {}
// swift-format-ignore: NoLeadingUnderscores
private struct _Safe: TableRecord {}
private struct ÉCole: TableRecord {}
private struct Safe: TableRecord {}
private struct URLItem: TableRecord {}

extension NSTimeZone: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { name.databaseValue }
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSTimeZone(name: $0) as? Self }
    }
}

extension TimeZone: DatabaseValueConvertible {}
