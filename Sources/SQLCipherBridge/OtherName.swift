internal import CSQLCipher
internal import Glibc

/// Why a database file may have another name, under which other connections would use another journal and
/// another write-ahead log: SQLite finds both by the name of the file.
package enum OtherName: Sendable, Hashable {
    /// The file has so many names.
    case hardLinks(Int)
    /// The file itself is a mount point, so that it has another name elsewhere, and its log would be in
    /// another folder than there.
    case mountPoint
    /// A connection of this process has the file open by this path.
    case openAs(String)

    /// Looks for another name of a file that is about to be written to.
    ///
    /// The first connection of this process decides for those that come while it is open: what is safe for
    /// them does not change with a name that comes later.
    ///
    /// - Parameter name: its path without symbolic links, as a string of C.
    static func find(_ name: UnsafePointer<CChar>) -> OtherName? {
        switch unsafe OpenFiles.neighbour(of: name) {
        case .elsewhere(let path)?: return .openAs(path)
        case .withLog?: return nil
        case nil: break
        }
        var status = stat()
        guard unsafe stat(name, &status) == 0 else { return nil }
        if status.st_nlink > 1 { return .hardLinks(Int(status.st_nlink)) }
        if unsafe MountPoint.isOne(name) { return .mountPoint }
        unsafe OpenFiles.noteLog(of: name)
        return nil
    }

    /// For connections that have no better words.
    var words: String {
        switch self {
        case .hardLinks(let count):
            "unable to open database file in WAL mode: it has \(count) names (hard links)"
        case .mountPoint: "unable to open database file in WAL mode: it is a mount point itself"
        case .openAs(let path):
            "unable to open database file in WAL mode: this process has it open by another name, \(path)"
        }
    }
}

/// Files that are mounted one by one, as containers get them.
package enum MountPoint {
    /// Whether a path leads to the root of a mount.
    package static func isOne(_ path: String) -> Bool {
        guard let resolved = unsafe realpath(path, nil) else { return false }
        defer { unsafe free(resolved) }
        return unsafe isOne(resolved)
    }

    /// - Parameter name: a path without symbolic links, as a string of C.
    static func isOne(_ name: UnsafePointer<CChar>) -> Bool {
        switch unsafe coffer_is_mount_point(name) {
        case 0: false
        case 1: true
        // Before Linux 5.8.
        default:
            unsafe points(in: KernelText.bytes(of: "/proc/self/mountinfo") ?? []).contains(
                Array(UnsafeBufferPointer(start: name, count: strlen(name))))
        }
    }

    /// The mount points of the table, as bytes: names need not be text.
    static func points(in table: [UInt8]) -> Set<[CChar]> {
        var points: Set<[CChar]> = []
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            if fields.count > 5 { points.insert(unescaped(fields[4])) }
        }
        return points
    }

    /// Spaces, tabs, line feeds and backslashes stand there as a backslash and three octal digits.
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
