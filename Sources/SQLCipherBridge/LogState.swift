internal import CSQLCipher
internal import Synchronization

/// The state of a WAL file according to its index: the last committed state of the database, which every
/// connection sees that begins to read now.
///
/// Two values are equal only if there was no commit in between.
package struct LogState: Equatable, Sendable {
    /// A counter of commits.
    let change: UInt32
    package let pageSize: Int
    /// The number of committed frames in the WAL file.
    package let frameCount: Int
    /// The number of pages of the database.
    package let pageCount: Int
    /// The checksum of the last frame, which includes all frames before it.
    package let checksum: [UInt32]
    /// The salt, which changes each time the WAL file is restarted.
    package let salt: [UInt32]

    /// The number of bytes to parse: two equal headers, and the first word after them.
    fileprivate static let size = 2 * 48 + 4

    /// - Parameter words: the words in the processor's byte order, which is little endian on all Linux
    ///   systems that Swift supports.
    /// - Returns: nil if a connection is writing the words.
    fileprivate init?(_ words: [UInt32]) {
        let header = words[0..<12]
        guard Array(header) == Array(words[12..<24]), header[3] & 0xff == 1 else { return nil }
        var (first, second) = (UInt32(0), UInt32(0))
        for index in stride(from: 0, to: 10, by: 2) {
            first = first &+ header[index] &+ second
            second = second &+ header[index + 1] &+ first
        }
        guard (first, second) == (header[10], header[11]) else { return nil }
        change = header[2]
        // The word consists of a byte that is 1 if the index is initialized, a byte for the byte order of
        // checksums, and the page size in two bytes.
        let size = Int(header[3] >> 16)
        pageSize = size & 0xfe00 | (size & 1) << 16
        frameCount = Int(header[4])
        pageCount = Int(header[5])
        checksum = [header[6], header[7]]
        // The salts are copied from the WAL file in its byte order.
        salt = [UInt32(bigEndian: header[8]), UInt32(bigEndian: header[9])]
    }
}

extension ConnectionHandle {
    /// Reads the state of the WAL file from SQLite's shared memory for its index, and the number of frames
    /// that have been copied into the database file.
    ///
    /// - Precondition: the connection has read the database in WAL mode, so that SQLite has opened the index.
    /// - Throws: `SQLITE_BUSY` if the index is constantly being written; `SQLITE_MISUSE` without an index.
    package func logState() throws(EngineError) -> (state: LogState, backfilledCount: Int) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods,
            unsafe methods.pointee.iVersion >= 2,
            let map = unsafe methods.pointee.xShmMap
        else {
            throw EngineError(
                code: EngineCode.misuse, message: "The database has no index of a write-ahead log")
        }
        var address: UnsafeMutableRawPointer?
        // Map the first region of the index, which has this size: https://www.sqlite.org/walformat.html
        let code = unsafe map(file, 0, 32768, 0, &address)
        guard code == SQLITE_OK, let address = unsafe address else {
            throw EngineError(
                code: code == SQLITE_OK ? EngineCode.misuse : code,
                message: "The index of the write-ahead log is missing")
        }
        func read(_ count: Int) -> [UInt32] {
            defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
            return (0..<count).map { unsafe address.load(fromByteOffset: 4 * $0, as: UInt32.self) }
        }
        for _ in 0..<10_000 {
            let words = read(LogState.size / 4)
            // Both values must belong to the same WAL file: restarting it resets the number of copied frames.
            if let state = LogState(words), words.starts(with: read(24)) { return (state, Int(words[24])) }
        }
        throw EngineError(
            code: EngineCode.busy, message: "The index of the write-ahead log is changing constantly")
    }
}
