import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Schemas that need an application")
struct ApplicationSchemaTests {
    private let directory: TestDirectory
    private var path: String { directory.path("a.db") }
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws { directory = try TestDirectory() }

    private static let encrypted = FileForm.encrypted(0x42)
    private static let renewed = FileForm.encrypted(0x17)

    /// The operations on closed files, with the forms of the source and the result, and with the path of the
    /// rows: through SQL or not.
    enum Operation: String, CaseIterable, Sendable {
        case backup, backupWithKey, backupOfStoredPages, rotate, rotateInPlace
        case vacuum, vacuumInto, encrypt, encryptInto, decrypt, decryptInto, upgrade, copyOfLog

        var source: FileForm {
            switch self {
            case .encrypt, .encryptInto: .plaintext
            case .upgrade: .encrypted(0x42, format: 3)
            default: encrypted
            }
        }

        var result: FileForm {
            switch self {
            case .backupWithKey, .rotate, .rotateInPlace: renewed
            case .decrypt, .decryptInto: .plaintext
            default: encrypted
            }
        }

        var copiesRows: Bool {
            ![.backup, .backupWithKey, .backupOfStoredPages, .rotate, .rotateInPlace].contains(self)
        }

        /// - Returns: the path of the result.
        func run(_ path: String, to other: String) throws -> String {
            let file = DatabaseFile(path: path)
            let (old, new) = (encrypted.key ?? Keys.old, renewed.key ?? Keys.new)
            switch self {
            case .backup: return try file.backup(to: other, key: old).path
            case .backupWithKey: return try file.backup(to: other, key: old, newKey: new).path
            case .backupOfStoredPages:
                var options = DatabaseFile.ConversionOptions()
                options.keepsStoredPages = true
                return try file.backup(to: other, key: old, options: options).path
            case .rotate: try file.rotate(from: old, to: new)
            case .rotateInPlace:
                var options = DatabaseFile.RotationOptions()
                options.method = .inPlace
                try file.rotate(from: old, to: new, options: options)
            case .vacuum: try file.vacuum(key: old)
            case .vacuumInto, .copyOfLog: return try file.vacuum(into: other, key: old).path
            case .encrypt: try file.encrypt(key: old)
            case .encryptInto: return try file.encrypt(to: other, key: old).path
            case .decrypt: try file.decrypt(key: old, confirming: .contentBecomesReadableByAnyone)
            case .decryptInto:
                return try file.decrypt(to: other, key: old, confirming: .contentBecomesReadableByAnyone).path
            case .upgrade: try file.upgrade(key: old)
            }
            return path
        }
    }

    @Test(
        "every operation works without the application, or names the missing definition and changes nothing",
        arguments: ApplicationSchema.allCases, Operation.allCases)
    func operations(schema: ApplicationSchema, operation: Operation) throws {
        try schema.make(path, operation.source)
        let before = try schema.content(path, operation.source)
        #expect(before.last == "ok" || schema.needs.isEmpty)
        var writer: DatabaseQueue?
        if operation == .copyOfLog {
            // The rows are in a WAL that only the connection can read.
            var configuration = ApplicationSchema.configuration(operation.source)
            configuration.journalMode = .wal
            writer = try DatabaseQueue(path: path, configuration: configuration)
            try writer?.write { try $0.execute(sql: "UPDATE other SET a = 3") }
        }
        defer { try? writer?.close() }
        let files = try operation == .copyOfLog ? [:] : directory.snapshot()
        do {
            let result = try operation.run(path, to: directory.path("b.db"))
            #expect(schema.missing == nil || !operation.copiesRows)
            #expect(try schema.content(result, operation.result) == before)
        } catch let error as DatabaseFileError {
            guard case .missingDefinition(let words) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(operation.copiesRows)
            let name = schema.missing ?? schema.missingWithLog
            #expect(name.map { words.hasPrefix($0) } == true, "\(words)")
            #expect(schema.missing != nil || operation == .copyOfLog, "\(words)")
            #expect(try operation == .copyOfLog || directory.snapshot() == files)
            #expect(try schema.content(path, operation.source) == before)
        }
    }

