internal import Foundation
internal import Glibc

/// A process that has locked a database file.
struct LockHolder: CustomStringConvertible {
    private let process: Int32

    /// Asks the system, without opening the file: closing any descriptor of it would drop the locks of this process.
    ///
    /// - Parameter countsReaders: whether processes count that read the file and let others read it, too.
    /// - Returns: nil where there is none, and where the system does not say (`/proc/locks`, see proc(5)).
    init?(ofFile path: String, countsReaders: Bool) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, let list = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return nil }
        // As in "1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 1073741826 1073742335"; what waits for a lock has an arrow after the number.
        for line in list.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[3] == "WRITE" || countsReaders,
                fields[5].hasSuffix(":\(status.st_ino)"), fields[6] == LockHolder.firstSharedByte,
                let process = Int32(fields[4]), process > 0, process != getpid()
            else { continue }
            self.process = process
            return
        }
        return nil
    }

    /// Where the bytes begin that SQLite's readers lock, in all of its files (`SHARED_FIRST` of the file format).
    private static let firstSharedByte = String(0x4000_0000 + 2)

    var description: String {
        let command = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
        let name = command.map { "\($0.trimmingCharacters(in: .whitespacesAndNewlines)) (process \(process))" }
        return "locked by \(name ?? "process \(process)")"
    }
}
