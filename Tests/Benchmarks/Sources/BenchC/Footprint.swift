import BenchKit
import Loops

/// The memory of the same work without a library above the engine.
enum Footprint {
    static func run(_ assignment: Assignment) -> Outcome? {
        switch assignment.workload {
        case "memory-cursor": return cursor(assignment)
        case "memory-pool": return pool(assignment)
        default: return nil
        }
    }

    private static func cursor(_ assignment: Assignment) -> Outcome {
        let before = Memory.resident
        let db = BenchC.open(assignment.largeFile, Equal.smallCachePragmas)
        defer { loop_close(db) }
        let tenth = loop_scan(db, Int64(assignment.rows))
        let afterTenth = Memory.resident
        let all = loop_scan(db, Int64.max)
        let peak = Memory.peak
        return Outcome(
            seconds: [], check: tenth &+ all, operations: 1,
            figures: [.bytes: Double(peak - before), .growth: Double(peak - afterTenth)])
    }

    /// Measures five connections that have read everything, and an additional one for a writer.
    private static func pool(_ assignment: Assignment) -> Outcome {
        let before = Memory.own
        let connections = (0..<6).map { _ in BenchC.open(assignment.largeFile) }
        defer { connections.forEach { loop_close($0) } }
        let check = connections.dropFirst().reduce(0) { $0 &+ loop_integer($1, Equal.readAll) }
        return Outcome(
            seconds: [], check: check, operations: 1, figures: [.bytes: Double(Memory.own - before)])
    }
}
