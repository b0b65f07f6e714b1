internal import CSQLCipher
internal import Glibc
internal import SystemCalls

/// The reason why other connections may open a database file by another path, with another journal and WAL
/// file: SQLite derives both paths from the path of the database.
package enum OtherName: Sendable, Hashable {
    /// The number of hard links to the file.
    case hardLinks(Int)
    /// The file itself is a mount point. Its original path is elsewhere, with its WAL file in another
    /// directory.
    case mountPoint
    /// A connection of this process has opened the file by this path.
    case openAs(String)

    /// Looks for another path to a file that is about to be written.
    ///
    /// The result for the first connection of this process also applies to later connections while it is
    /// open, because paths that are created later do not affect their safety.
    ///
    /// - Parameter name: the path of the file without symbolic links, as a C string.
    static func find(_ name: UnsafePointer<CChar>) -> OtherName? {
        switch unsafe OpenFiles.neighbour(of: name) {
        case .elsewhere(let path)?: return .openAs(path)
        case .withLog?: return nil
        case nil: break
        }
        guard let status = unsafe try? FileStatus(named: name, followsLinks: true) else { return nil }
        if status.linkCount > 1 { return .hardLinks(status.linkCount) }
        if unsafe MountPoint.isOne(name) { return .mountPoint }
        unsafe OpenFiles.noteLog(of: name)
        return nil
    }

    /// The message for connections without a more specific one.
    var words: String {
        switch self {
        case .hardLinks(let count):
            "unable to open database file in WAL mode: it has \(count) names (hard links)"
        case .mountPoint: "unable to open database file in WAL mode: it is a mount point itself"
        case .openAs(let path):
            "unable to open database file in WAL mode: this process has it open under another path, \(path)"
        }
    }
}

/// Individually mounted files, which are common in containers.
package enum MountPoint {
    /// Returns true if a path leads to the root of a mount.
    package static func isOne(_ path: String) -> Bool {
        guard let resolved = unsafe realpath(path, nil) else { return false }
        defer { unsafe free(resolved) }
        return unsafe isOne(resolved)
    }

    /// - Parameter name: a path without symbolic links, as a C string.
    static func isOne(_ name: UnsafePointer<CChar>) -> Bool {
        switch unsafe coffer_is_mount_point(name) {
        case 0: false
        case 1: true
        // Linux before 5.8 cannot answer this directly.
        default:
            unsafe points(in: KernelText.bytes(of: "/proc/self/mountinfo") ?? []).contains(
                Array(UnsafeBufferPointer(start: name, count: strlen(name))))
        }
    }

    /// Returns the mount points in the table, as bytes: paths need not be valid UTF-8.
    static func points(in table: [UInt8]) -> Set<[CChar]> {
        var points: Set<[CChar]> = []
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            if fields.count > 5 { points.insert(unescaped(fields[4])) }
        }
        return points
    }

    /// Decodes a field. Spaces, tabs, line feeds and backslashes are written as a backslash and three octal
    /// digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [CChar] {
        var (result, rest) = ([CChar](), field)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (48...55).contains($0) }) {
                let value = digits.reduce(0) { $0 << 3 | Int($1 - 48) }
                result.append(CChar(bitPattern: UInt8(truncatingIfNeeded: value)))
                rest = rest.dropFirst(3)
            } else {
                result.append(CChar(bitPattern: byte))
            }
        }
        return result
    }
}
