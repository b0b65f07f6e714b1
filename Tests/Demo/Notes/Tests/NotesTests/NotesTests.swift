import Coffer
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import Notes

@Suite("Notes in memory")
struct NotesInMemoryTests {
    @Test("a summary has the number of notes and the newest one")
    func summary() throws {
        let queue = try DatabaseQueue()
        try Note.migrator.migrate(queue)
        try queue.write { db in
            #expect(try NoteSummary.fetch(db) == NoteSummary(count: 0))
            var (first, second) = (Note(text: "a"), Note(text: "b"))
            try first.insert(db)
            try second.insert(db)
            #expect(try NoteSummary.fetch(db) == NoteSummary(count: 2, newest: second))
        }
    }

    @Test(
        "a tenant's name is a part of a path, so few characters are allowed",
        arguments: ["", "..", "a/b", "A", "é"])
    func names(name: String) {
        #expect(throws: HTTPError.self) { try Tenants.checked(name) }
    }
}

/// Each test runs the service without sockets, on files.
@Suite("The notes service")
final class NotesServiceTests: Sendable {
    let folder: String
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        folder = NSTemporaryDirectory() + "notes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs the service until `body` returns.
    private func serve(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        let tenants = try await Tenants.open(folder, master: master, logger: logger)
        try await tenants.application(address: .hostname(), logger: logger).test(.router, body)
    }

    private func note(_ response: TestResponse) throws -> Note {
        try JSONDecoder().decode(Note.self, from: Data(response.body.readableBytesView))
    }

    private func body(_ text: String) -> ByteBuffer { ByteBuffer(string: #"{"text":"\#(text)"}"#) }

    @Test("notes are created, read, changed and deleted, and kept by the next process")
    func notes() async throws {
        try await serve { client in
            try await client.execute(uri: "/tenants/ada", method: .put) { #expect($0.status == .created) }
            try await client.execute(uri: "/tenants/ada", method: .put) { #expect($0.status == .conflict) }
            for text in ["first", "second"] {
                let new = try await client.execute(uri: "/tenants/ada/notes", method: .post, body: body(text))
                #expect(try new.status == .created && note(new).text == text)
            }
            try await client.execute(uri: "/tenants/ada/notes/1", method: .put, body: body("third")) {
                #expect($0.status == .ok)
            }
            try await client.execute(uri: "/tenants/ada/notes/2", method: .delete) {
                #expect($0.status == .noContent)
            }
            try await client.execute(uri: "/tenants/ada/notes/2", method: .get) {
                #expect($0.status == .notFound)
            }
        }
        try await serve { client in
            let found = try await client.execute(uri: "/tenants/ada/notes/1", method: .get)
            #expect(try note(found) == Note(id: 1, text: "third"))
        }
    }

    @Test(
        "a request for a tenant that does not exist, or that cannot exist, has no effect",
        arguments: [("nobody", HTTPResponse.Status.notFound), ("Ada", .badRequest)])
    func unknownTenants(name: String, status: HTTPResponse.Status) async throws {
        try await serve { client in
            for (path, method) in [("notes", HTTPRequest.Method.get), ("events", .get), ("backups", .post)] {
                try await client.execute(uri: "/tenants/\(name)/\(path)", method: method) {
                    #expect($0.status == status)
                }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/tenants").isEmpty)
    }

    @Test("a backup opens with its own key, and a rotation changes only the key of the tenant")
    func backupAndRotation() async throws {
        try await serve { client in
            try await client.execute(uri: "/tenants/ada", method: .put)
            try await client.execute(uri: "/tenants/ada/notes", method: .post, body: body("kept"))
            try await client.execute(uri: "/tenants/ada/backups", method: .post) { #expect($0.status == .ok) }
            for _ in 0..<2 {
                let rotation = try await client.execute(uri: "/rotations", method: .post)
                #expect(String(buffer: rotation.body) == #"{"names":[]}"#)
            }
            for path in ["/health", "/tenants/ada/health"] {
                try await client.execute(uri: path, method: .get) { #expect($0.status == .ok) }
            }
        }
        let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        let backup = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder + "/backups").first)
        for (file, key) in [
            ("backups/\(backup)", DatabaseKey.derived(from: master, info: "backup of ada")),
            ("tenants/ada.db", KeyGenerations(of: "notes of ada", from: master)[2]),
        ] {
            var configuration = Configuration()
            configuration.key = key
            let queue = try DatabaseQueue(path: "\(folder)/\(file)", configuration: configuration)
            #expect(try await queue.read { db in try Note.fetchAll(db).map(\.text) } == ["kept"])
            try queue.close()
        }
    }
}
