import Foundation

/// Sets access control lists in the format of Linux. Uses another program, because code of this package could
/// make the same mistakes.
public enum AccessControlList {
    /// - Parameters:
    ///   - list: the list, in hexadecimal digits.
    ///   - name: `system.posix_acl_access`, or `system.posix_acl_default` for the list that new files in a
    ///     directory inherit.
    /// - Returns: true if the system accepted the list.
    public static func set(_ list: String, on path: String, _ name: String = "system.posix_acl_access") throws
        -> Bool
    {
        let script = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))"
        return try ChildProcess.run("python3", ["-c", script, path, name, list]).status == 0
    }

    /// True if python3 is installed and temporary files support access control lists.
    public static let areAvailable: Bool = {
        let list =
            "02000000" + "01000600ffffffff" + "02000400ffff0000" + "04000000ffffffff" + "10000600ffffffff"
            + "20000000ffffffff"
        return (try? withTestDirectory { try set(list, on: $0.path) }) ?? false
    }()
}