    @Test(
        "with the application's collations and functions, every schema is copied by rows",
        arguments: ApplicationSchema.allCases)
    func optionsOfTheLibrary(schema: ApplicationSchema) throws {
        try schema.make(path, Self.encrypted)
        let before = try schema.content(path, Self.encrypted)
        var options = DatabaseFile.ConversionOptions()
        options.collations = [ApplicationSchema.collation]
        options.functions = [ApplicationSchema.function]
        try file.vacuum(into: directory.path("b.db"), key: Keys.old, options: options)
        #expect(try schema.content(directory.path("b.db"), Self.encrypted) == before)
        try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone, options: options)
        #expect(try schema.content(path, .plaintext) == before)
    }

    @Test(
        "two files are compared without the application, and a changed row is noticed",
        arguments: ApplicationSchema.allCases)
    func differences(schema: ApplicationSchema) throws {
        try schema.make(path, Self.encrypted)
        let other = DatabaseFile(path: directory.path("b.db"))
        try file.backup(to: other.path, key: Keys.old)
        #expect(try file.difference(from: other, key: Keys.old).isEmpty)
        let queue = try DatabaseQueue(
            path: other.path, configuration: ApplicationSchema.configuration(Self.encrypted))
        let table = schema.needs.isEmpty && schema != .viewAndTrigger ? "t_content" : "t"
        guard try queue.read({ try $0.tableExists(table) }) else { return }
        let column = try queue.read {
            try $0.columns(in: table).last { !["k", "g"].contains($0.name) }?.name
        }
        let name = try #require(column)
        try queue.write { try $0.execute(sql: "UPDATE \(table) SET \(name) = 999 WHERE \(name) = 100") }
        try queue.close()
        let difference = try file.difference(from: other, key: Keys.old)
        #expect(difference.tables.filter(\.isDifferent).map(\.name) == [table])
    }

    @Test(
        "a script is written without the application, and lists the definitions that it needs",
        arguments: ApplicationSchema.allCases)
    func scripts(schema: ApplicationSchema) throws {
        try schema.make(path, Self.encrypted)
        let queue = try DatabaseQueue(path: path, configuration: Self.encrypted.configuration)
        var script: [UInt8] = []
        let summary = try queue.read { db in
            try db.writeScript({ script += $0 }, checkpoint: {})
        }
        #expect(summary.needs == schema.needs)
        let copy = directory.path("b.db")
        let made = try DatabaseQueue(
            path: copy, configuration: ApplicationSchema.configuration(Self.encrypted))
        try made.writeWithoutTransaction { db in
            try db.execute(sql: String(decoding: script, as: UTF8.self))
        }
        try made.close()
        #expect(try schema.content(copy, Self.encrypted) == schema.content(path, Self.encrypted))
    }

    @Test(
        "an open database without the application is backed up, and a vacuum names the missing definition",
        arguments: ApplicationSchema.allCases)
    func openDatabases(schema: ApplicationSchema) throws {
        try schema.make(path, Self.encrypted)
        let before = try schema.content(path, Self.encrypted)
        let queue = try DatabaseQueue(path: path, configuration: Self.encrypted.configuration)
        let other = try DatabaseQueue(path: directory.path("b.db"), configuration: Self.renewed.configuration)
        try queue.backup(to: other)
        try other.close()
        #expect(try schema.content(directory.path("b.db"), Self.renewed) == before)
        do {
            try queue.vacuum(into: directory.path("c.db"))
            #expect(try schema.content(directory.path("c.db"), Self.encrypted) == before)
        } catch let error as DatabaseError {
            #expect(error.resultCode == .SQLITE_ERROR)
            let name = schema.missing ?? schema.missingWithLog
            #expect(name.map { error.message?.hasPrefix($0) == true } == true, "\(error)")
        }
    }
}

extension ApplicationSchema {
    /// The error of a copy that cannot read the file's own pages.
    fileprivate var missingWithLog: String? {
        needs.first.map {
            $0.contains("LOCALIZED") ? "no such collation sequence: LOCALIZED" : "no such function: f"
        }
    }
}
