import Coffer
import CofferTestSupport
import Testing

@Suite("Random associations")
struct RandomAssociationTests {
    @Test("return the same rows as nested loops")
    func randomGraphs() throws {
        var random = SeededRandom("associations")
        let configuration = Configuration().with { $0.foreignKeysEnabled = false }
        var (requestCount, rowCount, hasFailed) = (0, 0, false)
        while requestCount < 5000, !hasFailed {
            let graph = RandomGraph(&random)
            let queue = try DatabaseQueue(configuration: configuration)
            try queue.write { db throws in
                try graph.create(db)
                for _ in 0..<25 {
                    var maker = RandomTreeMaker(graph)
                    let node = maker.root(&random)
                    let request = graph.request(node)
                    let rows = try Row.fetchAll(db, request)
                    let texts = rows.map { graph.text($0, node) }.sorted()
                    let expected = graph.expected(node).sorted()
                    requestCount += 1
                    rowCount += rows.count
                    guard texts != expected else {
                        let count = try request.fetchCount(db)
                        #expect(count == rows.count)
                        continue
                    }
                    hasFailed = true
                    let sql = try request.makePreparedRequest(db, forSingleResult: false).statement.sql
                    Issue.record(
                        "seed \(random.seed), request \(requestCount): \(sql)\n\(node)\n\(texts)\n\(expected)"
                    )
                    return
                }
            }
        }
        #expect(rowCount > 5000)
    }
}
