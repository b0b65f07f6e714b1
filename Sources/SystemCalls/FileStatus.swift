internal import Glibc

/// The status of a file as the system reports it.
package struct FileStatus: Equatable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let mode: UInt32
    package let userID: UInt32
    package let groupID: UInt32
    package let linkCount: Int
    package let size: Int64
    /// The times at which the content (`modified`) and anything (`changed`) was last changed, in nanoseconds
    /// since 1970.
    package let modified: Int64
    package let changed: Int64

    /// - Parameter number: a descriptor of the file.
    package init(of number: CInt) throws(Errno) {
        var status = stat()
        try systemCall("fstat") { unsafe fstat(number, &status) }
        self.init(status)
    }

    package init(_ path: String, followsLinks: Bool = false) throws(Errno) {
        try unsafe self.init(named: path, followsLinks: followsLinks)
    }

    /// - Parameter path: a C string, which need not be valid UTF-8.
    package init(named path: UnsafePointer<CChar>, followsLinks: Bool = false) throws(Errno) {
        var status = stat()
        try systemCall("stat") { unsafe followsLinks ? stat(path, &status) : lstat(path, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        func nanoseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        mode = status.st_mode
        userID = status.st_uid
        groupID = status.st_gid
        linkCount = Int(status.st_nlink)
        size = Int64(status.st_size)
        modified = nanoseconds(status.st_mtim)
        changed = nanoseconds(status.st_ctim)
    }

    package var isRegular: Bool { mode & S_IFMT == S_IFREG }
    package var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    package var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }
    package var permissions: UInt32 { mode & 0o7777 }
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }

    /// True if the file belongs to this process's effective user.
    package var isOwn: Bool { userID == geteuid() }

    /// Returns true if both are the same file, even if it has changed in between.
    package func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }
}

/// The identity of a file, regardless of its names. It is valid while the file is open or has a name;
/// afterwards, the system reuses the inode number.
package struct FileIdentity: Codable, Hashable, Sendable {
    fileprivate let device: UInt64
    fileprivate let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
