internal import Glibc
internal import SQLCipherBridge

/// Compares FTS5 indexes with content that is not in their own shadow tables: the engine's structure checks
/// do this for FTS4 only.
///
/// The module runs this check in an `INSERT` statement, although it writes nothing. So the connection reads
/// the pages through ``UnwritableBytes``, which refuses every write.
struct ExternalIndexCheck: ~Copyable {
    private let view: DecryptedView
    private let connection: EngineConnection

    /// - Parameter stored: the encrypted pages.
    init(_ stored: any StoredBytes, _ protection: FileProtection) throws {
        let view = try DecryptedView(stored, protection, readable: .authenticOrZeros)
        let connection = try FileView.open(writing: UnwritableBytes(view))
        try connection.handle.execute(
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA trusted_schema = OFF")
        self.view = view
        self.connection = connection
    }

    /// Returns the indexes that do not match their content, in the words that the engine uses for other
    /// indexes.
    ///
    /// Skips an index whose content cannot be read, since there is nothing to compare it with.
    func findings(_ progress: ProgressReport) throws -> [String] {
        let handle = connection.handle
        return try progress.whileCheckingStructure(handle) {
            let tables = try handle.virtualTables().filter { $0.module == "fts5" }
            let names = try Set(handle.storedTableNames().map { CaseInsensitiveName($0) })
            var found: [String] = []
            for table in tables where !names.contains(CaseInsensitiveName("\(table.name)_content")) {
                try progress(.checkingStructure, 0, of: 0)
                let name = table.name.quotedDatabaseIdentifier
                do throws(EngineError) {
                    try handle.execute(
                        trusted: "INSERT INTO main.\(name)(\(name), rank) VALUES ('integrity-check', 1)")
                } catch {
                    // The page has changed since the structure check.
                    if view.refusedPage != nil { throw error }
                    guard error.primaryCode == EngineCode.corrupt else { continue }
                    let name = table.name.readableIdentifier
                    found.append("malformed inverted index for FTS5 table main.\(name)")
                }
            }
            return found
        }
    }
}

/// The bytes of a database, presented as one without a write-ahead log, for a connection that may begin a
/// write transaction. Every write is refused.
private final class UnwritableBytes: WritableBytes {
    private let bytes: any StoredBytes
    var size: Int64 { bytes.size }

    /// The offsets of the journal mode in the header.
    private static let versions = Int64(18)..<20

    init(_ bytes: any StoredBytes) { self.bytes = bytes }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let count = try bytes.read(at: offset, into: &target)
        for place in UnwritableBytes.versions where place >= offset && place < offset + Int64(count) {
            target[Int(place - offset)] = 1
        }
        return count
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt { EROFS }

    func truncate(to size: Int64) -> CInt { EROFS }
}
