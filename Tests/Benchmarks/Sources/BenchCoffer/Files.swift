import BenchKit
import Coffer
import Foundation

/// Workloads without a counterpart in GRDB: rotation, verification, and backup of files.
enum Files {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        switch assignment.workload {
        case "rotate": return try rotate(assignment)
        case "verify", "verify-structure": return try verify(assignment)
        case "backup-file": return try backup(assignment)
        default: return nil
        }
    }

    private static func rotate(_ assignment: Assignment) throws -> Runner.Result {
        var paths: [String] = []
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                let path = try assignment.freshCopy(of: assignment.largeFile)
                paths.append(path)
                return path
            },
            work: { path in
                let newKey = DatabaseKey.rawKey([UInt8](repeating: 0xa5, count: 32))
                let result = try DatabaseFile(path: path).rotate(from: .rawKey(Equal.rawKey), to: newKey)
                guard result.proof?.isContentEqual == true else {
                    throw Mistake(description: "the rotation proved nothing")
                }
                return 0
            })
        paths.forEach(assignment.remove)
        return Runner.Result(seconds: seconds, check: 0, operations: try size(of: assignment.largeFile))
    }

    private static func verify(_ assignment: Assignment) throws -> Runner.Result {
        let file = DatabaseFile(path: assignment.largeFile)
        let (seconds, _) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            var options = DatabaseFile.VerificationOptions()
            // The engine's own MAC check does not check the structure.
            if assignment.workload == "verify" { options.structure = .none }
            let result = try file.verify(key: .rawKey(Equal.rawKey), options: options)
            guard result.isIntact else { throw Mistake(description: "\(result.findings)") }
            return 0
        }
        return Runner.Result(seconds: seconds, check: 0, operations: try size(of: assignment.largeFile))
    }

    private static func backup(_ assignment: Assignment) throws -> Runner.Result {
        let file = DatabaseFile(path: assignment.largeFile)
        var paths: [String] = []
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                let path = assignment.freshFile()
                paths.append(path)
                return path
            },
            work: { path in
                let result = try file.backup(to: path, key: .rawKey(Equal.rawKey))
                guard result.proof != nil else { throw Mistake(description: "the backup proved nothing") }
                return 0
            })
        paths.forEach(assignment.remove)
        return Runner.Result(seconds: seconds, check: 0, operations: try size(of: assignment.largeFile))
    }

    static func size(of path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
