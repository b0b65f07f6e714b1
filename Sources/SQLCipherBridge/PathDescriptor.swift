internal import CSQLCipher
internal import Glibc

/// `O_PATH`, which Swift's overlay of the C library does not have.
package enum PathDescriptor {
    /// Holds what has a name now, without opening it: the number stays its own, and closing this drops no
    /// locks.
    ///
    /// - Returns: a descriptor, or nil with `errno` set.
    package static func open(_ path: String) -> CInt? {
        let number = unsafe coffer_open_path_only(path)
        return number < 0 ? nil : number
    }
}
