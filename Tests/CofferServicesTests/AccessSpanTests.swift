#if Services
import Coffer
import CofferServices
import CofferTestSupport
import InMemoryTracing
import Testing
import Tracing

@Suite("Spans of accesses", .timeLimit(.minutes(Patience.minutes)))
struct AccessSpanTests {
    let directory: TestDirectory
    private let tracer = InMemoryTracer()

    init() throws { directory = try TestDirectory() }

    @Test("an access has a span, and spans inside the access are its children", arguments: Access.allCases)
    func nesting(access: Access) async throws {
        let writer = try directory.make(access)
        let (outer, inner) = try await withTracer(tracer) {
            try await withSpan("request") { request in
                let id = try await writer.write(span: "create") { db in
                    try db.execute(sql: "CREATE TABLE note (text)")
                    return ServiceContext.current?.inMemorySpanContext?.spanID
                }
                return (request.context.inMemorySpanContext?.spanID, id)
            }
        }
        let span = try #require(tracer.finishedSpans.first { $0.operationName == "create" })
        #expect(span.spanID == inner && span.parentSpanID == outer && span.kind == .client)
        #expect(span.attributes["db.system.name"]?.toSpanAttribute() == .string("sqlite"))
        #expect(span.attributes["db.operation.name"]?.toSpanAttribute() == .string("write"))
        #expect(span.attributes["coffer.wait_seconds"] != nil && span.status == nil)
        try writer.close()
    }

    @Test("a failed access has the code of its error, and no message", arguments: Access.allCases)
    func failure(access: Access) async throws {
        let writer = try directory.make(access)
        _ = await withTracer(tracer) {
            await #expect(throws: DatabaseError.self) {
                try await writer.read(span: "list") { db in
                    try db.execute(sql: "SELECT * FROM missing WHERE text = 'secret'")
                }
            }
        }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "list" && span.status?.code == .error && span.errors.isEmpty)
        #expect(span.attributes["error.type"]?.toSpanAttribute() != nil)
        span.attributes.forEach { _, value in #expect(!"\(value)".contains("secret")) }
        try writer.close()
    }
}
#endif
