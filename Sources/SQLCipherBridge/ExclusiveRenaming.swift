internal import CSQLCipher
internal import Glibc

/// Renaming without replacing an existing file.
package enum ExclusiveRenaming {
    /// Renames a file atomically.
    ///
    /// - Returns: 0, or an `errno`: `EEXIST` if the new path exists, `ENOSYS` or `EINVAL` if the system or
    ///   the file system does not support the operation.
    package static func rename(_ path: String, to newPath: String) -> CInt {
        unsafe coffer_rename_exclusively(path, newPath) == 0 ? 0 : errno
    }
}
