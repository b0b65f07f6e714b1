import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Copies by a process that cannot read them")
struct CopyForRecipientTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "a process makes copies that only a recipient can open, and keeps none of their keys in memory"
    )
    func leavesNoKeys() throws {
        let owner = try DatabaseKeyring.Identity.random()
        let queue = try directory.makeQueue("items.db", .rawKeyed)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
        }
        try queue.close()
        let folder = try directory.makeFolder("backups")
        let recipient = owner.recipient.description

        let worker = try ConversingProcess(
            "CofferTestWorker",
            ["copy", directory.path("items.db"), recipient, directory.path("copy.db"), folder])
        defer { worker.end() }
        #expect(worker.nextLine() == "copied")
        let dated = try #require(directory.fileNames().first { $0.hasSuffix(".backup") })
        for name in ["copy.db", dated] {
            let keyring = DatabaseKeyring(databasePath: directory.path(name))
            let dataKey = try keyring.exportedKey(unlockedBy: owner.secret)
            let needle = unsafe dataKey.withUnsafeRawKeyBytes { unsafe MemoryNeedle($0) }
            #expect(worker.ask(try #require(needle).text) == "0", "\(name)")
            var configuration = Configuration()
            configuration.key = .keyring(unlockedBy: owner.secret)
            let copy = try DatabaseQueue(path: keyring.databasePath, configuration: configuration)
            #expect(try copy.read { try String.fetchAll($0, sql: "SELECT title FROM item") } == ["letter"])
            try copy.close()
            for other in [
                Configuration.rawKeyed.key,
                .keyring(unlockedBy: .rawKey([UInt8](repeating: 0x42, count: 32))),
            ] {
                configuration.key = other
                #expect(throws: DatabaseError.self) {
                    try DatabaseQueue(path: keyring.databasePath, configuration: configuration)
                }
            }
        }
        // The process never had the owner's private key. It did have the recipient, which therefore is found.
        let identity = unsafe owner.withUnsafeText { text in unsafe KeyDigits.bytes(text) }
        #expect(worker.ask(unsafe identity.withUnsafeBytes { unsafe MemoryNeedle($0) }.text) == "0")
        let known = unsafe Array(recipient.utf8).withUnsafeBytes { unsafe MemoryNeedle($0) }
        let count = worker.ask(known.text).flatMap { Int($0) }
        #expect(count ?? 0 > 0)
    }
}

private enum KeyDigits {
    /// Returns the 32 bytes in the text of an identity.
    static func bytes(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        let digits = unsafe Array(text.dropFirst("coffer-identity-1-".count).prefix(64))
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }
}

/// A program of this package that answers lines of input.
private final class ConversingProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest = Data()

    init(_ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: ChildProcess.built(program))
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Returns the next line of output, or nil at the end.
    func nextLine() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[(end + 1)...])
                return line
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            rest += data
        }
    }

    func ask(_ line: String) -> String? {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        return nextLine()
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
