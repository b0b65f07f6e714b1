internal import SQLCipherBridge

/// The engine's own checks of the structure, which can be ended.
enum StructureCheck {
    /// - Returns: the engine's words for what it finds first, or nil when the structure is whole.
    static func firstFinding(
        _ handle: ConnectionHandle, _ kind: DatabaseFile.VerificationOptions.StructureCheck, progress: ProgressReport
    ) throws -> String? {
        guard kind != .none else { return nil }
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
            let answer = try handle.firstText(trusted: kind == .quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)")
            return answer == "ok" ? nil : answer ?? "no answer"
        } catch {
            if let failure { throw failure }
            switch error.code & 0xff {
            // A page that cannot be read is damage, in whatever words.
            case EngineCode.corrupt, EngineCode.notADatabase, EngineCode.error: return error.message ?? "not readable"
            default: throw error
            }
        }
    }
}
