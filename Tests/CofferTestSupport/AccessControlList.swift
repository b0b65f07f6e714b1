import Foundation

/// Access control lists as Linux stores them, set by another program: the ones of this package would be wrong
/// in the same way.
public enum AccessControlList {
    /// - Parameters:
    ///   - list: in hexadecimal digits.
    ///   - name: `system.posix_acl_access`, or `system.posix_acl_default` for what a directory hands on.
    /// - Returns: whether the system has taken it.
    public static func set(_ list: String, on path: String, _ name: String = "system.posix_acl_access") throws
        -> Bool
    {
        let script = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))"
        return try ChildProcess.run("python3", ["-c", script, path, name, list]).status == 0
    }

    /// Whether python3 is there, and temporary files can have lists.
    public static let areAvailable: Bool = {
        let list =
            "02000000" + "01000600ffffffff" + "02000400ffff0000" + "04000000ffffffff" + "10000600ffffffff"
            + "20000000ffffffff"
        return (try? withTestDirectory { try set(list, on: $0.path) }) ?? false
    }()
}
