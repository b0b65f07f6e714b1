internal import SQLCipherBridge

/// The engine's own checks of the structure, made cancellable.
enum StructureCheck: String {
    case quick = "quick_check"
    /// Also compares indexes with their tables.
    case full = "integrity_check"

    private var pragma: String { "PRAGMA main.\(rawValue)" }

    /// - Returns: the engine's findings, at most 100 about damage and 100 about content.
    func findings(_ handle: ConnectionHandle, progress: ProgressReport) throws -> StructureFindings {
        let found = try progress.whileCheckingStructure(handle) { try findings(handle) }
        if !found.damage.isEmpty { try ReadFailure.check() }
        return found
    }

    private func findings(_ handle: ConnectionHandle) throws(EngineError) -> StructureFindings {
        do throws(EngineError) {
            return try StructureCheck.answer(pragma, handle)
        } catch {
            switch error.primaryCode {
            // The schema was read when the key was verified. A check that cannot be compiled needs an
            // application's collation or tokenizer.
            case EngineCode.error where !canBeCompiled(handle):
                return try findingsTableByTable(handle)
            case EngineCode.error where hasVirtualTableOfApplication(handle):
                return try findingsTableByTable(handle, readsCodes: true)
            // The engine rejects the content of a page, regardless of the message.
            case EngineCode.corrupt, EngineCode.notADatabase, EngineCode.error:
                return StructureFindings(damage: [error.message ?? "not readable"])
            default: throw error
            }
        }
    }

    /// Verifies that the b-trees of a copy are whole, as far as its connection knows the functions,
    /// collations and modules of the schema.
    ///
    /// - Parameter readsCodes: true if the engine itself checks the MACs of pages.
    /// - Throws: `SQLITE_CORRUPT` with the first finding, or the error of a failed read.
    static func prove(_ copy: ConnectionHandle, readsCodes: Bool = false) throws(EngineError) {
        let findings: StructureFindings
        do throws(EngineError) {
            findings = try answer(quick.pragma, copy)
        } catch {
            guard error.primaryCode == EngineCode.error else { throw error }
            findings =
                readsCodes && error.isOfPage && !quick.hasVirtualTableOfApplication(copy)
                ? StructureFindings(damage: [error.message ?? "not readable"])
                : try quick.findingsTableByTable(copy, readsCodes: readsCodes)
        }
        if let finding = findings.damage.first {
            try ReadFailure.check()
            throw EngineError.corrupt("The file is damaged: \(finding)")
        }
    }

    private static func answer(
        _ pragma: String, _ handle: ConnectionHandle
    ) throws(EngineError) -> StructureFindings {
        let found = StructureFindings(answer: try handle.column(trusted: "\(pragma)(\(mostFindings))"))
        guard found.damage.isEmpty, found.content.count == mostFindings else { return found }
        // Damaged rows and indexes may follow after the reported content findings. B-trees are checked first.
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

    private func hasVirtualTableOfApplication(_ handle: ConnectionHandle) -> Bool {
        (try? handle.hasVirtualTableOfApplication()) == true
    }

    /// Returns the damage of the first damaged table, and the content findings of the tables before it, among
    /// the tables that need no definitions of an application. Also returns the virtual tables that no program
    /// can open.
    private func findingsTableByTable(_ handle: ConnectionHandle, readsCodes: Bool = false)
        throws(EngineError) -> StructureFindings
    {
        var found = StructureFindings()
        found.content = try handle.virtualTablesThatDoNotOpen()
        for name in try handle.storedTableNames() where name != "sqlite_sequence" {
            do throws(EngineError) {
                // The pragma accepts a table or a limit, not both. Its default limit is also a hundred.
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

extension ProgressReport {
    /// Runs a check of the structure. Its statements report their progress a few hundred times per second.
    ///
    /// - Throws: the error of `body`; or the error of the report, which interrupts the running statement.
    func whileCheckingStructure<T>(_ handle: ConnectionHandle, _ body: () throws -> T) throws -> T {
        var failure: (any Error)?
        let handler = ProgressHandler(handle, every: 200_000) {
            do {
                try self(.checkingStructure, 0, of: 0)
                return true
            } catch {
                failure = error
                return false
            }
        }
        defer { handler.remove(from: handle) }
        try self(.checkingStructure, 0, of: 0)
        let result = Result { try body() }
        // Modules report an interruption as a finding.
        if let failure { throw failure }
        return try result.get()
    }
}

extension EngineError {
    /// True if the error may come from a page with a wrong MAC: SQLCipher reports it without a message, while
    /// compile and runtime errors have one.
    fileprivate var isOfPage: Bool {
        primaryCode == EngineCode.error && (message == nil || message == ConnectionHandle.describe(code))
    }
}
