internal import SQLCipherBridge

/// The content of a file, which we decrypt for the engine.
final class DecryptedContent {
    private let connection: EngineConnection
    private let view: DecryptedView
    private let file: any StoredBytes
    private let protection: FileProtection

    /// Reads a copy without a look at the codes of its pages: those are checked before, or at the same time.
    init(_ file: any StoredBytes, _ protection: FileProtection) throws {
        view = try DecryptedView(file, protection)
        connection = try FileView.open(view)
        (self.file, self.protection) = (file, protection)
        try useMemory()
        try connection.handle.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    }

    /// Reads a file that others may write to: a page without the right code cannot be read.
    init(checkingCodesOf file: any StoredBytes, _ protection: FileProtection) throws {
        view = try DecryptedView(file, protection, readable: .authenticOrZeros)
        connection = try FileView.open(view)
        (self.file, self.protection) = (file, protection)
        try useMemory()
    }

    private func useMemory() throws {
        // What a check may have to sort is not for the disk.
        try connection.handle.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000")
    }

    /// - Returns: what the engine finds; only the page, where it meets one that cannot be read.
    func findings(_ check: StructureCheck, progress: ProgressReport) throws -> StructureFindings {
        do {
            return try check.findings(connection.handle, progress: progress)
        } catch let error as EngineError where error.primaryCode == EngineCode.ioError {
            guard let page = view.refusedPage else { throw error }
            return StructureFindings(damage: ["page \(page) is not authentic"])
        }
    }

    /// For the time that this is there.
    var reader: ContentReader { ContentReader(connection.handle, of: self) }

    /// - Returns: what is damaged in its b-trees, in the words of the engine.
    func damage(_ progress: ProgressReport) throws -> [String] {
        if try isWhole({ try progress(.checkingStructure, 0, of: 0) }) { return [] }
        return try StructureCheck.quick.findings(connection.handle, progress: progress).damage
    }

    /// Whether its b-trees are certain to be whole. Pages whose codes are right are as a program wrote them,
    /// and what it wrote into rows is for the engine to look at when somebody asks.
    fileprivate func isWhole(_ checkpoint: () throws -> Void) throws -> Bool {
        try protection.ring?.settings.usesHMAC == true
            && TreeCheck.isWhole(
                DecryptedView(file, protection), schema: connection.handle, checkpoint: checkpoint)
    }
}

/// A connection that reads a file which was made, and nobody writes to.
struct ContentReader {
    let handle: ConnectionHandle
    /// Nil when the engine decrypts the pages.
    private let decrypted: DecryptedContent?

    init(_ handle: ConnectionHandle, of decrypted: DecryptedContent? = nil) {
        self.handle = handle
        self.decrypted = decrypted
    }

    /// Proves that the b-trees are whole: see ``StructureCheck/prove(_:readsCodes:)``.
    ///
    /// - Parameters:
    ///   - readsCodes: whether it is the engine that looks at the codes of pages, when it decrypts them.
    ///   - checkpoint: called now and then; throws to end.
    func proveStructure(readsCodes: Bool = false, checkpoint: () throws -> Void = {}) throws {
        if let decrypted, try decrypted.isWhole(checkpoint) { return }
        try StructureCheck.prove(handle, readsCodes: decrypted == nil && readsCodes)
    }

    /// - Returns: what is damaged in the b-trees, in the words of the engine.
    func structureDamage(_ progress: ProgressReport) throws -> [String] {
        try decrypted?.damage(progress) ?? StructureCheck.quick.findings(handle, progress: progress).damage
    }
}
