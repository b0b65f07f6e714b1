import Foundation

/// Programs that run with mounts, or with a view of the processes, of their own. These end with the program.
public enum PrivateMounts {
    /// Whether this process may make them.
    public static let isPossible: Bool = {
        let isPossible =
            (try? ChildProcess.run("unshare", ["-m", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"])
                .status) == 0
        if !isPossible { print("nothing can be mounted here: tests of mounts are left out") }
        return isPossible
    }()

    /// The arguments of `unshare` that run a program where one file is mounted over another one.
    public static func mounting(_ file: String, over target: String, _ program: [String]) -> [String] {
        ["-m", "sh", "-ec", "mount --bind \"$1\" \"$2\"; shift 2; exec \"$@\"", "sh", file, target] + program
    }

    /// The arguments of `unshare` that run a program which sees no process but itself.
    public static func withoutOtherProcesses(_ program: [String]) -> [String] {
        ["-m", "-p", "-f", "--mount-proc"] + program
    }
}
