import BenchKit
import Foundation
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Runs one workload and prints its measurement.
enum Runner {
    typealias Result = Outcome

    /// - Parameter special: the workloads that only one library has.
    static func main(special: @Sendable (Assignment) throws -> Result?) async throws {
        let assignment = try Assignment()
        let result = try await run(assignment, special)
        let measurement = Measurement(
            workload: assignment.workload, outcome: result, engine: try engine(assignment))
        print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
    }

    private static func run(_ assignment: Assignment, _ special: @Sendable (Assignment) throws -> Result?)
        async throws -> Result
    {
        if let result = try special(assignment) { return result }
        if assignment.workload == "open-pool" { return try Opening.run(assignment) }
        if assignment.workload == "backup" { return try copy(assignment) }
        if let result = try Writing.run(assignment) { return result }
        if let result = try Observing.run(assignment) { return result }
        if let result = try Footprint.run(assignment) { return result }
        if let result = try Points.run(assignment) { return result }
        if let result = try Joining.run(assignment) { return result }
        let pool = try DatabasePool(path: assignment.playerFile, configuration: Engine.rawKeyed())
        if let result = try Reading.run(assignment, pool) { return result }
        if let result = try Records.run(assignment, pool) { return result }
        if let result = try await Records.runAwaiting(assignment, pool) { return result }
        throw Mistake(description: "there is no workload \(assignment.workload)")
    }

    private static func copy(_ assignment: Assignment) throws -> Result {
        let source = try DatabasePool(path: assignment.largeFile, configuration: Engine.rawKeyed())
        var paths: [String] = []
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                let path = assignment.freshFile()
                paths.append(path)
                return path
            },
            work: { path in
                let destination = try DatabasePool(path: path, configuration: Engine.rawKeyed())
                try source.backup(to: destination)
                try destination.close()
                return 0
            })
        paths.forEach(assignment.remove)
        let attributes = try FileManager.default.attributesOfItem(atPath: assignment.largeFile)
        return Result(seconds: seconds, check: 0, operations: attributes[.size] as? Int ?? 0)
    }

    private static func engine(_ assignment: Assignment) throws -> String {
        let queue = try DatabaseQueue(path: assignment.playerFile, configuration: Engine.rawKeyed())
        return try queue.read { try String.fetchOne($0, sql: "PRAGMA cipher_version") } ?? ""
    }
}
