internal import SQLCipherBridge

/// The engine's own checks of the structure, which can be ended.
enum StructureCheck: String {
    case quick = "quick_check"
    /// Compares indexes with their tables as well.
    case full = "integrity_check"

    private var pragma: String { "PRAGMA main.\(rawValue)" }

    /// - Returns: what the engine finds: of damage and of content at most 100 findings each.
    func findings(_ handle: ConnectionHandle, progress: ProgressReport) throws -> StructureFindings {
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
        let answer: StructureFindings
        do throws(EngineError) {
            answer = try StructureCheck.answer(pragma, handle)
        } catch {
            if let failure { throw failure }
            switch error.primaryCode {
            // The schema was read when the key was proved: what cannot be compiled needs a collation or a
            // tokenizer of an application.
            case EngineCode.error where !canBeCompiled(handle):
                return try findingsTableByTable(handle)
            // A page that cannot be read is damage, in whatever words.
            case EngineCode.corrupt, EngineCode.notADatabase, EngineCode.error:
                return StructureFindings(damage: [error.message ?? "not readable"])
            default: throw error
            }
        }
        // Modules take an end for a finding.
        if let failure { throw failure }
        return answer
    }

    /// Proves that the b-trees of a copy are whole, in so far as its connection knows the functions,
    /// collations and modules of the schema.
    ///
    /// - Parameter readsCodes: whether it is the engine that looks at the codes of pages.
    /// - Throws: `SQLITE_CORRUPT` with the first finding; the error of a read that failed.
    static func prove(_ copy: ConnectionHandle, readsCodes: Bool = false) throws(EngineError) {
        let findings: StructureFindings
        do throws(EngineError) {
            findings = try answer(quick.pragma, copy)
        } catch {
            guard error.primaryCode == EngineCode.error else { throw error }
            findings =
                readsCodes && error.isOfPage
                ? StructureFindings(damage: [error.message ?? "not readable"])
                : try quick.findingsTableByTable(copy, readsCodes: readsCodes)
        }
        if let finding = findings.damage.first {
            throw EngineError(code: EngineCode.corrupt, message: "The file is damaged: \(finding)")
        }
    }

    private static func answer(
        _ pragma: String, _ handle: ConnectionHandle
    ) throws(EngineError) -> StructureFindings {
        let found = StructureFindings(answer: try handle.column(trusted: "\(pragma)(\(mostFindings))"))
        guard found.damage.isEmpty, found.content.count == mostFindings else { return found }
        // Damage of rows and indexes may come behind more of those. The b-trees were looked at before.
        return StructureFindings(
            damage: try firstDamage("\(pragma)(\(Int32.max))", handle).map { [$0] } ?? [],
            content: found.content)
    }

    private static let mostFindings = 100

    private static func firstDamage(
        _ pragma: String, _ handle: ConnectionHandle
    ) throws(EngineError) -> String? {
        try handle.firstText(trusted: pragma, where: { !StructureFindings(answer: [$0]).damage.isEmpty })
    }

    private func canBeCompiled(_ handle: ConnectionHandle) -> Bool {
        do {
            _ = try handle.prepare(trusted: pragma)
            return true
        } catch {
            return error.primaryCode != EngineCode.error
        }
    }

    /// Of the first table that is damaged, and of the content of those before it, among the tables that need
    /// nothing of an application; and the virtual tables that no program can open.
    private func findingsTableByTable(_ handle: ConnectionHandle, readsCodes: Bool = false)
        throws(EngineError) -> StructureFindings
    {
        var found = StructureFindings()
        found.content = try handle.virtualTablesThatDoNotOpen()
        for name in try handle.storedTableNames() where name != "sqlite_sequence" {
            do throws(EngineError) {
                // No limit can be given beside a table: it is the same hundred.
                let check = "\(pragma)(\(name.quotedDatabaseIdentifier))"
                let findings = StructureFindings(answer: try handle.column(trusted: check))
                found.content += findings.content
                found.damage = findings.damage
            } catch {
                switch error.primaryCode {
                case EngineCode.error where !readsCodes || !error.isOfPage: continue
                case EngineCode.corrupt, EngineCode.error: found.damage = [error.message ?? "not readable"]
                default: throw error
                }
            }
            if !found.damage.isEmpty { break }
        }
        return found
    }
}

extension EngineError {
    /// Whether it may be that of a page without the right code: to SQLCipher that is an error without words,
    /// where what cannot be compiled or computed has some.
    fileprivate var isOfPage: Bool {
        primaryCode == EngineCode.error && (message == nil || message == ConnectionHandle.describe(code))
    }
}
