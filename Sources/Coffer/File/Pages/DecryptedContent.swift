internal import SQLCipherBridge

/// The content of a file that Coffer decrypts for the engine.
final class DecryptedContent {
    private let connection: EngineConnection
    private let view: DecryptedView
    private let file: any StoredBytes
    private let protection: FileProtection

    /// Reads a copy without checking the MACs of its pages: they are checked before, or at the same time.
    convenience init(_ file: any StoredBytes, _ protection: FileProtection) throws {
        try self.init(DecryptedView(file, protection), file, protection)
        try connection.handle.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    }

    /// Reads a file that others may write to: reading a page with a wrong MAC fails.
    convenience init(checkingCodesOf file: any StoredBytes, _ protection: FileProtection) throws {
        try self.init(DecryptedView(file, protection, readable: .authenticOrZeros), file, protection)
    }

    private init(_ view: DecryptedView, _ file: any StoredBytes, _ protection: FileProtection) throws {
        connection = try FileView.open(view)
        (self.view, self.file, self.protection) = (view, file, protection)
        // The temporary data of a check must not reach the disk in the clear.
        try connection.handle.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000")
    }

    /// - Returns: the engine's findings; or, if a page cannot be read, only that page.
    func findings(_ check: StructureCheck, progress: ProgressReport) throws -> StructureFindings {
        do {
            return try check.findings(connection.handle, progress: progress)
        } catch let error as EngineError where error.primaryCode == EngineCode.ioError {
            guard let page = view.refusedPage else { throw error }
            return StructureFindings(damage: ["page \(page) is not authentic"])
        }
    }

    /// A connection to the content, valid as long as this object exists.
    var reader: ContentReader { ContentReader(connection.handle, of: self) }

    /// - Returns: the damage in the b-trees, in the words of the engine.
    func damage(_ progress: ProgressReport) throws -> [String] {
        if try isWhole({ try progress(.checkingStructure, 0, of: 0) }) { return [] }
        return try StructureCheck.quick.findings(connection.handle, progress: progress).damage
    }

    /// True if the b-trees are certainly whole.
    ///
    /// This holds only for pages with MACs: an authentic page is one that a program wrote, so the values in
    /// its rows are checked only when a check of the content is requested.
    fileprivate func isWhole(_ checkpoint: () throws -> Void) throws -> Bool {
        try protection.ring?.settings.usesHMAC == true
            && TreeCheck.isWhole(
                DecryptedView(file, protection), schema: connection.handle, checkpoint: checkpoint)
    }
}

/// A connection that reads a finished file, to which nothing writes.
struct ContentReader {
    let handle: ConnectionHandle
    /// Nil if the engine decrypts the pages.
    private let decrypted: DecryptedContent?

    init(_ handle: ConnectionHandle, of decrypted: DecryptedContent? = nil) {
        self.handle = handle
        self.decrypted = decrypted
    }

    /// Verifies that the b-trees are whole: see ``StructureCheck/prove(_:readsCodes:)``.
    ///
    /// - Parameters:
    ///   - readsCodes: true if the engine itself checks the MACs, while it decrypts the pages.
    ///   - checkpoint: called now and then; throws to stop.
    func proveStructure(readsCodes: Bool = false, checkpoint: () throws -> Void = {}) throws {
        if let decrypted, try decrypted.isWhole(checkpoint) { return }
        try StructureCheck.prove(handle, readsCodes: decrypted == nil && readsCodes)
    }

    /// - Returns: the damage in the b-trees, in the words of the engine.
    func structureDamage(_ progress: ProgressReport) throws -> [String] {
        try decrypted?.damage(progress) ?? StructureCheck.quick.findings(handle, progress: progress).damage
    }
}
