internal import SQLCipherBridge
internal import Glibc
internal import SystemCalls

/// A check that other users cannot rename files in a directory, and so put a file of theirs in the place of
/// one that is being made.
///
/// Files can be renamed by the owner of the directory, and by anyone with write permission if it is not
/// sticky. Trusted users are the superuser, this process, and the owner of the file that is replaced. A group
/// is trusted only if it is the private group of one of them, as many systems create for each user. Parent
/// directories are not checked.
struct FolderSafety {
    private let trusted: Set<UInt32>

    /// - Parameter owner: the owner of the file that is to be replaced; nil for a new file.
    init(owner: UInt32?) {
        trusted = Set([0, geteuid()] + (owner.map { [$0] } ?? []))
    }

    /// - Parameter path: a file in the directory.
    /// - Throws: `unsafeFile(.sharedDirectory)`.
    func check(directoryOf path: String) throws(DatabaseFileError) {
        let directory = SystemFile.directory(of: path)
        let status = try SystemFile.statusOfDirectory(of: path)
        guard trusted.contains(status.userID), try !isWritableByOthers(directory, status) else {
            throw DatabaseFileError(.unsafeFile(.sharedDirectory), path: path)
        }
    }

    private func isWritableByOthers(_ directory: String, _ status: FileStatus) throws(DatabaseFileError)
        -> Bool
    {
        if status.permissions & 0o1000 != 0 { return false }
        if status.permissions & 0o002 != 0 { return true }
        guard status.permissions & 0o020 != 0 else { return false }
        // With an access control list, these bits are its mask, and named users and groups may be able to
        // write.
        return try hasAccessControlList(directory) || !isPrivate(groupID: status.groupID)
    }

    private func hasAccessControlList(_ directory: String) throws(DatabaseFileError) -> Bool {
        // Attributes are not read through a symbolic link.
        let directory = try SystemFile.resolved(directory)
        return try SystemFile.attributes(of: directory) { () throws(ExtendedAttributes.Failure) in
            try ExtendedAttributes.names(of: directory).contains("system.posix_acl_access")
        }
    }

    /// Returns true if a group is the primary group of a trusted user, has the user's name, and has no other
    /// member.
    private func isPrivate(groupID: UInt32) -> Bool {
        guard let group = GroupAccount(groupID) else { return false }
        return trusted.contains { user in
            guard let account = UserAccount(user), account.groupID == groupID, account.name == group.name
            else { return false }
            return group.members.allSatisfy { $0 == account.name }
        }
    }
}
