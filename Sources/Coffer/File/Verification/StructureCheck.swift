internal import SQLCipherBridge

/// The engine's own checks of the structure, which can be ended.
enum StructureCheck {
    /// - Returns: the engine's words for what it finds, at most 100; none when the structure is whole.
    static func findings(
        _ handle: ConnectionHandle, _ kind: DatabaseFile.VerificationOptions.StructureCheck, progress: ProgressReport
    ) throws -> [String] {
        guard kind != .none else { return [] }
        var failure: (any Error)?
        // Some hundred times a second.
        let handler = ProgressHandler(handle, every: 200_000) {
            do {
                try progress(.checkingStructure, 0, of: 0)
                return true
            } catch {
                failure = error
                return false
            }
        }
        defer { handler.remove(from: handle) }
        try progress(.checkingStructure, 0, of: 0)
        do {
            let answer = try handle.column(trusted: kind == .quick ? "PRAGMA quick_check(100)" : "PRAGMA integrity_check(100)")
            return answer == ["ok"] ? [] : answer.isEmpty ? ["no answer"] : answer
        } catch {
            if let failure { throw failure }
            switch error.code & 0xff {
            // A page that cannot be read is damage, in whatever words.
            case EngineCode.corrupt, EngineCode.notADatabase, EngineCode.error: return [error.message ?? "not readable"]
            default: throw error
            }
        }
    }
}
