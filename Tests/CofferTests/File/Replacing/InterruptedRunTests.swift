import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("The leftovers of interrupted runs")
struct InterruptedRunTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Makes a database whose rotation was killed, with a copy and a note that records WAL mode.
    private func leave(_ operation: ReplacementOperation = .rotate) throws -> (
        file: DatabaseFile, left: [String]
    ) {
        let file = try directory.makeFile("a.db", wal: false)
        let names = ReplacementNames(path: file.path, operation: operation)
        let run = RunIdentifier(number: 7)
        try directory.write(
            ReplacementNote(operation, id: run, step: "copy", journalMode: "wal").encoded(),
            to: SystemFile.name(of: names.note))
        try directory.write([1, 2, 3], to: SystemFile.name(of: names.copy(run)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: names.note)
        return (file, [names.note, names.copy(run)])
    }

    @Test(
        "are listed and removed, without anything else, and WAL mode is restored if the key is given",
        arguments: ReplacementOperation.allCases, [true, false])
    func removes(operation: ReplacementOperation, hasKey: Bool) throws {
        let (file, left) = try leave(operation)
        // A copy that no note names.
        let other = SystemFile.name(
            of: ReplacementNames(path: file.path, operation: operation).copy(RunIdentifier(number: 8)))
        try directory.write([4], to: other)
        let before = try directory.content(key: Keys.old)
        #expect(try file.leftovers() == left)
        #expect(try file.removeLeftovers(key: hasKey ? Keys.old : nil) == left)
        #expect(try file.leftovers().isEmpty)
        #expect(try file.removeLeftovers().isEmpty)
        #expect(directory.fileNames() == [other, "a.db"].sorted())
        #expect(try file.inspect(key: Keys.old).journalMode == (hasKey ? "wal" : "delete"))
        #expect(try directory.content(key: Keys.old) == before)
    }

    @Test(
        "do not include a copy under the former key after a rotation",
        arguments: ReplacementOperation.allCases, [DatabaseFile.RotationOptions.Method.copy, .inPlace])
    func rotation(operation: ReplacementOperation, method: DatabaseFile.RotationOptions.Method) throws {
        let (file, left) = try leave(operation)
        var options = DatabaseFile.RotationOptions()
        options.method = method
        #expect(try file.rotate(from: Keys.old, to: Keys.new, options: options).isChanged)
        // The note has the journal mode that the next run of the other operation restores.
        #expect(try file.leftovers() == (operation == .rotate ? [] : [left[0]]))
        #expect(try file.removeLeftovers(key: Keys.new) == (operation == .rotate ? [] : [left[0]]))
        #expect(try file.inspect(key: Keys.new).journalMode == "wal")
    }

    @Test(
        "do not include a plaintext copy after a vacuum or an upgrade, and stay otherwise",
        arguments: ReplacementOperation.allCases, [true, false])
    func otherOperations(operation: ReplacementOperation, isVacuum: Bool) throws {
        let (file, left) = try leave(operation)
        if isVacuum { try file.vacuum(key: Keys.old) } else { try file.upgrade(key: Keys.old) }
        let isGone = operation == .decrypt || operation == (isVacuum ? .vacuum : .upgrade)
        #expect(try file.leftovers().contains(left[1]) == !isGone)
    }

    @Test(
        "do not include a copy of the former content after a restore",
        arguments: ReplacementOperation.allCases, [true, false])
    func restore(operation: ReplacementOperation, isThere: Bool) throws {
        let (file, left) = try leave(operation)
        let backup = directory.path("backup.db")
        try FileManager.default.copyItem(atPath: file.path, toPath: backup)
        if !isThere { try FileManager.default.removeItem(atPath: file.path) }
        try file.restore(from: backup, key: Keys.old)
        #expect(try !file.leftovers().contains(left[1]))
        #expect(!FileManager.default.fileExists(atPath: left[1]))
    }

    @Test("stay while their run works, with a wrong key, and without the database")
    func stays() throws {
        let (file, left) = try leave()
        let names = ReplacementNames(path: file.path, operation: .rotate)
        try FileManager.default.moveItem(atPath: file.path, toPath: directory.path("moved.db"))
        #expect(reason { try file.removeLeftovers() } == .missing)
        try FileManager.default.moveItem(atPath: directory.path("moved.db"), toPath: file.path)
        do {
            let working = try names.takeNote()
            #expect(reason { try file.removeLeftovers() } == .busy([]))
            withExtendedLifetime(working) {}
        }
        #expect(try file.leftovers() == left)
        #expect(reason { try file.removeLeftovers(key: Keys.new) } == .key(.wrongKey))
        #expect(try file.leftovers() == [names.note])
    }

    @Test(
        "are removed on request when a database is opened, and WAL mode is restored",
        arguments: Access.allCases, [true, false])
    func opening(access: Access, asks: Bool) throws {
        let (file, left) = try leave()
        let writer = try directory.make(access, "a.db", .rawKeyed.with { $0.removesInterruptedRuns = asks })
        #expect(try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 200)
        let mode = try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == (asks || access == .pool ? "wal" : "delete"))
        try writer.close()
        #expect(try file.leftovers() == (asks ? [] : left))
    }

    @Test("an opening of a database during its rotation leaves them alone")
    func openingMeanwhile() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (n); INSERT INTO t VALUES (1)") }
        let directory = directory
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        let result = try FailPoint.$passing.withValue({ point in
            guard point == .copyCreated else { return }
            do {
                let queue = try directory.makeQueue(
                    "a.db", .rawKeyed.with { $0.removesInterruptedRuns = true })
                try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
                try queue.close()
            } catch {
                Issue.record(error)
            }
        }) { try pool.rotateKey(to: Keys.new, options: options) }
        #expect(result.isChanged)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try pool.close()
        #expect(directory.fileNames() == ["a.db"])
    }
}
