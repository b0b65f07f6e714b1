import CofferTestSupport
import Foundation
import Testing

@Suite("The tool on schemas that need an application")
struct ApplicationSchemaTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
    }

    @Test(
        "each command works, or names what is missing and exits with 65",
        arguments: ApplicationSchema.allCases)
    func commands(schema: ApplicationSchema) throws {
        let form = FileForm.encrypted(0x42)
        try schema.make(tool.directory.path("a.db"), form)
        let before = try schema.content(tool.directory.path("a.db"), form)
        func expect(_ result: Tool.Result, missing: String?, _ path: String) throws {
            if let missing {
                #expect(result.status == 65 && result.errors.contains(missing), "\(result)")
                #expect(result.errors.contains("'coffer backup'"), "\(result)")
            } else {
                #expect(result.status == 0, "\(result)")
                #expect(try schema.content(tool.directory.path(path), form) == before)
            }
        }
        try expect(tool.run(["backup", "a.db", "b.db"] + key), missing: nil, "b.db")
        try expect(tool.run(["vacuum", "a.db", "c.db"] + key), missing: schema.missing, "c.db")
        try expect(tool.run(["vacuum", "a.db"] + key), missing: schema.missing, "a.db")
        let diff = try tool.run(["diff", "a.db", "b.db"] + key)
        #expect(diff.status == 0, "\(diff)")
        let recovered = try tool.run(["recover", "a.db", "r.db"] + key)
        // Rows of tables that it cannot create are in the tables for lost rows.
        #expect([0, 65].contains(recovered.status), "\(recovered)")

        let dump = try tool.run(["dump", "a.db", "--out", "a.sql", "--yes-plaintext"] + key)
        #expect(dump.status == 0, "\(dump)")
        #expect(
            dump.errors.contains("needs definitions of the application") == !schema.needs.isEmpty, "\(dump)")
        for need in schema.needs { #expect(dump.errors.contains(need), "\(dump)") }
        let load = try tool.run(["load", "l.db", "--from", "a.sql"] + key)
        if schema.needs.isEmpty {
            try expect(load, missing: nil, "l.db")
        } else {
            #expect(load.status == 65, "\(load)")
            #expect(!tool.exists("l.db"))
        }
    }
}
