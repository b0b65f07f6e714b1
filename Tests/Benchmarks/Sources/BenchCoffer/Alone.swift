import BenchKit
import Coffer

/// The other workloads on files that no other process may open: their names end in `-alone`.
enum Alone {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        guard assignment.workload.hasSuffix("-alone") else { return nil }
        var shared = assignment
        shared.workload.removeLast("-alone".count)
        return try Engine.$fileLocking.withValue(.thisProcessOnly) {
            if let result = try Writing.run(shared) { return result }
            return try Records.run(
                shared, DatabasePool(path: shared.playerFile, configuration: Engine.rawKeyed()))
        }
    }
}
