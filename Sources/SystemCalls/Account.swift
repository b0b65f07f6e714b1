internal import Glibc

/// A user in the system's database.
package struct UserAccount {
    package let name: String
    package let groupID: UInt32

    /// Returns nil if there is no such user.
    package init?(_ id: UInt32) {
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getpwuid_r(id, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil,
            let name = unsafe entry.pw_name
        else { return nil }
        self.name = unsafe String(cString: name)
        groupID = unsafe entry.pw_gid
    }
}

/// A group in the system's database.
package struct GroupAccount {
    package let name: String
    package private(set) var members: [String] = []

    /// Returns nil if there is no such group.
    package init?(_ id: UInt32) {
        var entry = unsafe Glibc.group()
        var result: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getgrgid_r(id, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil,
            let name = unsafe entry.gr_name
        else { return nil }
        self.name = unsafe String(cString: name)
        var next = unsafe entry.gr_mem
        while let member = unsafe next?.pointee {
            unsafe members.append(String(cString: member))
            unsafe next = next?.advanced(by: 1)
        }
    }
}
