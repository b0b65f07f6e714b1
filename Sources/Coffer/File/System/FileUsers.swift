internal import Foundation
internal import SQLCipherBridge

internal import Glibc

/// Who has a file open, as far as `/proc` lets this user see.
enum FileUsers {
    /// The other processes that have it open.
    static func others(of file: FileStatus) -> [DatabaseFileError.FileUser] {
        let own = getpid()
        let processes = ((try? SystemFile.names(in: "/proc")) ?? []).compactMap { Int32($0) }.sorted()
        return processes.filter { $0 != own && descriptorCount(of: file, process: String($0)) > 0 }.map {
            process in
            DatabaseFileError.FileUser(processID: process, command: KernelText.command(ofProcess: process))
        }
    }

    /// How many descriptors of it this process has.
    static func ownDescriptorCount(of file: FileStatus) -> Int { descriptorCount(of: file, process: "self") }

    static var thisProcess: DatabaseFileError.FileUser {
        DatabaseFileError.FileUser(processID: getpid(), command: "this process")
    }

    /// Waits until nobody has a file open, in this process or another one.
    ///
    /// The kernel is asked: SQLite's locks do not show a connection that is idle.
    ///
    /// - Throws: `busy` after the time is over; at once when this process has it open.
    static func waitForNone(of file: FileStatus, _ path: String, timeout: TimeInterval)
        throws(DatabaseFileError)
    {
        let end = Deadline(after: timeout)
        // A child of this process has our descriptors for a moment, until it becomes another program.
        let grace = Deadline(after: max(timeout, 0.5))
        while true {
            guard ownDescriptorCount(of: file) == 0 else {
                throw DatabaseFileError(.busy([thisProcess]), path: path)
            }
            // Whether the file can be opened will be SQLite's to say.
            let answer = FileQuestions.shared.oneAtATime(about: file) { FileLease.ask(path) }
            let users = answer == .free ? [] : others(of: file)
            if answer == .free || answer == .unknown && users.isEmpty { return }
            guard (users.isEmpty ? grace : end).wait() else {
                throw DatabaseFileError(.busy(users), path: path)
            }
        }
    }

    /// Waits until nobody has a file open but one connection of this process, and the hold of a replacement
    /// on it.
    ///
    /// SQLite's locks do not show connections that are idle; descriptors do, as far as this user sees
    /// those of others.
    ///
    /// - Parameter countsOwn: whether those of this process count. Without any lock of this process, SQLite
    ///   has closed all descriptors but those of its open connections; with one, it keeps others open.
    /// - Throws: `busy` after the time is over.
    static func waitForNoneElse(
        of file: FileStatus, _ path: String, timeout: TimeInterval, countsOwn: Bool = true
    ) throws(DatabaseFileError) {
        // A child of this process has its descriptors for a moment, until it becomes another program.
        let end = Deadline(after: max(0.5, timeout))
        while true {
            let others = others(of: file)
            let isAlone = !countsOwn || ownDescriptorCount(of: file) <= 2
            if isAlone && others.isEmpty { return }
            guard end.wait() else {
                throw DatabaseFileError(.busy(isAlone ? others : [thisProcess] + others), path: path)
            }
        }
    }

    private static func descriptorCount(of file: FileStatus, process: String) -> Int {
        let folder = "/proc/\(process)/fd"
        guard let names = try? SystemFile.names(in: folder) else { return 0 }
        return names.count { name in
            guard let status = try? SystemFile.status("\(folder)/\(name)", followsLinks: true) else {
                return false
            }
            return status.isSameFile(as: file)
        }
    }
}
