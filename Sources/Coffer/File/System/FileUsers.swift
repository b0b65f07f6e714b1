internal import Foundation
internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// The processes that have a file open, as far as `/proc` shows them to this user.
enum FileUsers {
    /// Returns the other processes that have the file open.
    ///
    /// - Throws: an error if this process has no descriptor to look with. That must not count as an answer.
    static func others(of file: FileStatus) throws(DatabaseFileError) -> [DatabaseFileError.FileUser] {
        let own = getpid()
        var users: [DatabaseFileError.FileUser] = []
        for process in try names(in: "/proc").compactMap({ Int32($0) }).sorted() where process != own {
            guard try descriptorCount(of: file, process: String(process)) > 0 else { continue }
            let command = KernelText.command(ofProcess: process)
            users.append(DatabaseFileError.FileUser(processID: process, command: command))
        }
        return users
    }

    /// Returns an error that names the other processes that have the file open, as far as they can be found.
    static func busy(_ file: FileStatus, _ path: String) -> DatabaseFileError {
        DatabaseFileError(.busy((try? others(of: file)) ?? []), path: path)
    }

    /// Returns the number of descriptors that this process has of the file.
    ///
    /// - Throws: an error if this process has no descriptor to look with.
    static func ownDescriptorCount(of file: FileStatus) throws(DatabaseFileError) -> Int {
        try descriptorCount(of: file, process: "self")
    }

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
            guard try ownDescriptorCount(of: file) == 0 else {
                throw DatabaseFileError(.busy([thisProcess]), path: path)
            }
            // If the kernel does not answer because the file cannot be opened, SQLite will report that later.
            let answer = FileQuestions.shared.oneAtATime(about: file) { FileLease.ask(path) }
            let users = answer == .free ? [] : try others(of: file)
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
    /// - Parameter countsOwn: whether other connections of this process count.
    /// - Throws: `busy` when the time is over.
    static func waitForNoneElse(
        of file: FileStatus, _ path: String, timeout: TimeInterval, countsOwn: Bool = true
    ) throws(DatabaseFileError) {
        // A child of this process shares its descriptors for a moment, until it executes another program.
        let end = Deadline(after: max(0.5, timeout))
        while true {
            let others = try others(of: file)
            let isAlone = countsOwn ? try hasOneConnection(to: file) : true
            if isAlone && others.isEmpty { return }
            guard end.wait() else {
                throw DatabaseFileError(.busy(isAlone ? others : [thisProcess] + others), path: path)
            }
        }
    }

    /// Returns true if this process has one connection to the file, apart from the hold of a replacement.
    ///
    /// Descriptors also show connections that were opened without Coffer. While this process has a lock,
    /// SQLite keeps the descriptors of closed connections open, so descriptors say nothing about a file that
    /// stays locked.
    private static func hasOneConnection(to file: FileStatus) throws(DatabaseFileError) -> Bool {
        if let count = file.identity.connectionCountIfUnshared { return count <= 1 }
        return try ownDescriptorCount(of: file) <= 2
    }

    private static func descriptorCount(of file: FileStatus, process: String) throws(DatabaseFileError) -> Int
    {
        let folder = "/proc/\(process)/fd"
        return try names(in: folder).count { name in
            FileIdentity(known: "\(folder)/\(name)") == file.identity
        }
    }

    /// Returns the names in a folder of `/proc`, or none if it belongs to another user or no longer exists.
    private static func names(in folder: String) throws(DatabaseFileError) -> [String] {
        do throws(DatabaseFileError) { return try SystemFile.names(in: folder) } catch {
            guard case .inputOutput(_, let code) = error.reason, [EMFILE, ENFILE].contains(code) else {
                return []
            }
            throw error
        }
    }
}
