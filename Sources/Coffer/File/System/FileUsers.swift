internal import Foundation
internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// The processes that have a file open, as far as `/proc` shows them to this user.
enum FileUsers {
    /// Returns the other processes that have the file open.
    static func others(of file: FileStatus) -> [DatabaseFileError.FileUser] {
        let own = getpid()
        let processes = ((try? SystemFile.names(in: "/proc")) ?? []).compactMap { Int32($0) }.sorted()
        return processes.filter { $0 != own && descriptorCount(of: file, process: String($0)) > 0 }.map {
            process in
            DatabaseFileError.FileUser(processID: process, command: KernelText.command(ofProcess: process))
        }
    }

    /// Returns the number of descriptors that this process has of the file.
    static func ownDescriptorCount(of file: FileStatus) -> Int { descriptorCount(of: file, process: "self") }

    /// Throws `busy` if a connection of this process has the file open: closing a descriptor of the file
    /// would release the connection's locks.
    static func checkIsNotOpenHere(_ file: FileStatus, _ path: String) throws(DatabaseFileError) {
        guard !file.identity.isOpenInThisProcess else {
            throw DatabaseFileError(.busy([thisProcess]), path: path)
        }
    }

    static var thisProcess: DatabaseFileError.FileUser {
        DatabaseFileError.FileUser(processID: getpid(), command: "this process")
    }

    /// Waits until no process has the file open, including this one.
    ///
    /// This asks the kernel, because SQLite's locks do not show idle connections.
    ///
    /// - Throws: `busy` when the time is over, or at once if this process has the file open.
    static func waitForNone(of file: FileStatus, _ path: String, timeout: TimeInterval)
        throws(DatabaseFileError)
    {
        let end = Deadline(after: timeout)
        // A child of this process shares its descriptors for a moment, until it executes another program.
        let grace = Deadline(after: max(timeout, 0.5))
        while true {
            guard ownDescriptorCount(of: file) == 0 else {
                throw DatabaseFileError(.busy([thisProcess]), path: path)
            }
            // If the kernel does not answer because the file cannot be opened, SQLite will report that later.
            let answer = FileQuestions.shared.oneAtATime(about: file) { FileLease.ask(path) }
            let users = answer == .free ? [] : others(of: file)
            if answer == .free || answer == .unknown && users.isEmpty { return }
            guard (users.isEmpty ? grace : end).wait() else {
                throw DatabaseFileError(.busy(users), path: path)
            }
        }
    }

    /// Waits until the file is open only in one connection of this process, and in the hold of a replacement.
    ///
    /// SQLite's locks do not show idle connections. Descriptors do, as far as this user can see the ones of
    /// other processes.
    ///
    /// - Parameter countsOwn: whether to count the descriptors of this process. While this process has no
    ///   lock, SQLite has closed all descriptors except those of open connections; while it has a lock,
    ///   SQLite keeps others open.
    /// - Throws: `busy` when the time is over.
    static func waitForNoneElse(
        of file: FileStatus, _ path: String, timeout: TimeInterval, countsOwn: Bool = true
    ) throws(DatabaseFileError) {
        // A child of this process shares its descriptors for a moment, until it executes another program.
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
