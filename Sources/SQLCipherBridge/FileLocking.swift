internal import CSQLCipher
internal import Glibc
internal import Synchronization

/// Who may have the files of a connection open at the same time.
package enum FileLocking: Sendable {
    /// Every process. The engine locks and unlocks the file for each transaction.
    case shared

    /// This process alone: the file is locked from its first use to the end of the last connection to it, and
    /// what the connections of this process do to each other is settled in its memory.
    case thisProcessOnly

    /// The engine's own file system that locks in this way. They differ in nothing else.
    fileprivate var engineName: String? {
        switch self {
        case .shared: nil
        case .thisProcessOnly: "unix-excl"
        }
    }

    var system: UnsafeMutablePointer<sqlite3_vfs>? { unsafe sqlite3_vfs_find(engineName) }
}

/// How the database files are locked that this process has open.
///
/// Locks belong to the process: a connection that locks and unlocks a file for each transaction would take
/// away the lock of those that keep it, which would not notice. Therefore all connections of a file lock it
/// in the way of the first one.
enum OpenFiles {
    private struct Use {
        let locking: FileLocking
        /// The path by which the first connection has opened the file.
        let name: [CChar]
        var count = 0
        /// Whether a connection by this name may have a log.
        var mayHaveLog = false
    }

    private struct State {
        var uses: [FileIdentity: Use] = [:]
        /// By the address of the engine's open file.
        var files: [UInt: FileIdentity] = [:]
    }

    private static let state = Mutex(State())

    /// Opens a database file as the other connections of this process lock it.
    ///
    /// - Parameter wanted: how it is locked if there is no other connection.
    /// - Returns: `EngineCode.lockedOtherwise` where the connection must have the file for this process, and
    ///   others of the process share it.
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
            // The engine locks no file for the process that it cannot write to. A caller that asked for
            // reading only is given flags that say so.
            let isForReading = flags & SQLITE_OPEN_READONLY != 0 && locking == .thisProcessOnly
            let asked = isForReading ? flags & ~SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE : flags
            var given: CInt = 0
            let code = unsafe open(system, name, file, asked, &given)
            guard code == SQLITE_OK else { return code }
            if given & SQLITE_OPEN_READONLY != 0 { locking = .shared }
            // The file may have been made, or exchanged, or it may be one that this process must not write
            // to.
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

    /// What the other connections of this process say of the name by which a file is opened.
    enum Neighbour {
        /// They have it open by this name, and may have a log.
        case withLog
        /// They have it open by another name, or by one in another folder. Other paths to the same folder
        /// lead to the same journal and log.
        case elsewhere(String)
    }

    static func neighbour(of name: UnsafePointer<CChar>) -> Neighbour? {
        let path = unsafe Array(UnsafeBufferPointer(start: name, count: strlen(name)))
        guard let identity = unsafe FileIdentity(named: name),
            let known = state.withLock({ $0.uses[identity] })
        else { return nil }
        if known.name != path {
            guard let there = place(of: known.name), let here = place(of: path), there == here else {
                return .elsewhere(String(decoding: known.name.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
        }
        return known.mayHaveLog ? .withLog : nil
    }

    /// Notes that a file may have a log, until the last connection to it is closed.
    static func noteLog(of name: UnsafePointer<CChar>) {
        guard let identity = unsafe FileIdentity(named: name) else { return }
        state.withLock { $0.uses[identity]?.mayHaveLog = true }
    }

    /// The folder of a path and the name in it; nil where there is no such folder.
    private static func place(of path: [CChar]) -> (folder: FileIdentity, name: ArraySlice<CChar>)? {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        guard let end = path.lastIndex(of: slash),
            let folder = unsafe FileIdentity(named: Array(path[...end]) + [0])
        else { return nil }
        return (folder, path[(end + 1)...])
    }

    /// Whether a connection of this process has the file open.
    static func isOpen(_ file: FileIdentity) -> Bool { state.withLock { $0.uses[file] != nil } }

    /// Notes that the engine has closed a file, whose locks are gone by now.
    static func didClose(_ file: UnsafeMutablePointer<sqlite3_file>) {
        state.withLock { state in
            guard let identity = state.files.removeValue(forKey: UInt(bitPattern: file)) else { return }
            state.uses[identity]?.count -= 1
            if state.uses[identity]?.count == 0 { state.uses[identity] = nil }
        }
    }
}
