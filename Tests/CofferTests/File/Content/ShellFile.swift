import Coffer
import CofferTestSupport
import Foundation

/// A file that the stock `sqlcipher` shell makes, in the format of any SQLCipher version.
struct ShellFile {
    /// A raw key, which saves the key derivation in the many processes of a test.
    static let key = [UInt8](repeating: 0x51, count: 32)

    enum Format: CaseIterable {
        case plaintext, sqlcipher1, sqlcipher2, sqlcipher3, sqlcipher4

        var number: Int? {
            switch self {
            case .plaintext: nil
            case .sqlcipher1: 1
            case .sqlcipher2: 2
            case .sqlcipher3: 3
            case .sqlcipher4: 4
            }
        }

        var configuration: Configuration {
            var configuration = Configuration()
            guard let number else {
                configuration.allowsPlaintext = true
                return configuration
            }
            configuration.key = .rawKey(ShellFile.key)
            configuration.cipher = .sqlcipher(format: number)
            return configuration
        }
    }

    let path: String
    let format: Format

    /// Runs a script on a file that does not exist yet.
    ///
    /// The format is set before the key. If it were set afterwards, as is usual, pages would keep the reserve
    /// of format 4, which files of older versions do not have.
    init(_ path: String, format: Format, script: String) throws {
        self.path = path
        self.format = format
        let input =
            ".bail on\n.output /dev/null\n\(ShellFile.preparation(format))\n.output stdout\n\(script)\n"
        let process = try ChildProcess.run(
            "sqlcipher", ["-batch", "-init", "/dev/null", path], input: Data(input.utf8))
        guard process.status == 0, process.errors.isEmpty else {
            throw SQLCipherShell.Failure(
                description: "sqlcipher ended with \(process.status): \(process.errorText)")
        }
    }

    private static func preparation(_ format: Format) -> String {
        guard let number = format.number else { return "" }
        return
            "PRAGMA cipher_default_compatibility = \(number);\nPRAGMA key = \"x'\(String(repeating: "51", count: 32))'\";"
    }

    /// The shell for reading the file.
    var shell: SQLCipherShell {
        guard let number = format.number else { return SQLCipherShell(plaintextPath: path) }
        return SQLCipherShell(
            path: path, rawKey: ShellFile.key, preparation: "PRAGMA cipher_compatibility = \(number);")
    }
}
