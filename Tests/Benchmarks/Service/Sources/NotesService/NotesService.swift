import Foundation
import GRDB
import Hummingbird

/// Serves notes on the loopback interface: see the script `service`.
///
///     NotesService FOLDER PORT COUNT [OPEN]
///
/// COUNT is the number of tenants; 0 answers with constants, without a database. OPEN is the number of
/// databases that may be open, if not all.
@main
struct NotesService {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let numbers = arguments.dropFirst(2).compactMap { Int($0) }
        guard arguments.count >= 4, numbers.count == arguments.count - 2 else {
            print("usage: NotesService FOLDER PORT COUNT [OPEN]")
            exit(64)
        }
        let tenants = try tenants(
            folder: arguments[1], count: numbers[1], openCount: numbers.dropFirst(2).first)
        let router = Router()
        addRoutes(to: router.group("tenants/:tenant"), tenants)
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: numbers[0])))
        try await application.runService()
    }

    private static func tenants(folder: String, count: Int, openCount: Int?) throws -> (any Tenants)? {
        if count == 0 { return nil }
        guard let openCount else { return try OpenTenants(folder: folder, count: count) }
        #if PLAINTEXT
        fatalError("GRDB has no limit on open databases, such as \(openCount).")
        #else
        return try LeasedTenants(folder: folder, count: count, openCount: openCount)
        #endif
    }

    private static func addRoutes(to group: RouterGroup<BasicRequestContext>, _ tenants: (any Tenants)?) {
        let constant = Note(id: 1, title: "Note", body: String(repeating: "word ", count: 40), change: 0)
        group.get("notes") { _, context in
            guard let tenants else { return [Note](repeating: constant, count: 10) }
            return try await tenants.use(context.parameters.require("tenant")) { pool in
                try await pool.read { db in try Note.order(Column("id").desc).limit(10).fetchAll(db) }
            }
        }
        group.get("notes/:id") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            guard let tenants else { return constant }
            return try await tenants.use(context.parameters.require("tenant")) { pool in
                try await pool.read { db in try Note.find(db, key: id) }
            }
        }
        group.get("search/:word") { _, context in
            let word = try context.parameters.require("word")
            guard let tenants else {
                return [Match](repeating: Match(id: 1, title: "Note", snippet: "[word]"), count: 5)
            }
            return try await tenants.use(context.parameters.require("tenant")) { pool in
                try await pool.read { db in try Match.find(word, db) }
            }
        }
        group.post("notes") { request, context in
            let new = try await request.decode(as: NewNote.self, context: context)
            guard let tenants else { return constant }
            return try await tenants.use(context.parameters.require("tenant")) { pool in
                try await pool.write { db in
                    var note = Note(
                        id: nil, title: new.title, body: new.body, change: Date.timeIntervalSinceReferenceDate
                    )
                    try note.insert(db)
                    return note
                }
            }
        }
    }
}
