internal import SQLCipherBridge

/// The engine's own checks of the structure, which can be ended.
enum StructureCheck: String {
    case quick = "quick_check"
    /// Compares indexes with their tables as well.
    case full = "integrity_check"

    private var pragma: String { "PRAGMA \(rawValue)(100)" }

    /// - Returns: the engine's words for what it finds, at most 100; none when the structure is whole.
    func findings(_ handle: ConnectionHandle, progress: ProgressReport) throws -> [String] {
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
            let answer = try handle.column(trusted: pragma)
            return answer == ["ok"] ? [] : answer.isEmpty ? ["no answer"] : answer
        } catch {
            if let failure { throw failure }
            switch error.primaryCode {
            // The schema was read when the key was proved: what cannot be compiled needs a collation or a tokenizer of an application.
            case EngineCode.error where !canBeCompiled(handle):
                return try StructureCheck.findingsTableByTable(handle)
            // A page that cannot be read is damage, in whatever words.
            case EngineCode.corrupt, EngineCode.notADatabase, EngineCode.error: return [error.message ?? "not readable"]
            default: throw error
            }
        }
    }

    private func canBeCompiled(_ handle: ConnectionHandle) -> Bool {
        do {
            _ = try handle.prepare(trusted: pragma)
            return true
        } catch {
            return error.primaryCode != EngineCode.error
        }
    }

    private static func findingsTableByTable(_ handle: ConnectionHandle) throws -> [String] {
        do {
            try LenientStructureCheck(handle).run()
            return []
        } catch let error as EngineError where error.primaryCode == EngineCode.corrupt {
            return [error.message ?? "not readable"]
        }
    }
}

/// Whether b-trees are whole, in so far as a connection can tell that does not know every function, collation and module of the schema.
struct LenientStructureCheck {
    private let connection: ConnectionHandle

    init(_ connection: ConnectionHandle) {
        self.connection = connection
    }

    /// - Throws: `SQLITE_CORRUPT` with the first finding; the error of a read that failed.
    func run() throws {
        do {
            try check("PRAGMA main.quick_check(1)")
        } catch let error as EngineError where error.primaryCode == EngineCode.error {
            // A tokenizer or collation of an application: the tables that need none of it can be checked one by one.
            for name in try connection.storedTableNames() where name != "sqlite_sequence" {
                do {
                    try check("PRAGMA main.quick_check(\(name.quotedDatabaseIdentifier))")
                } catch let error as EngineError where error.primaryCode == EngineCode.error {
                    continue
                }
            }
        }
    }

    private func check(_ pragma: String) throws {
        let finding = try connection.firstText(trusted: pragma)
        guard finding == "ok" else {
            throw EngineError(code: EngineCode.corrupt, message: "The file is damaged: \(finding ?? "no answer")")
        }
    }
}
