import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// Keys from hexadecimal digits, key specs, files and credentials.
@Suite("Sources of keys")
struct KeySourceTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func problem(_ key: DatabaseKey) -> EncryptionFailure.KeyProblem? {
        do {
            var configuration = Configuration()
            configuration.key = key
            _ = try DatabaseQueue(path: directory.path("refused.db"), configuration: configuration)
            return nil
        } catch let error as DatabaseError {
            guard case .invalidKey(let problem)? = error.encryptionFailure else {
                Issue.record(error)
                return nil
            }
            #expect(error.resultCode == .SQLITE_MISUSE)
            return problem
        } catch {
            Issue.record(error)
            return nil
        }
    }

    /// Returns true if a file that was created with one key opens with another.
    private func opens(_ key: DatabaseKey, whatIsMadeBy maker: DatabaseKey) throws -> Bool {
        let path = directory.path("\(UUID().uuidString).db")
        var configuration = Configuration()
        configuration.key = maker
        try DatabaseQueue(path: path, configuration: configuration).write {
            try $0.execute(sql: "CREATE TABLE item (name TEXT)")
        }
        configuration.key = key
        return
            (try? DatabaseQueue(path: path, configuration: configuration).read { try $0.tableExists("item") })
            ?? false
    }

    /// Returns the first bytes of a file created with a key, which are its salt.
    private func salt(ofWhatIsMadeBy key: DatabaseKey) throws -> [UInt8] {
        let name = "\(UUID().uuidString).db"
        var configuration = Configuration()
        configuration.key = key
        let queue = try DatabaseQueue(path: directory.path(name), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE item (name)") }
        return try Array(directory.bytes(of: name).prefix(16))
    }

    @discardableResult
    private func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws -> String {
        let path = directory.path(name)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test(
        "64 hex digits are a raw key, 96 a raw key and its salt, in either case; anything else is refused"
    )
    func hexadecimal() throws {
        let digits = hexText(rawKeyBytes)
        #expect(try opens(.hexadecimal(digits.utf8), whatIsMadeBy: .rawKey(rawKeyBytes)))
        #expect(try opens(.hexadecimal(Data(digits.uppercased().utf8)), whatIsMadeBy: .rawKey(rawKeyBytes)))
        #expect(try opens(.hexadecimal(digits), whatIsMadeBy: .rawKey(rawKeyBytes)))
        #expect(try opens(.hexadecimal(("0" + digits).dropFirst()), whatIsMadeBy: .rawKey(rawKeyBytes)))
        let salted = hexText(rawKeyBytes + saltBytes)
        #expect(try opens(.hexadecimal(salted.utf8), whatIsMadeBy: .rawKey(rawKeyBytes, salt: saltBytes)))
        #expect(
            try !opens(.hexadecimal(hexText(rawKeyBytes.reversed()).utf8), whatIsMadeBy: .rawKey(rawKeyBytes))
        )
        // Any file of the key opens without the salt. A new file shows whether the key includes it.
        #expect(try salt(ofWhatIsMadeBy: .hexadecimal(salted.utf8)) == saltBytes)
        #expect(try salt(ofWhatIsMadeBy: .hexadecimal(digits.utf8)) != saltBytes)

        #expect(problem(.hexadecimal("")) == .notHexadecimal(digits: 0))
        #expect(problem(.hexadecimal("".utf8)) == .notHexadecimal(digits: 0))
        #expect(problem(.hexadecimal(digits.dropLast().utf8)) == .notHexadecimal(digits: 63))
        #expect(problem(.hexadecimal((digits.dropLast() + "g").utf8)) == .notHexadecimal(digits: 64))
        // Here, 32 bytes of digits are not a raw key of 32 bytes.
        #expect(problem(.hexadecimal(digits.prefix(32).utf8)) == .notHexadecimal(digits: 32))
        #expect(problem(.hexadecimal((digits.prefix(63) + "\n").utf8)) == .notHexadecimal(digits: 64))
    }

    @Test("a key spec is the argument of PRAGMA key: a raw key, a raw key and its salt, or a passphrase")
    func keySpec() throws {
        let digits = hexText(rawKeyBytes)
        #expect(try opens(.keySpec("x'\(digits)'"), whatIsMadeBy: .rawKey(rawKeyBytes)))
        let salted = Data("X'\(hexText(rawKeyBytes + saltBytes))'".utf8)
        #expect(try opens(.keySpec(salted), whatIsMadeBy: .rawKey(rawKeyBytes, salt: saltBytes)))
        #expect(try salt(ofWhatIsMadeBy: .keySpec(salted)) == saltBytes)
        #expect(try opens(.keySpec("correct horse"), whatIsMadeBy: .passphrase("correct horse")))
        // Text that only looks similar is a passphrase in SQLCipher, which the shell confirms.
        let path = directory.path("odd.db")
        var configuration = Configuration()
        configuration.key = .keySpec("x'0011'")
        try DatabaseQueue(path: path, configuration: configuration).write {
            try $0.execute(sql: "CREATE TABLE item (name TEXT)")
        }
        #expect(
            try SQLCipherShell(path: path, passphrase: "x'0011'").run("SELECT name FROM sqlite_master;") == [
                "item"
            ])
    }

    @Test(
        "a key file holds bytes, digits as the tool writes them, or a passphrase, and is read when the key is needed"
    )
    func keyFile() throws {
        let digits = try write((hexText(rawKeyBytes) + "\n").utf8, to: "digits.key")
        #expect(try opens(.keyFile(digits), whatIsMadeBy: .rawKey(rawKeyBytes)))
        let bytes = try write(rawKeyBytes, to: "bytes.key", mode: 0o400)
        #expect(try opens(.keyFile(bytes), whatIsMadeBy: .rawKey(rawKeyBytes)))
        let salted = try write(rawKeyBytes + saltBytes, to: "salted.key")
        #expect(
            try opens(
                .keyFile(salted, contents: .rawKeyAndSalt),
                whatIsMadeBy: .rawKey(rawKeyBytes, salt: saltBytes)))
        #expect(try salt(ofWhatIsMadeBy: .keyFile(salted, contents: .rawKeyAndSalt)) == saltBytes)
        // The content of a key file is declared, never guessed.
        #expect(problem(.keyFile(salted)) == .file(path: salted, .noRawKey(size: 48)))
        #expect(problem(.keyFile(bytes, contents: .rawKeyAndSalt)) == .file(path: bytes, .noRawKey(size: 32)))
        let words = try write("correct horse\r\n".utf8, to: "words.key")
        #expect(try opens(.keyFile(words, contents: .passphrase), whatIsMadeBy: .passphrase("correct horse")))

        let later = DatabaseKey.keyFile(directory.path("later.key"))
        #expect(problem(later) == .file(path: directory.path("later.key"), .unreadable(errno: ENOENT)))
        try write(rawKeyBytes, to: "later.key")
        #expect(try opens(later, whatIsMadeBy: .rawKey(rawKeyBytes)))
    }

    @Test(
        "a key file that others may read, or that is invalid, is refused before the database is opened"
    )
    func refusedKeyFile() throws {
        for mode in [0o640, 0o604, 0o660, 0o610] {
            let path = try write(rawKeyBytes, to: "open.key", mode: mode)
            #expect(problem(.keyFile(path)) == .file(path: path, .readableByOthers(mode: UInt32(mode))))
            #expect(try opens(.keyFile(path, allowsInsecureMode: true), whatIsMadeBy: .rawKey(rawKeyBytes)))
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(problem(.keyFile(directory.path)) == .file(path: directory.path, .notAFile))
        let long = try write([UInt8](repeating: 7, count: 65_537), to: "long.key")
        #expect(problem(.keyFile(long)) == .file(path: long, .tooLong))
        let words = try write("correct horse".utf8, to: "words.key")
        #expect(problem(.keyFile(words)) == .file(path: words, .noRawKey(size: 13)))
        let empty = try write([], to: "empty.key")
        #expect(problem(.keyFile(empty, contents: .passphrase)) == .emptyPassphrase)
        #expect(!FileManager.default.fileExists(atPath: directory.path("refused.db-wal")))
    }

    @Test(
        "preparations with another passphrase make another key, even while the former derived key is in use"
    )
    func preparedPassphrases() throws {
        final class Words: Sendable {
            let text = Mutex("one")
        }
        let words = Words()
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.usePassphrase(words.text.withLock { $0 }) }
        let first = try DatabaseQueue(path: directory.path("one.db"), configuration: configuration)
        words.text.withLock { $0 = "two" }
        let second = try DatabaseQueue(path: directory.path("two.db"), configuration: configuration)
        for (name, passphrase) in [("one.db", "one"), ("two.db", "two")] {
            #expect(
                try SQLCipherShell(path: directory.path(name), passphrase: passphrase).run(
                    "SELECT count(*) FROM sqlite_master;") == ["0"])
        }
        withExtendedLifetime((first, second)) {}
    }

    @Test("no error shows the content of a key file")
    func secrecy() throws {
        let path = try write("conspicuous-secret".utf8, to: "words.key")
        var configuration = Configuration()
        configuration.key = .keyFile(path)
        let error = #expect(throws: DatabaseError.self) {
            _ = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        }
        #expect(error.map { "\($0)\(String(reflecting: $0))".contains("conspicuous") } == false)
    }

    @Test(
        "a credential is read from the unit's directory; links, and names with a slash, are refused"
    )
    func credential() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                var configuration = Configuration()
                configuration.key = .credential("vault")
                func failure() -> EncryptionFailure? {
                    do {
                        _ = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
                        return nil
                    } catch {
                        return (error as? DatabaseError)?.encryptionFailure
                    }
                }
                unsafe unsetenv("CREDENTIALS_DIRECTORY")
                #expect(failure() == .invalidKey(.noCredential(name: "vault")))
                unsafe setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
                let path = directory.path("vault")
                #expect(failure() == .invalidKey(.file(path: path, .unreadable(errno: ENOENT))))
                try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: directory.path("elsewhere")))
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: directory.path("elsewhere"))
                #expect(failure() == .invalidKey(.file(path: path, .unreadable(errno: ELOOP))))
                try FileManager.default.removeItem(atPath: path)
                try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: path))
                #expect(failure() == nil)
                for name in ["", ".", "..", "a/b"] {
                    configuration.key = .credential(name)
                    #expect(failure() == .invalidKey(.noCredential(name: name)))
                }
            }
        }
    }
}
