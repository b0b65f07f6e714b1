internal import SQLCipherBridge
internal import Synchronization

/// Checks the side files of one connection each time before the engine uses one, and remembers the reason for
/// a refusal.
final class SideFileWatch: Sendable {
    private let material: KeyRing.Material
    private let settings: CipherSettings
    private let refusal = Mutex<Refusal?>(nil)

    private enum Refusal {
        case judged(SideFile, SideFileCheck.Verdict)
        case notReadable(EngineError)
        case ofAnotherUser(path: String)
    }

    init(_ material: KeyRing.Material, _ settings: CipherSettings) {
        self.material = material
        self.settings = settings
    }

    func mayUse(_ kind: SideFile, _ sideFile: any StoredBytes, of database: any StoredBytes) -> Bool {
        let found: Refusal
        do {
            let verdict = try SideFileCheck(material, settings, database: database).verdict(
                on: kind, sideFile)
            if verdict == .harmless { return true }
            found = .judged(kind, verdict)
        } catch {
            found = .notReadable(
                error as? EngineError ?? EngineError(code: EngineCode.ioError, message: "\(error)"))
        }
        refusal.withLock { $0 = found }
        return false
    }

    /// Records that a side file was refused because another user owns it and could change it.
    func refuse(ofAnotherUser path: String) { refusal.withLock { $0 = .ofAnotherUser(path: path) } }

    /// Throws the reason for a refusal to a connection that was about to verify its key.
    ///
    /// - Returns: false if nothing verifies the key.
    func explainRefusal(_ handle: ConnectionHandle) throws(KeyError) -> Bool {
        let file = handle.filename(schema: "main") ?? ""
        guard let refusal = refusal.withLock({ $0 }) else {
            // Not refused here: another connection of this process uses the log for the file that previously
            // had this path.
            throw .failure(.foreignSideFile(path: "\(file)-wal", isFileWhole: true))
        }
        switch refusal {
        case .judged(let kind, .foreign(let isFileWhole)):
            let suffix = if case .journal = kind { "-journal" } else { "-wal" }
            throw .failure(.foreignSideFile(path: file + suffix, isFileWhole: isFileWhole))
        case .judged: return false
        case .notReadable(let error): throw .engine(error)
        case .ofAnotherUser(let path): throw .failure(.sideFileOfAnotherUser(path: path))
        }
    }
}
