import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Files with a new key, for root", .enabled(if: geteuid() == 0, "needs root"))
struct NewKeyFileTests {
    private static let user: UInt32 = 65534
    private let tool: Tool
    private let new = ["--new-key", "raw:file:new.key"]

    /// Makes `a.db` and its key, which belong to root, and `new.key`, which belongs to another user.
    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        try tool.writeKey("new.key", 0x43)
        try tool.write("a.db\n", to: "list")
        try give("new.key")
    }

    private func give(_ name: String, to user: UInt32 = user) throws {
        try #require(unsafe chown(tool.directory.path(name), user, user) == 0)
    }

    private static let key = ["--key", "raw:file:a.key"]
    private static let changes = [
        ["rotate", "a.db"] + key, ["backup", "a.db", "b.db"] + key, ["recover", "a.db", "b.db"] + key,
        ["key", "init", "a.db"] + key, ["batch", "rotate", "--manifest", "list"] + key,
    ]

    @Test("a file of another user is refused, because that user would know the key", arguments: changes)
    func refused(_ change: [String]) throws {
        let (names, before) = (tool.directory.fileNames(), try tool.directory.bytes(of: "a.db"))
        let result = try tool.run(change + new)
        #expect(result.status == 78 && result.errors.contains("would know the new key"), "\(result)")
        #expect(try tool.directory.fileNames() == names && tool.directory.bytes(of: "a.db") == before)
    }

    @Test("a file of the owner of the database is accepted", arguments: changes)
    func ofOwner(_ change: [String]) throws {
        try give("a.db")
        let result = try tool.run(change + new)
        #expect(result.status == 0, "\(result)")
    }

    @Test("the database of another user does not make the file acceptable")
    func ofThirdUser() throws {
        try give("a.db", to: 65533)
        let result = try tool.run(["rotate", "a.db"] + Self.key + new)
        #expect(result.status == 78, "\(result)")
        try give("a.db")
        try tool.makeDatabase("c.db")
        let several = try tool.run(["rotate", "a.db", "c.db"] + Self.key + new)
        #expect(several.status == 78, "\(several)")
    }

    @Test("for a database that does not exist, the file must belong to root, unless the mode is ignored")
    func creation() throws {
        let create = ["create", "new.db", "--key", "raw:file:new.key"]
        let refused = try tool.run(create)
        #expect(refused.status == 78 && !tool.exists("new.db"), "\(refused)")
        let accepted = try tool.run(create + ["--insecure-key-file-mode"])
        #expect(accepted.status == 0, "\(accepted)")
        try give("new.key", to: 0)
        #expect(try tool.run(["create", "other.db", "--key", "raw:file:new.key"]).status == 0)
    }

    @Test("a key that opens a database may be in a file of any user")
    func existing() throws {
        try tool.makeDatabase("n.db", key: "n.key", 0x43)
        let verified = try tool.run(["verify", "n.db", "--key", "raw:file:new.key"])
        #expect(verified.status == 0, "\(verified)")
        let compared = try tool.run(["diff", "a.db", "n.db"] + Self.key + new)
        #expect(compared.status == 0, "\(compared)")
        let rotated = try tool.run(
            ["rotate", "n.db", "--key", "raw:file:new.key", "--new-key", "raw:file:a.key"])
        #expect(rotated.status == 0, "\(rotated)")
    }
}
