import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Guesses of new users")
struct GuessTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `a.db` with a table of three rows.
    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 3)
    }

    @Test(
        "unambiguous arguments of other tools are translated to those of this tool",
        arguments: [
            ("tables a.db", "schema --tables a.db"), ("-q tables", "-q schema --tables"),
            ("completion fish", "--generate-completion-script=fish"), ("man", "help man"),
            ("man key add", "help key add"),
            ("backup list safe", "backup --list safe"), ("backup list safe a.db", "backup --list safe a.db"),
            ("query a.db --csv", "query a.db --format=csv"), ("shell a.db -csv", "shell a.db --format=csv"),
            ("batch query x --mode csv", "batch query x --format csv"),
            ("query --mode=line a.db", "query --format=line a.db"),
        ])
    func guesses(_ given: String, _ meant: String) {
        func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
        #expect(ArgumentGuess.resolving(words(given)) == words(meant))
    }

    @Test(
        "other arguments stay as they are",
        arguments: [
            "", "-q", "completion", "completion tcsh", "manual rotate", "backup list", "backup a.db list",
            "query a.db -- --csv", "import a.db --csv", "batch verify --mode csv", "help tables",
        ])
    func otherArguments(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        #expect(ArgumentGuess.resolving(words) == words)
    }

    @Test("names of tables are listed, without indexes and statements")
    func tables() throws {
        _ = try tool.shell().run("CREATE INDEX i ON t (text); CREATE VIEW v AS SELECT 1;")
        for words in [["tables", "a.db"], ["schema", "a.db", "--tables"]] {
            let result = try tool.run(words + key)
            #expect(result.status == 0 && result.output == "t\nv\n", "\(result)")
        }
    }

    @Test("rows are printed as CSV by the option of another shell")
    func csv() throws {
        let result = try tool.run(["query", "a.db", "SELECT id FROM t LIMIT 1", "--csv"] + key)
        #expect(result.status == 0 && result.output == "id\n1\n", "\(result)")
    }

    @Test("a table after the database is the only one in a dump, and the name of a script is refused")
    func dump() throws {
        _ = try tool.shell().run("CREATE TABLE u (a);")
        let result = try tool.run(["dump", "a.db", "u"] + key)
        #expect(
            result.status == 0 && result.output.contains("CREATE TABLE u") && !result.output.contains("row 1")
        )
        #expect(try tool.run(["dump", "a.db", "--table", "u"] + key).output == result.output)
        let script = try tool.run(["dump", "a.db", "a.sql"] + key)
        #expect(script.status == 64 && script.errors.contains("--out a.sql --yes-plaintext"), "\(script)")
        #expect(try tool.run(["dump", "a.db", "--out", "a.sql", "--yes-plaintext"] + key).status == 0)
    }

    @Test("the shell runs the commands and statements of its command line, up to the first failure")
    func shellCommands() throws {
        let result = try tool.run(
            ["shell", "a.db", ".tables", ".mode csv", "SELECT count(*) AS n FROM t", "SELECT 7 AS n;"] + key,
            input: "SELECT 'not read';")
        #expect(result.status == 0 && result.output.hasPrefix("t"), "\(result)")
        #expect(result.output.hasSuffix("n\n3\nn\n7\n"), "\(result)")
        let failing = try tool.run(["shell", "a.db", "SELEKT 1", "SELECT 'later'"] + key)
        #expect(failing.status == 64 && !failing.output.contains("later"), "\(failing)")
        let input = try tool.run(
            "shell", "a.db", ".tables", "--key-stdin", "--key-type", "raw", input: tool.text(of: "a.key"))
        #expect(input.status == 0 && input.output.hasPrefix("t"), "\(input)")
    }

    @Test("a query shows names and statements of the schema as the shell does")
    func schemaCommands() throws {
        _ = try tool.shell().run("CREATE INDEX i ON t (text); CREATE TABLE u (a);")
        for command in [".tables", ".tables t", " .schema u; ", ".indexes", ".indexes u"] {
            let result = try tool.run(["query", "a.db", command] + key)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            let shown = try tool.run(["shell", "a.db", command] + key)
            #expect(result.output == shown.output, "\(result)")
            #expect(result.output.isEmpty == (command == ".indexes u"), "\(result)")
        }
        for options in [["--json"], ["--dry-run"], ["--transaction"], ["--bind", "a=1"]] {
            let result = try tool.run(["query", "a.db", ".tables"] + options + key)
            #expect(result.status == 64 && result.description.contains("is a shell command"), "\(result)")
        }
    }

    @Test(
        "import refuses a table name that is also a file without a data extension, unless --from is given"
    )
    func importingIntoTableOfDottedName() throws {
        _ = try tool.shell().run("CREATE TABLE v1 (a); CREATE TABLE \"v1.0\" (a);")
        try tool.write("a\nfile\n", to: "v1.0")
        let arguments = ["import", "a.db", "v1.0"] + key
        let result = try tool.run(arguments, input: "a\npiped\n")
        #expect(result.status == 64 && result.errors.contains("'v1.0' is a file"), "\(result)")
        #expect(try tool.run(arguments + ["--from", "-"], input: "a\npiped\n").status == 0)
        #expect(try tool.shell().run("SELECT a FROM v1 UNION ALL SELECT a FROM \"v1.0\";") == ["piped"])
    }

    @Test("the input of an import can follow the table, or stand for a table of its name")
    func importing() throws {
        try tool.write("text\nrow 4\n", to: "rows.csv")
        #expect(try tool.run(["import", "a.db", "t", "rows.csv"] + key).status == 0)
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["4"])
        try tool.write("text\nrow 5\n", to: "t.csv")
        let named = try tool.run(["import", "a.db", "./t.csv"] + key, input: "text\nnot read\n")
        #expect(named.status == 0 && named.output.contains("1 row imported into t"), "\(named)")
        #expect(named.errors.contains("The rows of './t.csv' go to the table 't'."), "\(named)")
        #expect(try tool.shell().run("SELECT text FROM t WHERE id > 4;") == ["row 5"])
        let missing = try tool.run(["import", "a.db", "rows.csv"] + key)
        #expect(
            missing.status == 1
                && missing.errors.contains("coffer import a.db rows --from rows.csv --create\n"),
            "\(missing)")
        try tool.write("text\n", to: "Anna's rows.csv")
        let quoted = try tool.run(["import", "a.db", "Anna's rows.csv"] + key)
        #expect(quoted.errors.contains(#"a.db 'Anna'\''s rows' --from 'Anna'\''s rows.csv' --create"#))
        let input = try tool.run(["import", "a.db", "rows"] + key, input: "text\n")
        #expect(input.status == 1 && input.errors.contains("import a.db rows --create\n"), "\(input)")
        _ = try tool.directory.makeFolder("rows.d")
        for words in [["rows.csv", "t"], ["rows.d"]] {
            let result = try tool.run(["import", "a.db"] + words + key)
            #expect(result.status == 64 && result.errors.contains("TABLE --from rows."), "\(result)")
        }
        let twice = try tool.run(["import", "a.db", "t", "rows.csv", "--from", "rows.csv"] + key)
        #expect(twice.status == 64 && twice.errors.contains("Give the input once"), "\(twice)")
    }

    @Test("a number of backups names its unit, once")
    func options() throws {
        let number = try tool.run(["backup", "a.db", "--into", "safe", "--keep", "7"] + key)
        #expect(number.status == 64 && number.errors.contains("7d for seven days"), "\(number)")
        #expect(number.errors.components(separatedBy: "'7'").count == 2, "\(number)")
    }

    @Test("the latest backup replaces the database in this folder if all backups are of it")
    func restoring() throws {
        _ = try tool.directory.makeFolder("safe")
        #expect(try tool.run(["backup", "a.db", "--into", "safe"] + key).status == 0)
        let list = try tool.run("backup", "list", "safe")
        #expect(list.status == 0 && list.output.hasPrefix("a.db "), "\(list)")
        _ = try tool.shell().run("DELETE FROM t;")
        #expect(try tool.run(["restore", "safe"] + key).status == 0)
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["3"])
        let other = try tool.run(["restore", "safe", "b.db"] + key)
        #expect(other.status == 66 && other.errors.contains("backups of a.db."), "\(other)")
        // A database at another path, which the backups may not be of.
        _ = try tool.directory.makeFolder("other")
        try tool.makeDatabase("other/b.db")
        #expect(try tool.run(["backup", "other/b.db", "--into", "safe"] + key).status == 0)
        let several = try tool.run(["restore", "safe"] + key)
        #expect(several.status == 64 && several.errors.contains("coffer restore safe a.db"), "\(several)")
        let file = try tool.run(["restore", "a.db"] + key)
        #expect(file.status == 64 && file.errors.contains("coffer restore a.db DATABASE"), "\(file)")
    }

    @Test("'coffer help man' names the manual, and the places of its pages and of the completion")
    func manual() throws {
        let page = try tool.run("man")
        #expect(page.status == 0 && page.output.hasPrefix("OVERVIEW: The manual pages"), "\(page)")
        for words in ["man coffer", "generate-manual", "bash-completion/completions"] {
            #expect(page.output.contains(words))
        }
        let script = try tool.run("completion", "bash")
        #expect(script.status == 0 && script.output.contains("complete"), "\(script)")
        #expect(try tool.run("completion").errors.contains("Use 'coffer completion bash > "))
    }
}
