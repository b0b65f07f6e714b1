internal import CSQLCipher
internal import Synchronization

/// What the index of a write-ahead log says of it: the last committed state of the database, as every
/// connection sees it that begins to read now.
///
/// Two of them are equal only if nothing was committed in between.
package struct LogState: Equatable, Sendable {
    /// Counts commits.
    let change: UInt32
    package let pageSize: Int
    /// How many frames of the log are committed.
    package let frameCount: Int
    /// How many pages the database has.
    package let pageCount: Int
    /// The checksum of the last frame, which is that of all frames before it as well.
    package let checksum: [UInt32]
    /// What distinguishes the log from the one that it was before it was begun anew.
    package let salt: [UInt32]

    /// The size of what is parsed: two equal headers, and the first word of what follows them.
    fileprivate static let size = 2 * 48 + 4

    /// - Parameter words: in the byte order of the processor, which is that of all Linux systems that Swift
    ///   runs on: the low byte first.
    /// - Returns: nil while a connection writes them.
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
        // One byte that says the log is there, one for the order of its bytes, and the size of a page in the
        // two others.
        let size = Int(header[3] >> 16)
        pageSize = size & 0xfe00 | (size & 1) << 16
        frameCount = Int(header[4])
        pageCount = Int(header[5])
        checksum = [header[6], header[7]]
        // Copied from the log as they are there.
        salt = [UInt32(bigEndian: header[8]), UInt32(bigEndian: header[9])]
    }
}

extension ConnectionHandle {
    /// The state of the write-ahead log, from the shared memory that SQLite has of its index, and how many of
    /// its frames are in the database file.
    ///
    /// - Precondition: the connection has read the database in WAL mode: SQLite has the index open.
    /// - Throws: `SQLITE_BUSY` where the index is being written all the time; `SQLITE_MISUSE` without one.
    package func logState() throws(EngineError) -> (state: LogState, backfilledCount: Int) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods,
            unsafe methods.pointee.iVersion >= 2,
            let map = unsafe methods.pointee.xShmMap
        else {
            throw EngineError(
                code: EngineCode.misuse, message: "The database has no index of a write-ahead log")
        }
        var address: UnsafeMutableRawPointer?
        // The first region of the index, which has this size: https://www.sqlite.org/walformat.html
        let code = unsafe map(file, 0, 32768, 0, &address)
        guard code == SQLITE_OK, let address = unsafe address else {
            throw EngineError(
                code: code == SQLITE_OK ? EngineCode.misuse : code,
                message: "The index of the write-ahead log is not there")
        }
        func read(_ count: Int) -> [UInt32] {
            defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
            return (0..<count).map { unsafe address.load(fromByteOffset: 4 * $0, as: UInt32.self) }
        }
        for _ in 0..<10_000 {
            let words = read(LogState.size / 4)
            // Both are of one log: what is in the file counts anew when it is begun anew.
            if let state = LogState(words), words.starts(with: read(24)) { return (state, Int(words[24])) }
        }
        throw EngineError(
            code: EngineCode.busy, message: "The index of the write-ahead log does not come to rest")
    }
}
