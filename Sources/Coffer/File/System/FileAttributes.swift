internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// The metadata of a file: owner, permissions, and extended attributes, including access control lists.
struct FileAttributes: Equatable {
    var userID: UInt32
    var groupID: UInt32
    var permissions: UInt32
    var extended: [String: [UInt8]]

    init(userID: UInt32, groupID: UInt32, permissions: UInt32) {
        self.userID = userID
        self.groupID = groupID
        self.permissions = permissions
        extended = [:]
    }

    init(of path: String, status: FileStatus) throws(DatabaseFileError) {
        userID = status.userID
        groupID = status.groupID
        permissions = status.permissions
        extended = try SystemFile.attributes(of: path) { () throws(ExtendedAttributes.Failure) in
            var extended: [String: [UInt8]] = [:]
            for name in try ExtendedAttributes.names(of: path) where !FileAttributes.belongsToSystem(name) {
                extended[name] = try ExtendedAttributes.value(of: name, at: path)
            }
            return extended
        }
    }

    /// Reads the attributes of a file that is to be replaced by a file with the same attributes.
    ///
    /// - Throws: `unsafeFile(.owner)` if a file that this process makes cannot have the same owner.
    init(toKeepOf path: String, status: FileStatus) throws(DatabaseFileError) {
        try self.init(of: path, status: status)
        guard canBeKeptByThisProcess else {
            throw DatabaseFileError(.unsafeFile(.owner(userID: userID, groupID: groupID)), path: path)
        }
    }

    /// Returns true for labels that the system assigns to each file by its own rules.
    private static func belongsToSystem(_ name: String) -> Bool {
        name.hasPrefix("security.") || name.hasPrefix("trusted.") || name == "system.nfs4_acl"
    }

    /// Applies the attributes to a file, which must be possible: see ``canBeKeptByThisProcess``.
    func apply(to file: borrowing FileDescriptor) throws(DatabaseFileError) {
        let own = try file.status()
        if own.userID != userID || own.groupID != groupID {
            try file.setOwner(userID: userID, groupID: groupID)
        }
        try file.setPermissions(permissions)
        for (name, value) in extended { try file.setAttribute(name, to: value) }
    }

    /// The attributes of a file of the same owner that no other user can read: for content that was encrypted
    /// and no longer is.
    var forOwnerOnly: FileAttributes {
        var attributes = self
        attributes.permissions &= 0o700
        // Access control lists can give others access regardless of the permissions.
        attributes.extended = extended.filter { !$0.key.hasPrefix("system.posix_acl_") }
        return attributes
    }

    /// True if a file that this process makes can have this owner.
    var canBeKeptByThisProcess: Bool {
        let user = geteuid()
        if user == 0 { return true }
        guard userID == user else { return false }
        if groupID == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: 65536)
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return count > 0 && groups.prefix(Int(count)).contains(groupID)
    }
}
