internal import SQLCipherBridge
internal import Synchronization

/// Judges the side files of one connection whenever the engine is about to use one, and remembers why it refused.
final class SideFileWatch: Sendable {
    private let material: KeyRing.Material
    private let settings: CipherSettings
    private let refusal = Mutex<Refusal?>(nil)

    private struct Refusal {
        let kind: SideFile
        let reason: Result<SideFileCheck.Verdict, EngineError>
    }

    init(_ material: KeyRing.Material, _ settings: CipherSettings) {
        self.material = material
        self.settings = settings
    }

    func mayUse(_ kind: SideFile, _ sideFile: any StoredBytes, of database: any StoredBytes) -> Bool {
        let reason: Result<SideFileCheck.Verdict, EngineError>
        do {
            let verdict = try SideFileCheck(material, settings, database: database).verdict(on: kind, sideFile)
            if verdict == .harmless { return true }
            reason = .success(verdict)
        } catch {
            reason = .failure(error as? EngineError ?? EngineError(code: EngineCode.ioError, message: "\(error)"))
        }
        refusal.withLock { $0 = Refusal(kind: kind, reason: reason) }
        return false
    }

    /// What a refusal means to a connection that was about to prove its key.
    ///
    /// - Returns: false when nothing proves the key.
    func explainRefusal(_ handle: ConnectionHandle) throws(KeyError) -> Bool {
        let file = handle.filename(schema: "main") ?? ""
        guard let refusal = refusal.withLock({ $0 }) else {
            // Not judged here: a connection of this process has the log for the file that was here before.
            throw .failure(.foreignSideFile(path: "\(file)-wal", isFileWhole: true))
        }
        switch refusal.reason {
        case .success(.foreign(let isFileWhole)):
            let suffix = if case .journal = refusal.kind { "-journal" } else { "-wal" }
            throw .failure(.foreignSideFile(path: file + suffix, isFileWhole: isFileWhole))
        case .success: return false
        case .failure(let error): throw .engine(error)
        }
    }
}
