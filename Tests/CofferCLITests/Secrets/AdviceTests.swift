import Foundation
import Testing

@testable import Coffer
@testable import CofferCLI

@Suite("The words of reasons")
struct AdviceTests {
    private static let keyProblems: [EncryptionFailure.KeyProblem] = [
        .emptyPassphrase, .rawKeyLength(1), .saltLength(1), .passphraseLooksLikeRawKey, .nestedProvider,
        .tooLong,
        .noRandomness, .notHexadecimal(digits: 3), .noCredential(name: "a"), .number, .masterKeyIsNotRaw,
        .file(path: "a", .unreadable(errno: 2)), .file(path: "a", .notAFile),
        .file(path: "a", .readableByOthers(mode: 0o644)), .file(path: "a", .ofAnotherUser),
        .file(path: "a", .tooLong), .file(path: "a", .noRawKey(size: 3)),
    ]
    private static let settingsProblems: [EncryptionFailure.CipherSettingsProblem] = [
        .unknownFormat(9), .pageSize(9), .kdfIterations(0), .hmacKeyIterations(0), .plaintextHeaderSize(9),
        .plaintextHeaderWithoutSalt, .refused("no"),
    ]
    private static let keyringProblems: [EncryptionFailure.KeyringProblem] = [
        .missing, .unreadable(errno: 2), .notAFile, .tooLong(size: 9), .unsupportedVersion(9), .damaged([]),
        .copiesDiffer, .notAuthentic, .noMatchingSlot, .ofAnotherFile, .olderThanFile, .newerThanFile,
        .noPlace,
        .noSlot(9), .full, .lastSlot, .invalidName, .invalidRecoveryKey, .invalidRecipient,
        .command(program: "a", .failed(exitCode: 1)), .changed, .olderKeyring(generation: 1, present: 2),
        .rotationUnderWay, .changeUnderWay,
    ]
    private static let failures: [EncryptionFailure] =
        [
            .noKey, .wrongKey, .plaintextFile, .olderFormat(3), .newerFormat(4),
            .otherSettings(CipherSettings()),
            .notADatabase, .damaged(pages: []), .damaged(pages: [1]),
            .foreignSideFile(path: "a", isFileWhole: true),
            .foreignSideFile(path: "a", isFileWhole: false), .sideFileOfAnotherUser(path: "a"),
            .engineWithoutCipher,
            .keyRotated,
        ] + keyProblems.map { .invalidKey($0) } + settingsProblems.map { .invalidCipherSettings($0) }
        + keyringProblems.map { .keyring(path: "a.keys", $0) }

    @Test("reasons of the library name no command and no option of the tool", arguments: failures)
    func library(failure: EncryptionFailure) {
        #expect(!failure.description.contains(/\bcoffer |--[a-z]|\bcommand\b/))
    }

    @Test("reasons of the tool name nothing of the library's API", arguments: failures)
    func tool(failure: EncryptionFailure) {
        let words = Failure(failure).message
        // For example .rawKey, .keySpec and Configuration.cipher.
        #expect(!words.contains(/Configuration|configuration|\W\.[a-z]\w|Database[A-Z]|\w\(\w+:/), "\(words)")
        #expect(!words.isEmpty)
    }

    @Test("the tool reports refused SQL without mentioning the API of the library")
    func statements() throws {
        let queue = try DatabaseQueue(
            configuration: {
                var configuration = Configuration()
                configuration.key = .random()
                return configuration
            }())
        let folder = FileManager.default.temporaryDirectory.path
        try queue.inDatabase { db in
            for sql in [
                "PRAGMA key = 'a'", "PRAGMA rekey = 'a'", "PRAGMA cipher_default_page_size = 8192",
                "PRAGMA cipher_page_size = 8192", "PRAGMA cipher_profile = 'a'", "PRAGMA cipher_log = 'a'",
                "PRAGMA cipher_migrate", "PRAGMA page_size = 8192", "PRAGMA cipher_log_level = TRACE",
                "PRAGMA temp_store = FILE", "VACUUM INTO '\(folder)/none/b.db'",
                "ATTACH '\(folder)/none/a.db' AS a KEY ''",
            ] {
                let error = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                let words = Failure(error).message
                #expect(!words.contains(/Configuration|Database\.|\w\([_a-z]\w*:/), "\(sql): \(words)")
                #expect(words.count > 20)
            }
        }
    }
}
