import Coffer
import CofferTestSupport
import Foundation
import Testing

/// A tokenizer that is not available to work on closed files, because there is no connection to add it to.
private final class Initials: FTS5WrapperTokenizer {
    static let name = "initials"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws { wrappedTokenizer = try db.makeTokenizer(.unicode61()) }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        try tokenCallback(String(token.prefix(1)), flags)
    }
}

@Suite("Files with virtual tables")
struct FullTextFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func configuration(_ form: FileForm) -> Configuration {
        form.configuration.with { $0.prepareDatabase { db in db.add(tokenizer: Initials.self) } }
    }

    /// Creates every kind of virtual table that the engine supports.
    private static func fill(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        try db.create(virtualTable: "third", using: FTS3()) { t in
            t.column("body"); t.tokenizer = .porter
        }
        try db.create(virtualTable: "fourth", using: FTS4()) { t in
            t.column("body"); t.prefixes = [2]; t.tokenizer = .unicode61()
        }
        try db.create(virtualTable: "fourthOfNote", using: FTS4()) { t in
            t.synchronize(withTable: "note"); t.column("title"); t.column("body")
        }
        try db.create(virtualTable: "fifth", using: FTS5()) { t in
            t.column("body"); t.prefixes = [2]; t.detail = "column"; t.columnSize = 0
        }
        try db.create(virtualTable: "fifthOfNote", using: FTS5()) { t in
            t.synchronize(withTable: "note"); t.column("title"); t.column("body")
        }
        try db.create(virtualTable: "contentless", using: FTS5()) { t in
            t.content = ""; t.column("body")
        }
        try db.create(virtualTable: "swift", using: FTS5()) { t in
            t.tokenizer = Initials.tokenizerDescriptor(); t.column("body")
        }
        try db.create(virtualTable: "vocabulary", using: "fts5vocab(fifth, row)")
        try db.create(virtualTable: "place", using: "rtree(id, x0, x1)")
        for id in 1...400 {
            try db.execute(
                sql: "INSERT INTO note VALUES (?, 'tulip ' || ?, 'red and late')", arguments: [id, id])
            for table in ["third", "fourth", "fifth", "contentless", "swift"] {
                try db.execute(
                    sql: "INSERT INTO \(table)(rowid, body) VALUES (?, 'late tulips of bed ' || ?)",
                    arguments: [id, id % 7])
            }
            try db.execute(sql: "INSERT INTO place VALUES (?, ?, ?)", arguments: [id, id, id + 1])
        }
        try db.execute(
            sql: "DELETE FROM note WHERE id % 5 = 0; UPDATE note SET body = 'green' WHERE id % 3 = 0")
    }

    /// Returns the results of searches, which must be the same in every copy.
    private static func answers(_ db: Database) throws -> [[Int64]] {
        let searches = [
            ("third", "tulip"), ("fourth", "tu*"), ("fourthOfNote", "red"), ("fourthOfNote", "title:7"),
            ("fifth", "la* 3"),
            ("fifthOfNote", "green"), ("contentless", "bed"), ("swift", "l AND t"),
        ]
        return try searches.map { table, pattern in
            try Int64.fetchAll(
                db, sql: "SELECT rowid FROM \(table) WHERE \(table) MATCH ? ORDER BY rowid",
                arguments: [pattern])
        } + [
            Int64.fetchAll(db, sql: "SELECT id FROM place WHERE x0 > 20 AND x1 < 30 ORDER BY id"),
            Int64.fetchAll(db, sql: "SELECT doc FROM vocabulary ORDER BY term"),
        ]
    }

    /// Checks that a database has the content of its source, and that its indexes are synchronized.
    private func check(_ db: Database, _ expected: [[Int64]]) throws {
        #expect(try FullTextFileTests.answers(db) == expected)
        #expect(expected.allSatisfy { !$0.isEmpty })
        for table in ["third", "fourth", "fourthOfNote", "fifth", "fifthOfNote", "swift"] {
            try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
        }
        try db.execute(
            sql: "INSERT INTO note VALUES (1000, 'new', 'yellow'); INSERT INTO swift VALUES ('zebra')")
        for (table, pattern) in [("fourthOfNote", "yellow"), ("fifthOfNote", "yellow"), ("swift", "z")] {
            #expect(
                try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM \(table) WHERE \(table) MATCH ?", arguments: [pattern])
                    == 1)
        }
        #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
    }

    private func makeFile(_ form: FileForm, _ name: String = "a.db") throws -> [[Int64]] {
        let queue = try DatabaseQueue(path: directory.path(name), configuration: configuration(form))
        let answers = try queue.write { db throws in
            try FullTextFileTests.fill(db)
            return try FullTextFileTests.answers(db)
        }
        try queue.close()
        return answers
    }

    @Test(
        "operations on closed files keep every kind of virtual table, even without its tokenizer",
        arguments: FileWork.allCases)
    func closedFiles(work: FileWork) throws {
        let answers = try makeFile(work.before)
        #expect(try work.run(directory.path("a.db")))
        #expect(work.after.isIntact(directory.path("a.db")))
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration(work.after))
        try queue.write { db throws in try check(db, answers) }
    }

    @Test(
        "backups, and vacuums into a file or in place, keep every kind of virtual table",
        arguments: [false, true])
    func copies(isUsed: Bool) throws {
        let form = FileForm.encrypted(0x42)
        let answers = try makeFile(form)
        let source = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration(form))
        if isUsed { #expect(try source.read { try FullTextFileTests.answers($0) } == answers) }
        let backup = try DatabaseQueue(path: directory.path("backup.db"), configuration: configuration(form))
        try source.backup(to: backup)
        try backup.write { db throws in try check(db, answers) }
        let otherForm = try DatabaseQueue(
            path: directory.path("form3.db"), configuration: configuration(.encrypted(0x17, format: 3)))
        try source.backup(to: otherForm)
        try otherForm.write { db throws in try check(db, answers) }
        try source.vacuum(into: directory.path("vacuumed.db"))
        let vacuumed = try DatabaseQueue(
            path: directory.path("vacuumed.db"), configuration: configuration(form))
        try vacuumed.write { db throws in try check(db, answers) }
        try source.vacuum()
        try source.write { db throws in try check(db, answers) }
        try source.close()
        var options = DatabaseFile.VerificationOptions()
        options.structure = .full
        let key = try #require(form.key)
        for name in ["a.db", "backup.db", "vacuumed.db"] {
            if name == "backup.db" { try backup.close() }
            if name == "vacuumed.db" { try vacuumed.close() }
            #expect(try DatabaseFile(path: directory.path(name)).verify(key: key, options: options).isIntact)
        }
    }

    @Test("erasing removes every kind of virtual table", arguments: [false, true])
    func erasing(isUsed: Bool) throws {
        let form = FileForm.encrypted(0x42)
        let answers = try makeFile(form)
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration(form))
        if isUsed { #expect(try queue.read { try FullTextFileTests.answers($0) } == answers) }
        try queue.erase()
        try queue.write { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0)
            try FullTextFileTests.fill(db)
            try check(db, FullTextFileTests.answers(db))
        }
    }

    @Test(
        "the stock shell and Coffer can search each other's indexes",
        .enabled(if: SQLCipherShell.isAvailable))
    func shell() throws {
        _ = try makeFile(.encrypted(0x42))
        let shell = SQLCipherShell(path: directory.path("a.db"))
        #expect(try shell.run("SELECT count(*) FROM fifthOfNote WHERE fifthOfNote MATCH 'gre*';") == ["107"])
        #expect(
            try shell.run(
                "INSERT INTO note VALUES (2000, 'shell', 'purple'); SELECT count(*) FROM fourthOfNote WHERE fourthOfNote MATCH 'purple';"
            )
                == ["1"])
        let queue = try DatabaseQueue(
            path: directory.path("a.db"), configuration: configuration(.encrypted(0x42)))
        let pattern = try FTS5Pattern(rawPattern: "purple")
        #expect(try queue.read { try Table("fifthOfNote").matching(pattern).fetchCount($0) } == 1)
    }
}
