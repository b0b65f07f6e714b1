import Coffer
import CofferServices
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

extension Note: ResponseCodable {}

/// The text of a note that a client sends.
private struct NewNote: Codable { var text: String }

/// The names of databases, or of files, in an answer.
private struct Names: ResponseCodable { var names: [String] }

extension Tenants {
    /// Returns the service: its routes, its databases, and their end.
    public func application(address: BindAddress, logger: Logger) -> some ApplicationProtocol {
        let router = Router()
        router.add(middleware: StatusMiddleware())
        addNotes(to: router.group("tenants/:tenant/notes"))
        addTenants(to: router.group("tenants/:tenant"))
        addOperations(to: router)
        return Application(
            router: router, configuration: .init(address: address, serverName: "notes"), services: services,
            logger: logger)
    }

    private func addNotes(to group: RouterGroup<BasicRequestContext>) {
        group.get { _, context in
            try await use(context.parameters.require("tenant")) { pool in
                try await pool.read(span: "list notes") { db in try Note.fetchAll(db) }
            }
        }
        group.post { request, context in
            let text = try await request.decode(as: NewNote.self, context: context).text
            let note = try await use(context.parameters.require("tenant")) { pool in
                try await pool.write(span: "add note") { db in
                    var note = Note(text: text)
                    try note.insert(db)
                    return note
                }
            }
            return EditedResponse(status: .created, response: note)
        }
        group.get(":id") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            return try await use(context.parameters.require("tenant")) { pool in
                try await pool.read(span: "get note") { db in try Note.find(db, key: id) }
            }
        }
        group.put(":id") { request, context in
            let id = try context.parameters.require("id", as: Int64.self)
            let text = try await request.decode(as: NewNote.self, context: context).text
            return try await use(context.parameters.require("tenant")) { pool in
                try await pool.write(span: "change note") { db in
                    let note = Note(id: id, text: text)
                    try note.update(db)
                    return note
                }
            }
        }
        group.delete(":id") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            let isDeleted = try await use(context.parameters.require("tenant")) { pool in
                try await pool.write(span: "delete note") { db in try Note.deleteOne(db, key: id) }
            }
            return isDeleted ? HTTPResponse.Status.noContent : .notFound
        }
    }

    private func addTenants(to group: RouterGroup<BasicRequestContext>) {
        group.put { _, context in
            try await create(context.parameters.require("tenant"))
            return HTTPResponse.Status.created
        }
        group.post("backups") { _, context in
            Names(names: [try await backUp(context.parameters.require("tenant"))])
        }
        group.get("health") { _, context in
            let health = try await use(context.parameters.require("tenant")) { pool in await pool.health() }
            return health.status
        }
        group.get("events") { _, context in
            // The lease keeps the database open. A tenant that does not exist is an error before the stream
            // begins.
            let lease = try await pools.lease(Self.checked(context.parameters.require("tenant")))
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody { writer in
                    let events = ValueObservation.tracking { db in try NoteSummary.fetch(db) }
                        .values(in: lease.pool).cancelOnGracefulShutdown()
                    for try await event in events {
                        let data = try String(decoding: JSONEncoder().encode(event), as: UTF8.self)
                        try await writer.write(ByteBuffer(string: "data: \(data)\n\n"))
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private func addOperations(to router: Router<BasicRequestContext>) {
        router.get("health") { _, _ in await generations.pool.health(timeout: 0.5).status }
        router.post("rotations") { _, _ in Names(names: try await rotate()) }
    }
}

extension DatabasePool.Health {
    fileprivate var status: HTTPResponse.Status {
        readError == nil && writeError == nil ? .ok : .serviceUnavailable
    }
}
