import CofferTestSupport
import Foundation
import Testing

@Suite("Erasing a database with a keyring after a killed run")
struct KilledEraseTests {
    private let tool: Tool
    private let erase = ["erase", "a.db", "--yes-erase", "a.db"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("anna.key", 1)
        let made = try tool.run(
            "key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw")
        try #require(made.status == 0, "\(made)")
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: tool.directory.path(name))
    }

    /// The state that a killed run leaves.
    enum State: String, CaseIterable {
        /// The keyring is overwritten.
        case zeros
        case zerosWithoutDatabase
        case keyringWithoutDatabase
        case databaseWithoutKeyring
        /// A placeholder had the name of a missing database.
        case emptyDatabase
        case onlyNote
    }

    /// Leaves a state, with the note of a killed run.
    private func leave(_ state: State) throws {
        let killed = try tool.run(
            "key", "change", "a.db", "--unlock-file", "anna.key", "--unlock-type", "raw", "--new-key-file",
            "anna.key", "--new-key-type", "raw", environment: ["COFFER_FAIL_POINT": "copy-created"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        switch state {
        case .zeros, .zerosWithoutDatabase:
            let size = try tool.directory.bytes(of: "a.db.keys").count
            try tool.directory.write([UInt8](repeating: 0, count: size), to: "a.db.keys")
        case .databaseWithoutKeyring, .onlyNote: try remove("a.db.keys")
        case .keyringWithoutDatabase, .emptyDatabase: break
        }
        if [.zerosWithoutDatabase, .keyringWithoutDatabase, .onlyNote].contains(state) { try remove("a.db") }
        if state == .emptyDatabase { try tool.directory.write([], to: "a.db") }
    }

    @Test("the same command completes it from each state", arguments: State.allCases)
    func completes(_ state: State) throws {
        try leave(state)
        let result = try tool.run(erase)
        #expect(result.status == 0, "\(result)")
        #expect(tool.directory.fileNames() == ["anna.key"])
        #expect(try tool.run(erase).status == 66)
    }

    @Test(
        "a run that is killed has changed nothing, or made the database unreadable",
        arguments: ["locked", "directory-synchronized"])
    func kills(_ point: String) throws {
        let killed = try tool.run(erase, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL, "\(killed)")
        #expect(tool.exists("a.db") == tool.exists("a.db.keys"))
        #expect(tool.exists("a.db") == (point == "locked"))
        #expect(try tool.run(erase).status == 0)
        #expect(tool.directory.fileNames() == ["anna.key"])
    }

    @Test(
        "the copy of the keyring that a killed restore made for the old file is destroyed too",
        arguments: [true, false])
    func keptCopy(hasSecondName: Bool) throws {
        let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]
        #expect(try tool.run(["backup", "a.db", "safe.db"] + anna).status == 0)
        let names = tool.directory.fileNames()
        let killed = try tool.run(
            ["restore", "safe.db", "a.db", "--keep-old", "old.db"] + anna,
            environment: ["COFFER_FAIL_POINT": "old-kept"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        #expect(try tool.directory.bytes(of: "old.db.keys") == tool.directory.bytes(of: "a.db.keys"))
        // The copy is made before the old file gets its second name.
        if !hasSecondName {
            try remove("old.db")
            let plan = try tool.run("erase", "a.db", "--dry-run")
            #expect(plan.output.contains("old.db.keys"), "\(plan)")
        }
        // The open file shows that its content is overwritten.
        let witness = try FileHandle(forReadingFrom: URL(fileURLWithPath: tool.directory.path("old.db.keys")))
        let result = try tool.run(erase)
        #expect(result.status == 0, "\(result)")
        #expect(try witness.readToEnd()?.allSatisfy { $0 == 0 } == true)
        #expect(tool.directory.fileNames() == names.filter { !$0.hasPrefix("a.db") })
    }

    @Test("a keyring of a kept file stays when the restored database is erased")
    func keptFile() throws {
        let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]
        #expect(try tool.run(["backup", "a.db", "safe.db"] + anna).status == 0)
        let killed = try tool.run(
            ["restore", "safe.db", "a.db", "--keep-old", "old.db"] + anna,
            environment: ["COFFER_FAIL_POINT": "directory-synchronized"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        #expect(try tool.run(erase).status == 0)
        #expect(
            tool.directory.fileNames() == ["anna.key", "old.db", "old.db.keys", "safe.db", "safe.db.keys"])
        #expect(try tool.run(["verify", "old.db"] + anna).status == 0)
    }

    @Test(
        "a run that is killed after it overwrote the files finds all of them the next time",
        arguments: ["restore", "vacuum"])
    func leftovers(_ command: String) throws {
        let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]
        #expect(try tool.run(["backup", "a.db", "safe.db"] + anna).status == 0)
        let killed = try tool.run(
            [command] + (command == "restore" ? ["safe.db", "a.db"] : ["a.db"]) + anna,
            environment: ["COFFER_FAIL_POINT": "verified"])
        #expect(killed.status == -SIGKILL, "\(killed)")
        let copy = command == "restore" ? ".tmp" : ".vacuum"
        #expect(tool.directory.fileNames().contains { $0.hasPrefix(".coffer-") && $0.hasSuffix(copy) })
        let first = try tool.run(erase, environment: ["COFFER_FAIL_POINT": "rekeyed"])
        #expect(first.status == -SIGKILL && tool.exists("a.db"), "\(first)")
        let second = try tool.run(erase)
        #expect(second.status == 0, "\(second)")
        #expect(tool.directory.fileNames() == ["anna.key", "safe.db", "safe.db.keys"])
    }

    @Test("'key destroy' completes its own killed run, and the doctor names the overwritten keyring")
    func destroys() throws {
        let destroy = ["key", "destroy", "a.db", "--yes-destroy", "a.db"]
        try leave(.zeros)
        let doctor = try tool.run("doctor", ".")
        #expect(
            doctor.status == 1 && doctor.output.contains("a.db.keys: a keyring that was overwritten"),
            "\(doctor)")
        #expect(try tool.run(destroy).status == 0)
        #expect(tool.directory.fileNames() == ["a.db", "anna.key"])
    }

    @Test("'key destroy' removes the note of its own killed run when the keyring is gone")
    func destroysNote() throws {
        try leave(.databaseWithoutKeyring)
        #expect(try tool.run("key", "destroy", "a.db", "--yes-destroy", "a.db").status == 66)
        #expect(tool.directory.fileNames() == ["a.db", "anna.key"])
    }
}
