internal import Foundation
internal import SQLCipherBridge

/// The stored pages of a database as a reader would see them: those of the file, and in their place those of a write-ahead log, or of a journal
/// that is to be played back. Nothing is changed, and nothing is made beside the file.
///
/// A shared lock keeps others from writing to a file in rollback mode. In WAL mode others may go on: see ``SteadyLook``.
// @unchecked: only one thread uses a view at a time; the handle is SQLite's, the descriptors are only read from.
final class StoredView: StoredBytes, @unchecked Sendable {
    let path: String
    let pageSize: Int
    /// As a reader sees it.
    let size: Int64
    /// Where pages are in the log or the journal.
    private let offsets: [Int: Int64]
    private let overlay: Overlay?
    /// Has a shared lock.
    private let connection: EngineConnection
    private var file: ConnectionHandle { connection.handle }

    /// How many pages come from the log or the journal.
    var overlaidPageCount: Int { offsets.count { $0.key <= pageCount } }
    /// How many pages there are, the last one perhaps only in part.
    var pageCount: Int { Int((size + Int64(pageSize) - 1) / Int64(pageSize)) }
    /// The size of the database file itself.
    let fileSize: Int64
    /// The first bytes of the database file itself.
    let fileSalt: [UInt8]

    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - pageSize: nil to take it from a plaintext header.
    init(_ path: String, pageSize: Int?, timeout: TimeInterval) throws {
        self.path = path
        let connection = try StoredView.lock(path, timeout: timeout)
        let file = connection.handle
        let header = try FileHeader(file, count: 100)
        let pageSize = pageSize ?? header.plaintextPageSize
        let fileSize = header.size ?? 0
        var offsets: [Int: Int64] = [:]
        var pageCount: Int?
        var overlay: Overlay?
        if let journal = try StoredView.hotJournal(path, file: file) {
            let content = try HotJournal(
                pageSize: pageSize, size: journal.size, read: { try journal.read(at: $0, filling: &$1) },
                exists: SideFiles.isThere)
            (offsets, pageCount) = (content.offsets, content.pageCount)
            overlay = journal
        } else if let status = try SystemFile.status("\(path)-wal"), status.isRegular, status.size > 32 {
            let log = Overlay(.log, try Descriptor.open("\(path)-wal"))
            let content = try CommittedLog(pageSize: pageSize) { try log.read(at: $0, filling: &$1) }
            (offsets, pageCount) = (content.offsets, content.pageCount)
            overlay = log
        }
        self.pageSize = pageSize
        self.fileSize = fileSize
        fileSalt = header.salt
        self.offsets = offsets
        self.overlay = overlay
        self.connection = connection
        size = pageCount.map { Int64($0) * Int64(pageSize) } ?? fileSize
    }

    private static func lock(_ path: String, timeout: TimeInterval) throws -> EngineConnection {
        let end = Deadline(after: timeout)
        while true {
            let file = try EngineConnection(path: path, flags: .readOnly)
            do throws(EngineError) {
                try file.handle.lockFileForReading()
                return file
            } catch {
                guard error.primaryCode == EngineCode.busy, !end.isOver else { throw error }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// A journal of a process that has ended in the middle: not one of a process that is about to write, and not one that is kept for later.
    private static func hotJournal(_ path: String, file: ConnectionHandle) throws -> Overlay? {
        guard let status = try SystemFile.status("\(path)-journal"), status.isRegular, status.size > 0 else { return nil }
        guard try !file.isFileReserved() else { return nil }
        let journal = Overlay(.journal, try Descriptor.open("\(path)-journal"))
        return try journal.file.read(at: 0, count: 1) == [0] ? nil : journal
    }

    /// Whether what lies beside the file belongs to it, for a key: see ``SideFileCheck``.
    func verdictOnSideFile(_ material: KeyRing.Material, _ settings: CipherSettings) throws -> SideFileCheck.Verdict {
        guard let overlay else { return .harmless }
        return try SideFileCheck(material, settings, database: ConnectionBytes(file)).verdict(on: overlay.kind, overlay)
    }

    /// The path of what lies beside the file and takes the place of its pages, if anything does.
    var sideFilePath: String? { overlay?.file.path }

    /// Reads through page boundaries: each page from where it is.
    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        guard offset < size else { return 0 }
        let end = min(size, offset + Int64(target.count))
        var position = offset
        while position < end {
            let page = Int(position / Int64(pageSize)) + 1
            let pageEnd = min(end, Int64(page) * Int64(pageSize))
            var bytes: [UInt8]
            if let start = offsets[page], let count = Int(exactly: pageEnd - position) {
                bytes = try overlay?.file.read(at: start + position % Int64(pageSize), count: count) ?? []
                position += Int64(count)
                guard bytes.count == count else { return Int(position - offset) - count + bytes.count }
            } else {
                // As many pages as come from the file in a row.
                var last = page
                while Int64(last) * Int64(pageSize) < end, offsets[last + 1] == nil { last += 1 }
                let count = Int(min(end, Int64(last) * Int64(pageSize)) - position)
                bytes = try file.readFile(at: position, count: count)
                position += Int64(count)
                if bytes.count < count {
                    unsafe StoredView.copy(bytes, to: target, at: Int(position - offset) - count)
                    return Int(position - offset) - count + bytes.count
                }
            }
            unsafe StoredView.copy(bytes, to: target, at: Int(position - offset) - bytes.count)
        }
        return Int(end - offset)
    }

    private static func copy(_ bytes: [UInt8], to target: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + bytes.count]).copyBytes(from: bytes)
    }
}

/// A log or a journal whose pages take the place of those of the file.
// @unchecked: the descriptor is only read from, at places that are given with each call.
private final class Overlay: StoredBytes, @unchecked Sendable {
    let kind: SideFile
    let file: Descriptor

    init(_ kind: SideFile, _ file: consuming Descriptor) {
        self.kind = kind
        self.file = file
    }

    var size: Int64 { (try? file.status().size) ?? 0 }

    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        let bytes = try file.read(at: offset, count: target.count)
        unsafe target.copyBytes(from: bytes)
        return bytes.count
    }
}

extension FileHeader {
    /// The size of pages that a plaintext header tells.
    var plaintextPageSize: Int {
        guard start.count > 17 else { return 4096 }
        let stored = Int(start[16]) << 8 | Int(start[17])
        return stored == 1 ? 65536 : max(512, stored)
    }
}
