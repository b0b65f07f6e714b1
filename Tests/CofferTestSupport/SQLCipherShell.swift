import Foundation

/// The `sqlcipher` program, for independent checks of files. It gets keys only through its standard input.
public struct SQLCipherShell: Sendable {
    /// True if the program is installed.
    public static var isAvailable: Bool { ChildProcess.find("sqlcipher") != nil }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private let path: String
    private let preparation: String

    /// - Parameter preparation: the SQL to run first, for example cipher settings.
    public init(path: String, passphrase: String, preparation: String = "") {
        self.path = path
        self.preparation = "PRAGMA key = '\(passphrase.replacing("'", with: "''"))';\n\(preparation)"
    }

    public init(path: String, rawKey: [UInt8], salt: [UInt8] = [], preparation: String = "") {
        self.path = path
        let digits = (rawKey + salt).map { String(format: "%02x", Int($0)) }.joined()
        self.preparation = "PRAGMA key = \"x'\(digits)'\";\n\(preparation)"
    }

    /// Creates the shell for an unencrypted database.
    public init(plaintextPath path: String) {
        self.path = path
        preparation = ""
    }

    /// Creates the shell for a database of ``Configuration/rawKeyed``.
    public init(path: String, preparation: String = "") {
        self.init(path: path, rawKey: [UInt8](repeating: 0x42, count: 32), preparation: preparation)
    }

    /// Runs SQL and shell commands and returns the printed lines, in which `|` separates columns.
    ///
    /// - Throws: ``Failure`` with the shell's message if anything goes wrong.
    public func run(_ script: String) throws -> [String] {
        // Setting the key prints "ok", which the caller does not need.
        let input = ".bail on\n.output /dev/null\n\(preparation)\n.output stdout\n\(script)\n"
        let process = try ChildProcess.run(
            "sqlcipher", ["-batch", "-init", "/dev/null", path], input: Data(input.utf8))
        guard process.status == 0, process.errors.isEmpty else {
            throw Failure(description: "sqlcipher ended with \(process.status): \(process.errorText)")
        }
        return process.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }
}
