internal import Glibc

/// Which file a descriptor or a name leads to.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// What a name leads to now, links not followed; nil for nothing.
    init?(path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Files of the tool itself that it believes later: logs and states.
enum OwnFile {
    /// Opens a file, or makes it, that is regular, has this one name, and belongs to this user or to root.
    /// Links are not followed: they would lead the writing, and the belief, to a place that another user has
    /// chosen.
    ///
    /// - Parameters:
    ///   - name: what it is, with a capital letter, for messages.
    ///   - action: what cannot be done otherwise, such as "cannot be written".
    ///   - reason: the word for scripts.
    static func open(_ path: String, _ flags: CInt, name: String, action: String, reason: String)
        throws(Failure) -> Descriptor
    {
        func refuse(_ words: String) -> Failure {
            Failure(.outputExists, reason, "\(name) \(action): \(words).")
        }
        let file = try opened(path, flags, refuse)
        guard let status = try? file.status() else { throw refuse("it does not tell its state") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw refuse("it is not a regular file") }
        guard status.st_nlink == 1 else {
            throw refuse(
                status.st_nlink == 0
                    ? "it was removed meanwhile" : "it has \(status.st_nlink) names (hard links)")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw refuse("it belongs to another user, who can change it")
        }
        return file
    }

    private static func opened(_ path: String, _ flags: CInt, _ refuse: (String) -> Failure) throws(Failure)
        -> Descriptor
    {
        do throws(SystemError) {
            // NONBLOCK: a pipe of that name must not have the tool wait for its reader.
            return try Descriptor(opening: path, flags | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
        } catch {
            throw refuse(
                error.code == ELOOP ? "it is a symbolic link; give the path of the file itself" : error.words)
        }
    }
}

extension Descriptor {
    /// Makes the names in the folder of a file permanent.
    static func synchronizeFolder(of path: String) throws(SystemError) {
        try Descriptor(opening: FileNames.folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
    }
}
