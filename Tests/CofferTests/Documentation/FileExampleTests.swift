import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The documentation's examples of files. `Scripts/check-docs` looks for their lines in this folder.
@Suite("Examples of files")
struct FileExampleTests {
    private final class TextBuffer: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    private let directory: TestDirectory
    private let key = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
    private let next = DatabaseKey.rawKey([UInt8](repeating: 0x43, count: 32))
    private var path: String { directory.path("vault.db") }

    init() throws {
        directory = try TestDirectory()
        let queue = try directory.makeQueue("vault.db")
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE item (name TEXT, worth INTEGER); INSERT INTO item VALUES ('ring', 9000)")
        }
        try queue.close()
    }

    @Test("inspecting, verifying and rotating")
    func rotating() throws {
        let file = DatabaseFile(path: path)
        let look = try file.inspect()
        print(look.kind, look.size, look.leftovers)
        #expect(look.kind == .encrypted)
        let savedCount = try file.healLog(key: key)
        #expect(savedCount == 0)
        let found = try file.verify(key: key)
        for finding in found.findings {
            print(finding)
        }
        #expect(found.isIntact)
        do {
            let plan = try file.rotationPlan(from: key, to: next)
            print(plan.requiredSpace <= plan.availableSpace, plan.steps)
            #expect(!plan.isAlreadyRotated)
        }
        do {
            let file = DatabaseFile(path: path)
            let result = try file.rotate(from: key, to: next)
            print(result.isChanged, result.proof?.pageCount ?? 0)
            #expect(result.isChanged)
        }
        #expect(try file.verify(key: next).isIntact)
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed(0x43))
        do {
            let next = key
            try queue.rotateKey(to: next)
        }
        try queue.close()
        #expect(try file.verify(key: key).isIntact)
        let compactPath = directory.path("compact.db")
        try file.vacuum(into: compactPath, key: key)
        #expect(try DatabaseFile(path: compactPath).verify(key: key).isIntact)
        if try !file.leftovers().isEmpty {
            print(try file.removeLeftovers(key: key))
        }
        try DatabaseFile(path: path).erase(confirming: "vault.db")
        #expect(directory.fileNames() == ["compact.db"])
    }

    @Test("copies")
    func copies() throws {
        let configuration = Configuration.rawKeyed
        do {
            let copy = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
            #expect(try copy.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
        }
        let copy = try DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration)
        #expect(try copy.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let compactPath = directory.path("compact.db")
        try queue.vacuum(into: compactPath)
        #expect(try DatabaseFile(path: compactPath).verify(key: key).isIntact)
        let other = try DatabaseQueue()
        try queue.backup(to: other)
        #expect(try other.read { db in try String.fetchOne(db, sql: "SELECT name FROM item") } == "ring")
        let text = TextBuffer()
        try queue.dumpSQL("SELECT name, worth FROM item", format: .line(), to: text)
        #expect(text.text == " name = ring\nworth = 9000\n")
    }

    @Test("backups, differences, restoring")
    func backups() throws {
        let (backupPath, folder) = (directory.path("backup.db"), try directory.makeFolder("backups"))
        let retention = DatabaseFile.BackupRetention("7d,4w,6m")
        #expect(retention == DatabaseFile.BackupRetention(days: 7, weeks: 4, months: 6))
        try DatabaseFile(path: path).backup(to: backupPath, key: key)
        try DatabaseFile(path: path).backup(into: folder, key: key)
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
        try queue.write { db in try db.execute(sql: "INSERT INTO item VALUES ('candle', 2)") }
        try queue.close()
        var printed: [String] = []
        func print(_ values: Any...) { printed.append(values.map { "\($0)" }.joined(separator: " ")) }
        let backup = DatabaseFile(path: backupPath)
        let difference = try DatabaseFile(path: path).difference(from: backup, key: key)
        for table in difference.tables where table.isDifferent {
            print(table.name, table.addedCount, table.removedCount)
        }
        #expect(printed == ["item 1 0"])
        let vault = DatabaseFile(path: path)
        if let last = try vault.backups(in: folder).last {
            let result = try vault.restore(from: last.path, key: key)
            print(result.keptOldPath ?? "nothing was there")
        }
        #expect(printed.last?.contains("vault.db.replaced-") == true)
        #expect(
            try DatabaseFile(path: path).difference(from: DatabaseFile(path: backupPath), key: key).tables
                .allSatisfy { !$0.isDifferent })
    }

    @Test("rotating a pool in use")
    func rotatingInUse() throws {
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse(maximumLogSize: 256 << 20)
        let result = try pool.rotateKey(to: next, options: options)
        print("The owners of items waited for \(result.pause ?? 0) seconds.")
        #expect(result.pause != nil)
        try pool.close()
        #expect(try DatabaseFile(path: path).verify(key: next).isIntact)
    }

    @Test("encrypting")
    func encrypting() throws {
        let (plainPath, encryptedPath) = (directory.path("plain.db"), directory.path("encrypted.db"))
        try DatabaseFile(path: path).decrypt(
            to: plainPath, key: key, confirming: .contentBecomesReadableByAnyone)
        try DatabaseFile(path: plainPath).encrypt(to: encryptedPath, key: key)
        #expect(try DatabaseFile(path: encryptedPath).verify(key: key).isIntact)
    }
}
