internal import Glibc
internal import SQLCipherBridge

/// A process that has locked a database file.
struct LockHolder: CustomStringConvertible {
    let process: Int32

    /// Asks the system, without opening the file: closing any descriptor of it would drop the locks of this
    /// process.
    ///
    /// - Parameter countsReaders: whether processes count that read the file and let others read it, too.
    /// - Returns: nil where there is none, and where the system does not say (`/proc/locks`, see proc(5)).
    init?(ofFile path: String, countsReaders: Bool) {
        guard let file = LockedFile(path: path) else { return nil }
        // The list is read in parts. One that changes in between may lack a lock that was there all the time.
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
        // As in "1: POSIX ADVISORY WRITE 3568 fd:00:2531452 1073741826 1073742335"; what waits for a lock has
        // an arrow after the number.
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

    /// From the first byte that SQLite locks in all of its files (`PENDING_BYTE` of the file format) to the
    /// first of those that readers lock (`SHARED_FIRST`). A process with an exclusive lock has all of them,
    /// which the system lists as one lock.
    private static let lockBytes: ClosedRange<Int64> = 0x4000_0000...0x4000_0002

    var description: String {
        let name = KernelText.command(ofProcess: process).map { "\($0) (process \(process))" }
        return "locked by \(name ?? "process \(process)")"
    }
}

/// A file as `/proc/locks` names it: files of two file systems may have one number.
struct LockedFile {
    struct Device: Hashable {
        let major: UInt32
        let minor: UInt32
    }

    let inode: UInt64
    /// Some file systems (Btrfs, for one) have another device for the file than for the locks, which is that
    /// of the mount.
    let devices: Set<Device>

    init(inode: UInt64, devices: Set<Device>) {
        self.inode = inode
        self.devices = devices
    }

    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        // As the macros of makedev(3) take the number apart.
        let number = UInt64(status.st_dev)
        let device = Device(
            major: UInt32(truncatingIfNeeded: (number >> 8) & 0xfff | (number >> 32) & 0xffff_f000),
            minor: UInt32(truncatingIfNeeded: number & 0xff | (number >> 12) & 0xffff_ff00))
        self.init(
            inode: UInt64(status.st_ino),
            devices: Set([device] + [LockedFile.deviceOfMount(path)].compactMap { $0 }))
    }

    /// What the system says of the mount that the file is in (`/proc/self/mountinfo`, see proc(5)).
    private static func deviceOfMount(_ path: String) -> Device? {
        // Such a descriptor does not open the file: that it is closed drops no locks.
        let descriptor = unsafe open(path, LockedFile.onlyPath | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let info = KernelText.read("/proc/self/fdinfo/\(descriptor)"),
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

    /// `O_PATH` of Linux, on all of its processors that Swift is for.
    private static let onlyPath: CInt = 0o10_000_000

    private static func device(_ numbers: some Collection<Substring>, radix: Int) -> Device? {
        let numbers = numbers.compactMap { UInt32($0, radix: radix) }
        return numbers.count == 2 ? Device(major: numbers[0], minor: numbers[1]) : nil
    }

    /// Whether a name is that of this file: two numbers of the device in hexadecimal digits, and that of the
    /// file in decimal ones.
    func isNamed(by name: Substring) -> Bool {
        let parts = name.split(separator: ":")
        guard parts.count == 3, UInt64(parts[2]) == inode,
            let device = LockedFile.device(parts.prefix(2), radix: 16)
        else { return false }
        return devices.contains(device)
    }
}
