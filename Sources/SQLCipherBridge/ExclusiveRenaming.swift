internal import CSQLCipher
internal import Glibc

/// A renaming that replaces nothing.
package enum ExclusiveRenaming {
    /// Gives a file another name, in one step.
    ///
    /// - Returns: 0, or an `errno`: `EEXIST` where there is something of the new name, `ENOSYS` or `EINVAL`
    ///   where the system or the file system cannot do it.
    package static func rename(_ path: String, to newPath: String) -> CInt {
        unsafe coffer_rename_exclusively(path, newPath) == 0 ? 0 : errno
    }
}
