import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("The tool at the limits of SQLite")
struct LimitTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        try tool.writeKey("b.key", 0x17)
    }

    private func content(_ name: String, _ form: FileForm) throws -> [String] {
        let queue = try tool.directory.makeQueue(name, form.configuration)
        return try queue.read(LimitSchema.content)
    }

    @Test("each command handles the maximum number of columns and the longest names and values")
    func commands() throws {
        let form = FileForm.encrypted(0x42)
        let queue = try tool.directory.makeQueue("a.db", form.configuration)
        try queue.write(LimitSchema.make)
        try queue.close()
        let before = try content("a.db", form)
        let newKey = ["--new-key-file", "b.key", "--new-key-type", "raw"]
        let commands: [(arguments: [String], result: String, form: FileForm)] = [
            (["verify", "a.db", "--structure", "full"], "a.db", form),
            (["backup", "a.db", "b.db"], "b.db", form),
            (["vacuum", "a.db", "c.db"], "c.db", form),
            (["decrypt", "a.db", "p.db", "--yes-plaintext"], "p.db", .plaintext),
            (["encrypt", "p.db", "e.db"], "e.db", form),
            (["dump", "a.db", "--out", "a.sql", "--yes-plaintext"], "a.db", form),
            (["load", "l.db", "--from", "a.sql"], "l.db", form),
            (["recover", "a.db", "r.db"], "r.db", form),
            (["rotate", "b.db"] + newKey, "b.db", .encrypted(0x17)),
        ]
        for command in commands {
            let result = try tool.run(command.arguments + key)
            #expect(result.status == 0, "\(command.arguments): \(result)")
            #expect(try content(command.result, command.form) == before, "\(command.arguments)")
        }
        let same = try tool.run(["diff", "l.db", "r.db"] + key)
        #expect(same.status == 0, "\(same)")
    }
}
