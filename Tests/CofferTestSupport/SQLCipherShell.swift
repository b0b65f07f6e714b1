import Foundation

/// The `sqlcipher` program, as an independent judge of files. Keys reach it through its standard input only.
public struct SQLCipherShell: Sendable {
    /// Whether the program is installed.
    public static var isAvailable: Bool { ChildProcess.find("sqlcipher") != nil }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private let path: String
    private let preparation: String

    /// - Parameter preparation: what to run before anything else, such as the cipher settings.
    public init(path: String, passphrase: String, preparation: String = "") {
        self.path = path
        self.preparation = "PRAGMA key = '\(passphrase.replacing("'", with: "''"))';\n\(preparation)"
    }

    public init(path: String, rawKey: [UInt8], salt: [UInt8] = [], preparation: String = "") {
        self.path = path
        let digits = (rawKey + salt).map { String(format: "%02x", Int($0)) }.joined()
        self.preparation = "PRAGMA key = \"x'\(digits)'\";\n\(preparation)"
    }

    /// The shell of a database without encryption.
    public init(plaintextPath path: String) {
        self.path = path
        preparation = ""
    }

    /// The shell of a database that ``Configuration/rawKeyed`` made.
    public init(path: String, preparation: String = "") {
        self.init(path: path, rawKey: [UInt8](repeating: 0x42, count: 32), preparation: preparation)
    }

    /// Runs SQL and commands of the shell, and returns the lines that it prints: columns are separated by
    /// `|`.
    ///
    /// - Throws: ``Failure`` with what the shell says when anything goes wrong.
    public func run(_ script: String) throws -> [String] {
        // The key answers "ok", which does not concern the caller.
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
