import CofferTestSupport
import Foundation
import Testing

@Suite("Creating and querying")
struct CreateAndQueryTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
    }

    @Test("a new database is empty, private, and opened by the stock shell")
    func creating() throws {
        let result = try tool.run(["create", "a.db"] + key)
        #expect(result.status == 0)
        #expect(
            try tool.shell().run("SELECT count(*) FROM sqlite_master; PRAGMA integrity_check;") == [
                "0", "ok",
            ])
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("a.db"))[.posixPermissions]
            as? Int
        #expect(mode == 0o600)
        #expect(tool.directory.fileNames() == ["a.db", "a.key"])
    }

    @Test("nothing is overwritten, and a failed creation leaves nothing")
    func refusals() throws {
        try tool.write("precious", to: "a.db")
        #expect(try tool.run(["create", "a.db"] + key).status == 73)
        #expect(try tool.text(of: "a.db") == "precious")
        try FileManager.default.createSymbolicLink(
            atPath: tool.directory.path("link"), withDestinationPath: "target")
        #expect(try tool.run(["create", "link"] + key).status == 73)
        #expect(!tool.exists("target"))
        #expect(try tool.run(["create", "no/such/folder/b.db"] + key).status == 73)
        #expect(try tool.run("create", "b.db", "--key-stdin", input: "").status == 77)
        #expect(!tool.exists("b.db"))
    }

    @Test(
        "a file with the name of a log or a journal of the new database is kept, and no database is created",
        arguments: ["create a.db", "create a.db --dry-run", "key init a.db"], ["a.db-wal", "a.db-journal"])
    func besideFile(command: String, side: String) throws {
        try tool.write("My thesis. Chapter one.", to: side)
        let isInit = command == "key init a.db"
        let key = isInit ? ["--new-key-file", "a.key", "--new-key-type", "raw"] : key
        let result = try tool.run(command.split(separator: " ").map(String.init) + key)
        #expect(result.status == (isInit ? 65 : 73) && result.errors.contains(side), "\(result)")
        #expect(try tool.text(of: side) == "My thesis. Chapter one.")
        #expect(tool.directory.fileNames() == ["a.key", side].sorted())
    }

    @Test("a dry run creates nothing")
    func dryRun() throws {
        #expect(try tool.run(["create", "a.db", "--dry-run"] + key).status == 0)
        #expect(!tool.exists("a.db"))
    }

    @Test("a database created with cipher options needs them to be opened")
    func cipherOptions() throws {
        #expect(
            try tool.run(["create", "a.db", "--kdf-iterations", "1000", "--key-stdin"], input: "open sesame")
                .status == 0)
        #expect(
            try tool.run(
                ["query", "a.db", "SELECT 1", "--kdf-iterations", "1000", "--key-stdin"], input: "open sesame"
            ).status == 0)
        #expect(
            try tool.run(["query", "a.db", "SELECT 1", "--key-stdin"], input: "open sesame").status == 77)
        let shell = SQLCipherShell(
            path: tool.directory.path("a.db"), passphrase: "open sesame",
            preparation: "PRAGMA kdf_iter = 1000;")
        #expect(try shell.run("SELECT count(*) FROM sqlite_master;") == ["0"])
    }

    @Test("rows come as a table, as CSV, and as JSON")
    func formats() throws {
        try tool.makeDatabase()
        #expect(
            try tool.run(
                ["query", "a.db", "INSERT INTO t VALUES (2, 'a \"b\", c'), (30, NULL)", "--write"] + key
            ).status == 0)
        let sql = "SELECT *, x'00ff' AS blob FROM t"
        #expect(
            try tool.run(["query", "a.db", sql] + key).output == """
                id  text      blob
                --  --------  -------
                1   row 1     x'00ff'
                2   a "b", c  x'00ff'
                30  NULL      x'00ff'

                """)
        #expect(
            try tool.run(["query", "a.db", sql, "--format", "csv"] + key).output == """
                id,text,blob
                1,row 1,x'00ff'
                2,"a ""b"", c",x'00ff'
                30,,x'00ff'

                """)
        let json = try tool.run(["query", "a.db", sql, "--format", "json"] + key).output
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        #expect(rows.count == 3)
        #expect(rows[1]["text"] as? String == "a \"b\", c")
        #expect(rows[2]["text"] is NSNull)
        #expect(
            try tool.run(["query", "a.db", "SELECT 1 WHERE 0", "--format", "json"] + key).output == "[]\n")
        #expect(
            try tool.run(["query", "a.db", "SELECT 1 AS a, 2 AS a", "--format", "json"] + key).output
                .contains(#""a":1,"a:2":2"#))
        let taken = try tool.run(
            ["query", "a.db", #"SELECT 1 AS a, 2 AS a, 3 AS "a:2", 4 AS a"#, "--format", "json"] + key
        ).output
        #expect(taken.contains(#""a":1,"a:3":2,"a:2":3,"a:4":4"#))
    }

    @Test("control characters in the data are escaped in the default output format")
    func controlCharacters() throws {
        try tool.makeDatabase()
        let output = try tool.run(
            ["query", "a.db", "SELECT char(27) || '[31m' || char(10) || 'x' AS a"] + key
        ).output
        #expect(!output.contains("\u{1b}"))
        #expect(output.contains("\\u{1b}[31m\\nx"))
    }

    @Test("a query is read-only without --write")
    func writing() throws {
        try tool.makeDatabase()
        for sql in [
            "INSERT INTO t VALUES (2, 'x')", "DELETE FROM t", "PRAGMA user_version = 7", "CREATE TABLE u (a)",
        ] {
            let refused = try tool.run(["query", "a.db", sql] + key)
            #expect(refused.status == 64, "\(sql): \(refused)")
            #expect(refused.errors.contains("--write"))
        }
        #expect(
            try tool.run(["query", "a.db", "UPDATE t SET text = 'new'", "--write"] + key).errors.contains(
                "1 row changed"))
        #expect(try tool.run(["query", "a.db", "DELETE FROM t", "--write", "--dry-run"] + key).status == 0)
        #expect(try tool.shell().run("SELECT text FROM t;") == ["new"])
        #expect(
            try tool.run(
                ["query", "a.db", "INSERT INTO t VALUES (9, 'z') RETURNING id", "--write", "--format", "csv"]
                    + key
            ).output
                == "id\n9\n")
    }

    @Test("statements that cannot run, or have a key in them, are refused")
    func statements() throws {
        try tool.makeDatabase()
        #expect(try tool.run(["query", "a.db", "  -- nothing"] + key).status == 64)
        #expect(try tool.run(["query", "a.db", "SELEKT 1"] + key).status == 64)
        #expect(try tool.run(["query", "a.db", "PRAGMA rekey = 'secret'", "--write"] + key).status == 64)
        #expect(
            try tool.run(["query", "a.db", "INSERT INTO t (id) VALUES (1)", "--write"] + key).status == 1)
        #expect(
            try tool.run(
                ["query", "a.db", "-", "--format", "csv", "--no-header"] + key,
                input: "SELECT text\nFROM t;\n"
            ).output
                == "row 1\n")
        #expect(try tool.run(["query", "none.db", "SELECT 1"] + key).status == 66)
    }

    @Test("a signal ends a long query")
    func interruption() throws {
        try tool.makeDatabase()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        for (number, status) in [(SIGINT, Int32(130)), (SIGTERM, 143), (SIGHUP, 4)] {
            // Verbose output shows when the statement is running.
            let query = try tool.start(["query", "a.db", endless, "--verbose"] + key)
            while !query.text(of: "errors").contains("running") { usleep(2000) }
            query.send(number)
            #expect(query.wait().status == status)
        }
    }

    @Test("a closed pipe ends the output without an error, and a full disk ends it with 74")
    func outputFailures() throws {
        try tool.makeDatabase(rows: 1)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        let head = try tool.run(
            [
                "-c",
                "'\(Tool.program)' query a.db '\(endless)' --format csv --key-file a.key --key-type raw | head -n 2",
            ], program: "/bin/sh"
        )
        #expect(head.output == "i\n1\n")
        #expect(head.errors == "")
        let full = try tool.run(
            [
                "-c",
                "exec '\(Tool.program)' query a.db 'SELECT 1' --format csv --key-file a.key --key-type raw > /dev/full",
            ],
            program: "/bin/sh")
        #expect(full.status == 74)
    }
}
