internal import Foundation
internal import SQLCipherBridge
internal import SystemCalls

/// The stored pages of a database as a reader would see them: those of the file, overlaid with those of a
/// write-ahead log or of a hot journal. It changes nothing, and creates no files next to the database.
///
/// A shared lock keeps others from writing to a file in rollback mode. In WAL mode others can still write:
/// see ``SteadyLook``.
final class StoredView: StoredBytes {
    let path: String
    let pageSize: Int
    /// The size in bytes that a reader sees.
    let size: Int64
    /// The offsets of pages in the log or the journal.
    private let offsets: [Int: Int64]
    /// The log or journal whose pages replace the pages of the file.
    private let overlay: (kind: SideFile, file: ReadFile)?
    /// The connection that holds the shared lock.
    private let connection: EngineConnection
    private var file: ConnectionHandle { connection.handle }

    /// The pages that were committed after a damaged frame of the log, in order, if they were requested.
    let pagesBehindDamage: [Int]

    /// The number of pages that come from the log or the journal.
    var overlaidPageCount: Int { offsets.count { $0.key <= pageCount } }
    /// The number of pages, including an incomplete last one.
    var pageCount: Int { Int((size + Int64(pageSize) - 1) / Int64(pageSize)) }
    /// The size of the database file itself.
    let fileSize: Int64
    /// The first bytes of the database file itself.
    let fileSalt: [UInt8]
    /// True if pages that are stored nowhere are read as zeros.
    private let hasGaps: Bool

    /// The complete pages that are stored.
    var present: PresentPages {
        PresentPages(
            upTo: Int(size / Int64(pageSize)), countInFile: Int(fileSize / Int64(pageSize)),
            overlaid: offsets.keys)
    }

    /// - Parameters:
    ///   - path: a path without symbolic links.
    ///   - pageSize: nil to read it from a plaintext header.
    ///   - mayBeUnreadable: true to accept a file whose first bytes the disk cannot read, or that lacks pages
    ///     which its log counts.
    ///   - trustsSums: if not nil, overlays also the pages that were committed after a damaged frame of the
    ///     log, which no reader sees: only frames with the right checksum if true, all frames if false.
    ///   - isOriginal: if not nil, overlays all pages of a hot journal for which it returns true, also those
    ///     that SQLite would not restore because the journal is damaged.
    init(
        _ path: String, pageSize: Int?, timeout: TimeInterval, mayBeUnreadable: Bool = false,
        behindDamageTrustingSums trustsSums: Bool? = nil,
        isOriginal: ((ArraySlice<UInt8>, _ page: Int) throws -> Bool)? = nil
    ) throws {
        self.path = path
        let connection = try StoredView.lock(path, timeout: timeout)
        let file = connection.handle
        let header = try StoredView.header(file, mayBeUnreadable: mayBeUnreadable)
        let pageSize = pageSize ?? header.plaintextPageSize
        let fileSize = header.size ?? 0
        var offsets: [Int: Int64] = [:]
        var pageCount: Int?
        var overlay: (kind: SideFile, file: ReadFile)?
        var pagesBehindDamage: [Int] = []
        if let journal = try StoredView.hotJournal(path, file: file) {
            let content = try HotJournal(
                pageSize: pageSize, size: journal.size, read: { try journal.read(at: $0, filling: &$1) },
                exists: SideFiles.isThere)
            (offsets, pageCount) = (content.offsets, content.pageCount)
            if let isOriginal {
                offsets = [:]
                try RollbackJournal.forEachStoredRecord(
                    pageSize: pageSize, size: journal.size, read: { try journal.read(at: $0, filling: &$1) }
                ) { page, offset, record in
                    guard page > 0, offsets[page] == nil, try isOriginal(record, page) else { return }
                    offsets[page] = offset
                }
            }
            overlay = (.journal, journal)
        } else if let status = try SystemFile.status("\(path)-wal"), status.isRegular, status.size > 32 {
            let log = ReadFile(try FileDescriptor.open("\(path)-wal"))
            let content = try CommittedLog(pageSize: pageSize) { try log.read(at: $0, filling: &$1) }
            (offsets, pageCount) = (content.offsets, content.pageCount)
            if let trustsSums {
                let behind = try CommittedLog(behindDamageOf: pageSize, trustsSums: trustsSums) {
                    try log.read(at: $0, filling: &$1)
                }
                offsets.merge(behind.offsets) { $1 }
                pageCount = behind.pageCount ?? pageCount
                pagesBehindDamage = behind.offsets.keys.sorted()
            }
            overlay = (.log, log)
        }
        self.pagesBehindDamage = pagesBehindDamage
        self.pageSize = pageSize
        self.fileSize = fileSize
        hasGaps = mayBeUnreadable
        fileSalt = header.salt
        self.offsets = offsets
        self.overlay = overlay
        self.connection = connection
        size = pageCount.map { Int64($0) * Int64(pageSize) } ?? fileSize
    }

