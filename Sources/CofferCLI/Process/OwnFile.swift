internal import Coffer
internal import Glibc
internal import SystemCalls

/// Files of the tool, such as logs and states, whose content it trusts later.
enum OwnFile {
    /// Opens or creates a file. It must be a regular file with a single name that belongs to this user or to
    /// root, and that SQLite and Coffer do not remove. Links are not followed, because another user could
    /// choose where they lead.
    ///
    /// - Parameters:
    ///   - name: the subject of error messages, capitalized.
    ///   - action: the predicate of error messages, such as "cannot be written".
    ///   - reason: the keyword for scripts.
    static func open(_ path: String, _ flags: CInt, name: String, action: String, reason: String)
        throws(Failure) -> Descriptor
    {
        func refuse(_ words: String) -> Failure {
            Failure(.outputExists, reason, "\(name) \(action): \(words).")
        }
        if let objection = DatabaseFile.objection(toNameOf: path) {
            throw Failure(.outputExists, reason, "\(name) \(action): \(objection)")
        }
        let file = try opened(path, flags, refuse)
        guard let status = try? file.status() else { throw refuse("its status cannot be read") }
        guard status.isRegular else { throw refuse("it is not a regular file") }
        guard status.linkCount == 1 else {
            throw refuse(
                status.linkCount == 0
                    ? "it was just removed" : "it has \(status.linkCount) hard links")
        }
        guard status.isOwn || status.userID == 0 else {
            throw refuse("it belongs to another user, who can change it")
        }
        return file
    }

    private static func opened(_ path: String, _ flags: CInt, _ refuse: (String) -> Failure) throws(Failure)
        -> Descriptor
    {
        do throws(Errno) {
            // NONBLOCK: if the path is a pipe, the tool must not wait for a reader.
            return try Descriptor(opening: path, flags | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
        } catch {
            throw refuse(
                error.code == ELOOP ? "it is a symbolic link; give the path of the file itself" : error.words)
        }
    }
}

extension Descriptor {
    /// Syncs the folder of a file to disk, which makes its names permanent.
    static func synchronizeFolder(of path: String) throws(Errno) {
        try Descriptor(opening: FileNames.folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
    }
}
