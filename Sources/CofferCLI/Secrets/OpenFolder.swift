internal import Glibc
internal import SystemCalls

/// An open folder to whose path no other user has contributed a symbolic link: that user could choose among
/// the folders of this one.
final class OpenFolder {
    enum Problem: Error {
        case system(Errno)
        case linkOfAnotherUser
        /// Another user can replace the files in a folder of the path.
        case changeableFolder(String)
    }

    private let folder: Descriptor

    private init(_ folder: consuming Descriptor) { self.folder = folder }

    /// Opens a folder. Each part of its path is examined in the open folder before it, so no part can be
    /// replaced in between.
    static func open(_ path: String) throws(Problem) -> OpenFolder { try open(path, isFile: false) }

    /// Opens the folder with the file that a path leads to, also by symbolic links in its last part. Other
    /// users can rename nothing in the folders that the path leads through.
    static func open(containing path: String) throws(Problem) -> OpenFolder { try open(path, isFile: true) }

    private static func open(_ path: String, isFile: Bool) throws(Problem) -> OpenFolder {
        var (folder, parts) = try start(of: Array(path.utf8))
        // The folders whose parts were examined, for messages.
        var place = path.hasPrefix("/") ? "" : "."
        var linkCount = 0
        while let part = parts.popLast() {
            if isFile { try folder.checkIsSafe(for: part, place.isEmpty ? "/" : place) }
            if isFile, parts.isEmpty {
                guard try folder.isLink(part) else { return folder }
            } else if let next = try folder.folder(part) {
                folder = next
                place += "/" + String(decoding: part, as: UTF8.self)
                continue
            }
            // The number that the kernel follows too.
            linkCount += 1
            guard linkCount <= 40 else { throw .system(Errno(ELOOP)) }
            let target = try folder.target(ofLink: part)
            let (start, targetParts) = try start(of: target)
            if target.first == OpenFolder.slash { (folder, place) = (start, "") }
            parts += targetParts
        }
        return folder
    }

    func status() throws(Errno) -> FileStatus { try folder.status() }

    /// Throws if another user can put another file in the place of one in the folder. In a sticky folder,
    /// users can rename only their own files, but can make one that is missing.
    private func checkIsSafe(for name: [UInt8], _ path: String) throws(Problem) {
        let status = try OpenFolder.system { () throws(Errno) in try self.status() }
        guard status.isOwn || status.userID == 0 else { throw .changeableFolder(path) }
        guard status.permissions & 0o022 != 0 else { return }
        let isSticky = status.permissions & 0o1000 != 0
        guard isSticky, try has(name) else { throw .changeableFolder(path) }
    }

    /// Returns true if there is a file of this user or of the superuser with this name.
    private func has(_ name: [UInt8]) throws(Problem) -> Bool {
        do throws(Errno) {
            let status = try OpenFolder.descriptor(
                folder.number, name, Descriptor.pathOnly | O_NOFOLLOW
            ).status()
            return status.isOwn || status.userID == 0
        } catch {
            guard error.code == ENOENT else { throw .system(error) }
            return false
        }
    }

    /// Opens a file in the folder.
    func file(_ name: String, _ flags: CInt) throws(Errno) -> Descriptor {
        try OpenFolder.descriptor(folder.number, Array(name.utf8), flags | O_NOFOLLOW)
    }

    private static let slash = UInt8(ascii: "/")

    /// Returns the folder that a path starts at, and the parts of the path, last one first.
    private static func start(of path: [UInt8]) throws(Problem) -> (folder: OpenFolder, parts: [[UInt8]]) {
        let start = Array((path.first == slash ? "/" : ".").utf8)
        let folder = try system { () throws(Errno) in
            try descriptor(AT_FDCWD, start, Descriptor.pathOnly | O_DIRECTORY)
        }
        return (OpenFolder(folder), path.split(separator: slash).reversed().map(Array.init))
    }

    /// Returns a folder in this one, or nil for a symbolic link.
    private func folder(_ name: [UInt8]) throws(Problem) -> OpenFolder? {
        do throws(Errno) {
            // With O_DIRECTORY, the system mounts a folder that is mounted at its first use.
            return OpenFolder(
                try OpenFolder.descriptor(
                    folder.number, name, Descriptor.pathOnly | O_DIRECTORY | O_NOFOLLOW))
        } catch {
            guard error.code == ENOTDIR || error.code == ELOOP else { throw .system(error) }
            return nil
        }
    }

    private func isLink(_ name: [UInt8]) throws(Problem) -> Bool {
        try OpenFolder.system { () throws(Errno) in
            try OpenFolder.descriptor(folder.number, name, Descriptor.pathOnly | O_NOFOLLOW).status()
        }.isSymbolicLink
    }

    /// Returns the target of a symbolic link of this user or of the superuser.
    private func target(ofLink name: [UInt8]) throws(Problem) -> [UInt8] {
        let link = try OpenFolder.system { () throws(Errno) in
            try OpenFolder.descriptor(folder.number, name, Descriptor.pathOnly | O_NOFOLLOW)
        }
        let status = try OpenFolder.system { () throws(Errno) in try link.status() }
        guard status.isSymbolicLink else { throw .system(Errno(ENOTDIR)) }
        guard status.isOwn || status.userID == 0 else { throw .linkOfAnotherUser }
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try OpenFolder.system { () throws(Errno) in
            try systemCall("readlink") { unsafe readlinkat(link.number, "", &target, target.count) }
        }
        guard count > 0, count < target.count else { throw .system(Errno(ENAMETOOLONG)) }
        return target.prefix(count).map(UInt8.init(bitPattern:))
    }

    private static func descriptor(_ folder: CInt, _ name: [UInt8], _ flags: CInt) throws(Errno)
        -> Descriptor
    {
        let name = name.map(CChar.init(bitPattern:)) + [0]
        return Descriptor(
            owning: try systemCall("open") { unsafe openat(folder, name, flags | O_CLOEXEC | O_NOCTTY) })
    }

    private static func system<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(Problem)
        -> Result
    {
        do throws(Errno) { return try body() } catch { throw .system(error) }
    }
}
