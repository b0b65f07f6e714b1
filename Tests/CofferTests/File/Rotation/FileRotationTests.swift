import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Rotating the key of a closed file")
struct FileRotationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "only the new key opens the content, and no other files are left",
        arguments: [false, true])
    func rotates(wal: Bool) throws {
        let file = try directory.makeFile(wal: wal)
        let content = try directory.content(key: Keys.old)
        let salt = try directory.bytes(of: "a.db").prefix(16)
        var phases: [DatabaseFile.Progress.Phase] = []

        let result = try file.rotate(from: Keys.old, to: Keys.new) { phases.append($0.phase) }

        #expect(result.isChanged && !result.isResumed)
        #expect(directory.fileNames() == ["a.db"])
        #expect(try directory.content(key: Keys.new) == content)
        #expect(!directory.opens(key: Keys.old))
        let proof = try #require(result.proof)
        #expect(proof.saltBefore == Array(salt).hexadecimal)
        #expect(proof.saltAfter == (try Array(directory.bytes(of: "a.db").prefix(16)).hexadecimal))
        #expect(proof.saltBefore != proof.saltAfter)
        #expect(proof.pageCount * proof.pageSize == (try directory.bytes(of: "a.db").count))
        #expect(
            proof.isOldKeyRejected && proof.isNewKeyAccepted && proof.isIntegrityClean && proof.isContentEqual
        )
        #expect(proof.contentDigest.count == 64)
        #expect(proof.oldKeyID != proof.newKeyID && proof.oldKeyID.count == 16)
        #expect(Set(phases).isSuperset(of: [.copying, .verifying, .checkingStructure, .publishing]))
        var configuration = Configuration()
        configuration.key = Keys.new
        let mode = try DatabaseQueue(path: file.path, configuration: configuration).read {
            try String.fetchOne($0, sql: "PRAGMA journal_mode")
        }
        #expect(mode == (wal ? "wal" : "delete"))
    }

    @Test(
        "the stock shell opens the result with the new passphrase and nothing else",
        .enabled(if: SQLCipherShell.isAvailable))
    func shell() throws {
        let file = try directory.makeFile(key: .passphrase("old"))
        let result = try file.rotate(from: .passphrase("old"), to: .passphrase("new"))
        #expect(result.isChanged)
        let shell = SQLCipherShell(path: file.path, passphrase: "new")
        #expect(
            try shell.run(
                "SELECT count(*) FROM t; PRAGMA user_version; PRAGMA cipher_integrity_check; PRAGMA integrity_check;"
            ) == [
                "200", "42", "ok",
            ])
        #expect(throws: SQLCipherShell.Failure.self) {
            try SQLCipherShell(path: file.path, passphrase: "old").run("SELECT count(*) FROM t;")
        }
        let back = try file.rotate(from: .passphrase("new"), to: .provider { Keys.new })
        #expect(
            try SQLCipherShell(path: file.path, rawKey: Keys.newBytes).run("SELECT count(*) FROM t;") == [
                "200"
            ])
        // A key has the same identifier wherever it is used with the same salt.
        #expect(back.proof?.oldKeyID == result.proof?.newKeyID)
    }

    @Test("the digest of a content is the same under the same key, and differs under any other")
    func digests() throws {
        let file = try directory.makeFile()
        func digest(
            _ old: DatabaseKey, _ new: DatabaseKey, _ method: DatabaseFile.RotationOptions.Method = .copy
        ) throws -> String {
            var options = DatabaseFile.RotationOptions()
            options.method = method
            return try #require(try file.rotate(from: old, to: new, options: options).proof?.contentDigest)
        }
        let first = try digest(Keys.old, Keys.new)
        let other = try digest(Keys.new, Keys.old)
        #expect(first != other)
        // Regardless of the salt and the method.
        #expect(try digest(Keys.old, Keys.new, .inPlace) == first)
        #expect(try digest(Keys.new, Keys.old) == other)
    }

    @Test("a file that has the new key already is left alone, byte for byte")
    func alreadyRotated() throws {
        let file = try directory.makeFile()
        try file.rotate(from: Keys.old, to: Keys.new)
        let before = try directory.snapshot()
        let result = try file.rotate(from: Keys.old, to: Keys.new)
        #expect(!result.isChanged && result.proof == nil)
        #expect(try directory.snapshot() == before)
    }

    @Test("wrong keys, equal keys and files that are not databases are refused, and nothing is changed")
    func refusals() throws {
        let file = try directory.makeFile()
        let before = try directory.snapshot()
        #expect(reason { try file.rotate(from: Keys.other, to: Keys.new) } == .key(.wrongKey))
        #expect(reason { try file.rotate(from: Keys.old, to: Keys.old) } == .sameKey)
        #expect(
            reason { try file.rotate(from: .passphrase(""), to: Keys.new) }
                == .key(.invalidKey(.emptyPassphrase)))
        #expect(
            reason { try DatabaseFile(path: directory.path("none")).rotate(from: Keys.old, to: Keys.new) }
                == .missing)
        #expect(
            reason { try DatabaseFile(path: directory.path).rotate(from: Keys.old, to: Keys.new) }
                == .unsafeFile(.notARegularFile))
        #expect(try directory.snapshot() == before)
    }

    @Test("the old file is kept as the options request", arguments: [false, true])
    func keepOld(wal: Bool) throws {
        let file = try directory.makeFile(wal: wal)
        var options = DatabaseFile.RotationOptions()
        options.keepOldPath = directory.path("old.db")
        let content = try directory.content(key: Keys.old)
        let result = try file.rotate(from: Keys.old, to: Keys.new, options: options)
        #expect(result.keptOldPath == options.keepOldPath)
        #expect(directory.fileNames() == ["a.db", "old.db"])
        #expect(try directory.content("old.db", key: Keys.old) == content)
        #expect(try directory.content(key: Keys.new) == content)
        #expect(reason { try file.rotate(from: Keys.new, to: Keys.old, options: options) } == .exists)
    }

    @Test(
        "an error of the progress function or a cancelled task ends the rotation, and the file is unchanged")
    func cancellation() async throws {
        struct Stop: Error {}
        let file = try directory.makeFile(rows: 2000)
        let before = try directory.snapshot()
        for phase in DatabaseFile.Progress.Phase.allCases {
            #expect(throws: Stop.self) {
                try file.rotate(from: Keys.old, to: Keys.new) { if $0.phase == phase { throw Stop() } }
            }
            #expect(try directory.snapshot() == before, "\(phase)")
        }
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try file.rotate(from: Keys.old, to: Keys.new)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try directory.snapshot() == before)
    }

    @Test(
        "a failed step leaves the old key, or the new one after publishing; the next run completes",
        arguments: FailPoint.allCases.filter {
            ![.rekeyed, .oldCopied, .released, .statePinned].contains($0)
        },
        [false, true])
    func failingStep(point: FailPoint, wal: Bool) throws {
        let file = try directory.makeFile(wal: wal)
        let content = try directory.content(key: Keys.old)
        var options = DatabaseFile.RotationOptions()
        if point == .oldKept { options.keepOldPath = directory.path("old.db") }
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(point) {
                try file.rotate(from: Keys.old, to: Keys.new, options: options)
            }
        }
        let isPublished = error?.isPublished == true
        #expect(
            isPublished
                == [.renamed, .directorySynchronized, .reopened, .audited, .noteRemoved].contains(point))
        #expect(try directory.content(key: isPublished ? Keys.new : Keys.old) == content)
        #expect(!directory.opens(key: isPublished ? Keys.old : Keys.new))
        if !isPublished { #expect(directory.fileNames() == ["a.db"]) }
        let result = try file.rotate(from: Keys.old, to: Keys.new, options: options)
        #expect(result.isChanged == !isPublished)
        #expect(directory.fileNames() == (point == .oldKept ? ["a.db", "old.db"] : ["a.db"]))
        #expect(try directory.content(key: Keys.new) == content)
        var configuration = Configuration()
        configuration.key = Keys.new
        let mode = try DatabaseQueue(path: file.path, configuration: configuration).read {
            try String.fetchOne($0, sql: "PRAGMA journal_mode")
        }
        #expect(mode == (wal ? "wal" : "delete"))
    }
}
