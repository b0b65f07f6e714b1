internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Who has a file open, as far as `/proc` lets this user see.
enum FileUsers {
    /// The other processes that have it open.
    static func others(of file: FileStatus) -> [DatabaseFileError.FileUser] {
        let own = getpid()
        let processes = ((try? SystemFile.names(in: "/proc")) ?? []).compactMap { Int32($0) }.sorted()
        return processes.filter { $0 != own && descriptorCount(of: file, process: String($0)) > 0 }.map { process in
            let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
            return DatabaseFileError.FileUser(processID: process, command: name?.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// How many descriptors of it this process has.
    static func ownDescriptorCount(of file: FileStatus) -> Int { descriptorCount(of: file, process: "self") }

    static var thisProcess: DatabaseFileError.FileUser {
        DatabaseFileError.FileUser(processID: getpid(), command: "this process")
    }

    private static func descriptorCount(of file: FileStatus, process: String) -> Int {
        let folder = "/proc/\(process)/fd"
        guard let names = try? SystemFile.names(in: folder) else { return 0 }
        return names.count { name in
            guard let status = try? SystemFile.status("\(folder)/\(name)", followsLinks: true) else { return false }
            return status.isSameFile(as: file)
        }
    }
}
