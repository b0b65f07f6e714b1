import Dispatch
import Foundation

/// A `sqlcipher` process that has a database of ``Configuration/rawKeyed`` open until it is killed.
public final class LiveShell: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    public init(path: String) throws {
        guard let program = ChildProcess.find("sqlcipher") else { throw CocoaError(.executableLoad) }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-batch", "-init", "/dev/null", path]
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
        let key = String(repeating: "42", count: 32)
        _ = try run("PRAGMA key = \"x'\(key)'\";")
    }

    /// Runs SQL to completion and returns the printed lines.
    public func run(_ sql: String) throws -> [String] {
        let end = "end of the answer"
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql)\n.print \(end)\n".utf8))
        var text = ""
        while !text.hasSuffix("\(end)\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw SQLCipherShell.Failure(description: "sqlcipher ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "\n").dropLast().map(String.init)
    }

    /// Commits a row after rolling back many rows to a savepoint. An engine with ``EngineFault/lostCommits``
    /// writes the commit without checksums.
    public func commitAfterPartialRollback(table: String) throws {
        _ = try run(
            """
            PRAGMA cache_size = 10;
            BEGIN;
            SAVEPOINT s;
            INSERT INTO \(table) (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                SELECT hex(randomblob(100)) FROM n;
            ROLLBACK TO s;
            RELEASE s;
            INSERT INTO \(table) (text) VALUES ('committed');
            COMMIT;
            """)
    }

    /// Kills the process with SIGKILL and waits for its end.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        hasEnded.wait()
    }
}
