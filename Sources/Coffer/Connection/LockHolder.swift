internal import Glibc
internal import SystemCalls

/// A process that has locked a database file.
struct LockHolder: CustomStringConvertible {
    let process: Int32

    /// Finds a process that has locked a file, without opening the file: closing any descriptor of it would
    /// drop the locks of this process.
    ///
    /// - Parameter countsReaders: true to also find processes with a shared lock, which allows others to
    ///   read.
    /// - Returns: nil if there is none, or if the system does not provide the information (`/proc/locks`, see
    ///   proc(5)).
    init?(ofFile path: String, countsReaders: Bool) {
        guard let file = LockedFile(path: path) else { return nil }
        // The list is read in parts. If it changes in between, an existing lock may be missing.
        for _ in 0..<3 {
            guard let list = KernelText.read("/proc/locks") else { return nil }
            if let found = LockHolder(of: file, in: list, countsReaders: countsReaders) {
                self = found
                return
            }
        }
        return nil
    }

    /// - Parameter list: the text of `/proc/locks`.
    init?(of file: LockedFile, in list: String, countsReaders: Bool) {
        // A line looks like "1: POSIX ADVISORY WRITE 3568 fd:00:2531452 1073741826 1073742335". A request
        // that waits for a lock has an arrow after the number.
        for line in list.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[3] == "WRITE" || countsReaders, file.isNamed(by: fields[5]),
                let start = Int64(fields[6]), LockHolder.lockBytes.contains(start),
                let end = Int64(fields[7]), end >= LockHolder.lockBytes.upperBound,
                let process = Int32(fields[4]), process > 0, process != getpid()
            else { continue }
            self.process = process
            return
        }
        return nil
    }

    /// The range from the first byte that SQLite locks in all its files (`PENDING_BYTE` of the file format)
    /// to the first byte that readers lock (`SHARED_FIRST`). A process with an exclusive lock holds all of
    /// them, which the system lists as one lock.
    private static let lockBytes: ClosedRange<Int64> = 0x4000_0000...0x4000_0002

    var description: String {
        let name = KernelText.command(ofProcess: process).map { "\($0) (process \(process))" }
        return "locked by \(name ?? "process \(process)")"
    }
}

/// A file that `/proc/locks` names by its device and its inode number, which is only unique within a file
/// system.
struct LockedFile {
    struct Device: Hashable {
        let major: UInt32
        let minor: UInt32
    }

    let inode: UInt64
    /// The devices that may appear in `/proc/locks`. In some file systems, such as Btrfs, locks have the
    /// device of the mount, which differs from the device of the file.
    let devices: Set<Device>
}

extension LockedFile {
    init?(path: String) {
        guard let status = try? FileStatus(path, followsLinks: true) else { return nil }
        // Split the number like the macros of makedev(3).
        let number = status.device
        let device = Device(
            major: UInt32(truncatingIfNeeded: (number >> 8) & 0xfff | (number >> 32) & 0xffff_f000),
            minor: UInt32(truncatingIfNeeded: number & 0xff | (number >> 12) & 0xffff_ff00))
        self.init(
            inode: status.inode,
            devices: Set([device] + [LockedFile.deviceOfMount(path)].compactMap { $0 }))
    }

    /// Returns the device of the mount that contains the file (`/proc/self/mountinfo`, see proc(5)).
    private static func deviceOfMount(_ path: String) -> Device? {
        guard let file = try? Descriptor(opening: path, Descriptor.pathOnly),
            let info = KernelText.read("/proc/self/fdinfo/\(file.number)"),
            let line = info.split(separator: "\n").first(where: { $0.hasPrefix("mnt_id:") }),
            let mount = line.split(separator: "\t").last,
            let mounts = KernelText.read("/proc/self/mountinfo")
        else { return nil }
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 3)
            guard fields.count > 2, fields[0] == mount else { continue }
            return device(fields[2].split(separator: ":"), radix: 10)
        }
        return nil
    }

    private static func device(_ numbers: some Collection<Substring>, radix: Int) -> Device? {
        let numbers = numbers.compactMap { UInt32($0, radix: radix) }
        return numbers.count == 2 ? Device(major: numbers[0], minor: numbers[1]) : nil
    }

    /// Returns true if `name` names this file: the two numbers of the device in hexadecimal, and the inode
    /// number in decimal.
    func isNamed(by name: Substring) -> Bool {
        let parts = name.split(separator: ":")
        guard parts.count == 3, UInt64(parts[2]) == inode,
            let device = LockedFile.device(parts.prefix(2), radix: 16)
        else { return false }
        return devices.contains(device)
    }
}