    private static func header(_ file: ConnectionHandle, mayBeUnreadable: Bool) throws -> FileHeader {
        do {
            return try FileHeader(file, count: 100)
        } catch {
            guard mayBeUnreadable, error.primaryCode == EngineCode.ioError else { throw error }
            return FileHeader(size: try file.fileSize(), start: [])
        }
    }

    private static func lock(_ path: String, timeout: TimeInterval) throws -> EngineConnection {
        try Deadline(after: timeout).retryingWhileBusy {
            let file = try EngineConnection(path: path, flags: .readOnly)
            try file.handle.lockFileForReading()
            return file
        }
    }

    /// Returns the journal of a process that ended in the middle of a transaction. Ignores the journal of a
    /// process that is about to write, and one that was kept for reuse.
    private static func hotJournal(_ path: String, file: ConnectionHandle) throws -> ReadFile? {
        guard let status = try SystemFile.status("\(path)-journal"), status.isRegular, status.size > 0 else {
            return nil
        }
        guard try !file.isFileReserved() else { return nil }
        let journal = ReadFile(try FileDescriptor.open("\(path)-journal"))
        return try journal.file.read(at: 0, count: 1) == [0] ? nil : journal
    }

    /// Decides if the log or journal belongs to the file, given a key: see ``SideFileCheck``.
    func verdictOnSideFile(_ material: KeyRing.Material, _ settings: CipherSettings) throws
        -> SideFileCheck.Verdict
    {
        guard let overlay else { return .harmless }
        return try SideFileCheck(material, settings, database: ConnectionBytes(file)).verdict(
            on: overlay.kind, overlay.file)
    }

    /// Returns a view with all authentic pages of a damaged journal; nil if it has none.
    func restoringOriginals(
        _ material: KeyRing.Material, _ settings: CipherSettings, timeout: TimeInterval
    ) throws -> StoredView? {
        guard overlay?.kind == .journal, settings.usesHMAC else { return nil }
        let check = try SideFileCheck(material, settings, database: ConnectionBytes(file))
        let view = try StoredView(
            path, pageSize: pageSize, timeout: timeout, mayBeUnreadable: true, isOriginal: check.isAuthentic)
        return view.offsets.isEmpty ? nil : view
    }

    /// The path of the log or journal that overlays the file, if there is one.
    var sideFilePath: String? { overlay?.file.file.path }

    /// See ``WriteAheadLog/commitsBehindDamage()``; zero without a log.
    func commitsBehindDamage() throws -> Int {
        guard let overlay, overlay.kind == .log else { return 0 }
        return try WriteAheadLog.damaged { try overlay.file.read(at: $0, filling: &$1) }?
            .commitsBehindDamage() ?? 0
    }

    /// Reads across page boundaries, each page from its place.
    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        guard offset < size else { return 0 }
        let end = min(size, offset + Int64(target.count))
        var position = offset
        while position < end {
            let page = Int(position / Int64(pageSize)) + 1
            let start = offsets[page]
            // From the file: a single read covers all consecutive pages that are not overlaid.
            var last = page
            while start == nil, Int64(last) * Int64(pageSize) < end, offsets[last + 1] == nil { last += 1 }
            let place = Int(position - offset)..<Int(min(end, Int64(last) * Int64(pageSize)) - offset)
            let done = try target.withPart(place) { part in
                guard let start else { return try file.readFile(at: position, into: &part) }
                return try overlay?.file.read(at: start + position % Int64(pageSize), into: &part) ?? 0
            }
            if hasGaps, start == nil {
                target.clear(place.lowerBound + done..<place.upperBound)
            } else {
                guard done == place.count else { return place.lowerBound + done }
            }
            position += Int64(place.count)
        }
        return Int(end - offset)
    }
}
