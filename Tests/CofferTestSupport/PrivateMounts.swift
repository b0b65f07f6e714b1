import Foundation

/// Runs programs in private mount or PID namespaces, which disappear with the program.
public enum PrivateMounts {
    /// True if this process may create such namespaces.
    public static let isPossible: Bool = {
        let isPossible =
            (try? ChildProcess.run("unshare", ["-m", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"])
                .status) == 0
        if !isPossible { print("nothing can be mounted here: tests of mounts are left out") }
        return isPossible
    }()

    /// Returns the arguments for `unshare` to run a program with one file mounted over another.
    public static func mounting(_ file: String, over target: String, _ program: [String]) -> [String] {
        ["-m", "sh", "-ec", "mount --bind \"$1\" \"$2\"; shift 2; exec \"$@\"", "sh", file, target] + program
    }

    /// Returns the arguments for `unshare` to run a program that sees no other processes.
    public static func withoutOtherProcesses(_ program: [String]) -> [String] {
        ["-m", "-p", "-f", "--mount-proc"] + program
    }
}
