import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

/// A path in a separate temporary directory, with connections to it and the stock `sqlcipher` shell for
/// comparison.
final class EncryptedFile {
    let directory: URL
    let path: String

    init(_ name: String = "test.sqlite") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "coffer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appendingPathComponent(name).path
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func open() throws(EngineError) -> EngineConnection {
        try EngineConnection(path: path, flags: [.readWrite, .create])
    }

    /// Opens the file with a key ring, runs SQL, and closes it.
    @discardableResult
    func run(_ ring: KeyRing, _ sql: String = "SELECT count(*) FROM sqlite_master") throws -> String? {
        let connection = try ring.openKeyed(open: open)
        return try connection.handle.firstText(trusted: sql)
    }

    /// Makes a table `t` with `rows` rows of 500 bytes, and the number 42 as `user_version`.
    func fill(_ ring: KeyRing, rows: Int = 20) throws {
        let connection = try ring.openKeyed(open: open)
        try connection.handle.execute(
            trusted: """
                CREATE TABLE t(id INTEGER PRIMARY KEY, x BLOB);
                WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(rows))
                INSERT INTO t SELECT n, randomblob(500) FROM c;
                PRAGMA user_version = 42;
                """)
    }

    /// Returns the output of the `sqlcipher` shell for a script, without the output of the key pragmas.
    func shell(_ script: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlcipher")
        process.arguments = ["-batch", "-init", "/dev/null", path]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").filter {
            $0 != "ok" && !$0.hasSuffix("is deprecated, please remove from use")
        }.joined(
            separator: "\n")
    }

    var bytes: [UInt8] {
        get throws { try Array(Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    func write(_ bytes: some Sequence<UInt8>) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    func change(_ body: (inout [UInt8]) -> Void) throws {
        var copy = try bytes
        body(&copy)
        try write(copy)
    }

    /// The number of descriptors that this process has open on the file and its side files.
    var openDescriptors: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
                    .hasPrefix(directory.path) == true
            }
        }
    }
}

func hexText(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Returns the failure that `body` throws, or nil if it succeeds. Other errors fail the test.
func failure(_ body: () throws -> Void) -> EncryptionFailure? {
    do {
        try body()
        return nil
    } catch let error as KeyError where error.failure != nil {
        return error.failure
    } catch {
        Issue.record("unexpected error: \(error)")
        return nil
    }
}

let rawKeyBytes = (0..<32).map { UInt8($0 * 7 + 3) }
let saltBytes = (0..<16).map { UInt8(200 - $0) }
