import CofferTestSupport
import Testing

/// Tests of the tool with a database that has a keyring.
protocol KeyringToolSuite {
    var tool: Tool { get }
}

extension KeyringToolSuite {
    /// Makes a database with one row and a keyring that a raw key opens.
    func make() throws {
        try tool.writeKey("anna.key", 1)
        try expect(
            tool.run(
                "key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw", "--name", "Anna"
            ))
        try expect(query("CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "anna.key"))
    }

    func query(_ sql: String, _ key: String, type: String = "raw", _ name: String = "a.db") throws
        -> Tool.Result
    {
        try tool.run("query", name, sql, "--write", "--unlock-file", key, "--unlock-type", type)
    }

    func reads(_ key: String, type: String = "raw", _ name: String = "a.db") throws -> Bool {
        let result = try tool.run(
            "query", name, "SELECT a FROM t", "--unlock-file", key, "--unlock-type", type)
        return result.status == 0 && result.output.contains("letter")
    }

    func expect(
        _ result: Tool.Result, status: Int32 = 0, _ words: String = "",
        at place: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == status, "\(result)", sourceLocation: place)
        #expect(words.isEmpty || result.description.contains(words), "\(result)", sourceLocation: place)
    }

    var anna: [String] { ["--unlock-file", "anna.key", "--unlock-type", "raw"] }
}
