internal import CSQLCipher
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The processes that may have the files of a connection open at the same time.
package enum FileLocking: Sendable {
    /// All processes. SQLite locks and unlocks the file for each transaction.
    case shared

    /// Only this process. The file stays locked from its first use until the last connection to it is closed.
    /// Connections of this process coordinate in memory.
    case thisProcessOnly

    /// SQLite's own file system for this kind of locking. The file systems differ in nothing else.
    fileprivate var engineName: String? {
        switch self {
        case .shared: nil
        case .thisProcessOnly: "unix-excl"
        }
    }

    var system: UnsafeMutablePointer<sqlite3_vfs>? { unsafe sqlite3_vfs_find(engineName) }
}

/// The database files that this process has open, and the kind of locking that they use.
///
/// Locks belong to the process: if a connection locked and unlocked a file for each transaction, it would
/// silently drop the lock of connections that keep it. Therefore, all connections to a file use the kind of
/// locking of the first one.
enum OpenFiles {
    private struct Use {
        let locking: FileLocking
        /// The path by which the first connection opened the file.
        let name: [CChar]
        var count = 0
        /// True if a connection that uses this path may have a WAL file.
        var mayHaveLog = false
    }

    private struct State {
        var uses: [FileIdentity: Use] = [:]
        /// The identities by the address of SQLite's open file.
        var files: [UInt: FileIdentity] = [:]
    }

    private static let state = Mutex(State())

    /// Opens a database file with the kind of locking that the other connections of this process use for it.
    ///
    /// - Parameter wanted: the kind of locking if there is no other connection.
    /// - Returns: `EngineCode.lockedOtherwise` if the connection requires exclusive use by this process, but
    ///   other connections of the process share the file.
    static func open(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>, _ flags: CInt,
        _ resultFlags: UnsafeMutablePointer<CInt>?, locking wanted: FileLocking
    ) -> CInt {
        state.withLock { state in
            let known = unsafe FileIdentity(named: name).flatMap { state.uses[$0] }
            if wanted == .thisProcessOnly, known?.locking == .shared { return EngineCode.lockedOtherwise }
            var locking = known?.locking ?? wanted
            guard let system = unsafe locking.system, let open = unsafe system.pointee.xOpen else {
                return SQLITE_CANTOPEN
            }
            // SQLite's process-wide locking requires write access. A caller that requested read-only access
            // gets flags that report it.
            let isForReading = flags & SQLITE_OPEN_READONLY != 0 && locking == .thisProcessOnly
            let asked = isForReading ? flags & ~SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE : flags
            var given: CInt = 0
            let code = unsafe open(system, name, file, asked, &given)
            guard code == SQLITE_OK else { return code }
            if given & SQLITE_OPEN_READONLY != 0 { locking = .shared }
            // The file may have been created or replaced, or this process may not be allowed to write to it.
            let identity = unsafe FileIdentity(named: name)
            if let identity, let other = state.uses[identity], other.locking != locking {
                if let close = unsafe file.pointee.pMethods?.pointee.xClose { _ = unsafe close(file) }
                unsafe file.pointee.pMethods = nil
                return EngineCode.lockedOtherwise
            }
            if let identity {
                let path = unsafe Array(UnsafeBufferPointer(start: name, count: strlen(name)))
                state.uses[identity, default: Use(locking: locking, name: path)].count += 1
                state.files[UInt(bitPattern: file)] = identity
            }
            unsafe resultFlags?.pointee =
                isForReading ? given & ~SQLITE_OPEN_READWRITE | SQLITE_OPEN_READONLY : given
            return SQLITE_OK
        }
    }

    /// The state of the other connections of this process to a file that is being opened.
    enum Neighbour {
        /// They use the same path, and may have a WAL file.
        case withLog
        /// They use another file name or another directory. Different paths to the same directory are
        /// equivalent, because they lead to the same journal and WAL file.
        case elsewhere(String)
    }

    static func neighbour(of name: UnsafePointer<CChar>) -> Neighbour? {
        let path = unsafe Array(UnsafeBufferPointer(start: name, count: strlen(name)))
        guard let identity = unsafe FileIdentity(named: name),
            let known = state.withLock({ $0.uses[identity] })
        else { return nil }
        guard known.name == path || isSamePlace(known.name, path) else {
            return .elsewhere(String(decoding: known.name.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return known.mayHaveLog ? .withLog : nil
    }

    /// Returns true if two paths have the same file name in the same directory.
    private static func isSamePlace(_ path: [CChar], _ other: [CChar]) -> Bool {
        guard let there = place(of: path), let here = place(of: other) else { return false }
        return there == here
    }

    /// Records that a file may have a WAL file, until the last connection to it is closed.
    static func noteLog(of name: UnsafePointer<CChar>) {
        guard let identity = unsafe FileIdentity(named: name) else { return }
        state.withLock { $0.uses[identity]?.mayHaveLog = true }
    }

    /// Returns the directory of a path and the file name; nil if there is no such directory.
    private static func place(of path: [CChar]) -> (folder: FileIdentity, name: ArraySlice<CChar>)? {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        guard let end = path.lastIndex(of: slash),
            let folder = unsafe FileIdentity(named: Array(path[...end]) + [0])
        else { return nil }
        return (folder, path[(end + 1)...])
    }

    /// Returns true if a connection of this process has the file open.
    static func isOpen(_ file: FileIdentity) -> Bool { state.withLock { $0.uses[file] != nil } }

    /// Returns the number of connections to a file that only this process uses; nil if the file is shared or
    /// not open.
    static func connectionCountIfUnshared(_ file: FileIdentity) -> Int? {
        state.withLock { state in
            guard let use = state.uses[file], use.locking == .thisProcessOnly else { return nil }
            return use.count
        }
    }

    /// Closes a file with SQLite's own function, which releases its locks, and removes it from the list.
    ///
    /// No other file is opened in between: it could get the inode number of a deleted file that was closed.
    static func close(_ file: UnsafeMutablePointer<sqlite3_file>, _ close: () -> CInt) -> CInt {
        state.withLock { state in
            let code = close()
            guard let identity = state.files.removeValue(forKey: UInt(bitPattern: file)) else { return code }
            state.uses[identity]?.count -= 1
            if state.uses[identity]?.count == 0 { state.uses[identity] = nil }
            return code
        }
    }
}
