public import Foundation
internal import Glibc
internal import SystemCalls

extension DatabaseFile {
    /// The outcome of erasing a file.
    public struct ErasureResult: Sendable, Hashable, Codable {
        /// The paths of the removed files.
        public var removedPaths: [String]

        /// The number of bytes that were overwritten at the beginnings of the files.
        public var overwrittenByteCount: Int

        /// The limits of the erasure, in words.
        public var limits: [String]
    }

    /// Makes a database unreadable, and removes it with all files that belong to it: its log, its journal,
    /// and the leftovers of interrupted operations.
    ///
    /// The beginning of each file, except notes, is overwritten and synced first: without the salt at the
    /// beginning, an encrypted database cannot be opened even with its key, unless the salt was kept
    /// elsewhere. See ``ErasureResult/limits`` for data that this does not reach.
    ///
    ///     try DatabaseFile(path: path).erase(confirming: "vault.db")
    ///
    /// - Parameters:
    ///   - name: the name of the file without its directory, as a confirmation.
    ///   - lockTimeout: the time to wait for other connections to be closed, in seconds.
    /// - Throws: a ``DatabaseFileError``, before anything is changed: `unsupported` if the name does not
    ///   match the file, `busy` if another connection or process has it open, `unsafeFile` for links and
    ///   files with several names.
    @discardableResult
    public func erase(confirming name: String, lockTimeout: TimeInterval = 0) throws -> ErasureResult {
        try erase(confirming: name, lockTimeout: lockTimeout, beforehand: {})
    }

    /// - Parameter prepare: called after all checks, with the database locked. If it throws, nothing is
    ///   changed.
    @discardableResult
    func erase(
        confirming name: String, lockTimeout: TimeInterval, beforehand prepare: () throws -> Void
    ) throws -> ErasureResult {
        let status = try checkCanErase(confirming: name)
        let place = try SystemFile.withoutLinks(path)
        guard place == path else {
            return try DatabaseFile(path: place).erase(
                confirming: name, lockTimeout: lockTimeout, beforehand: prepare)
        }
        try FileUsers.waitForNone(of: status, path, timeout: lockTimeout)
        try FileUsers.checkIsNotOpenHere(status, path)
        // From here on no other connection can start to use the file.
        let lock = try FileDescriptor.open(path, forWriting: true)
        try lock.checkIsOnly(status)
        guard lock.lockAsDatabase() else {
            throw FileUsers.busy(status, path)
        }
        // A process, or this one, may have opened the file before the lock was taken, and be waiting for it.
        try FileUsers.checkIsNotOpenHere(status, path)
        let users = try FileUsers.others(of: status)
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
        try NewDatabaseFile.removeKeptNames(of: path)
        let present = try erasedFiles()
        guard present.first?.status.isSameFile(as: status) == true else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        let directory = try SystemFile.openDirectory(of: path)
        try FailPoint.locked.pass(path)
        try prepare()
        // The database is overwritten first: after an interruption, the remaining files are useless without
        // it. It is removed last, and notes after the files that they name, so the next run finds the rest.
        // So notes, which have no secrets, keep their content.
        var (overwritten, hasBegun) = (0, false)
        let notes = ReplacementNames.notes(of: path)
        do {
            for file in present where !notes.contains(file.path) {
                overwritten += try DatabaseFile.overwriteBeginning(of: file, &hasBegun)
            }
            try FailPoint.rekeyed.pass(path)
            for file in present.reversed() {
                // Another file may have taken the name since then.
                guard try SystemFile.status(file.path)?.isSameFile(as: file.status) == true else { continue }
                try SystemFile.remove(file.path)
            }
            try directory.synchronize()
        } catch var error as DatabaseFileError {
            error.isPublished = hasBegun
            throw error
        }
        try FailPoint.directorySynchronized.pass(path)
        withExtendedLifetime(lock) {}
        return ErasureResult(
            removedPaths: present.map(\.path), overwrittenByteCount: overwritten,
            limits: DatabaseFile.erasureLimits)
    }

    /// Returns the paths of the files that ``erase(confirming:lockTimeout:)`` would remove. Nothing is
    /// changed.
    public func erasurePlan() throws -> [String] {
        _ = try checkCanErase(confirming: SystemFile.name(of: path))
        return try erasedFiles().map(\.path)
    }

    /// A file to erase, as it was examined by its name.
    private struct ErasedFile {
        let path: String
        let status: FileStatus
    }

    /// Returns the database, SQLite's files next to it, and the files that our notes name. A file with
    /// several names does not belong to this database alone, and stays.
    private func erasedFiles() throws(DatabaseFileError) -> [ErasedFile] {
        var result: [ErasedFile] = []
        for path in try [path] + ReplacementNames.companions(of: path) + ReplacementNames.leftovers(of: path)
        {
            if let status = try SystemFile.status(path), status.isRegular, status.linkCount == 1 {
                result.append(ErasedFile(path: path, status: status))
            }
        }
        return result
    }

    private func checkCanErase(confirming name: String) throws(DatabaseFileError) -> FileStatus {
        let status = try SystemFile.regularFile(path)
        guard name == SystemFile.name(of: path) else {
            throw DatabaseFileError(
                .unsupported(
                    "The confirmation does not match the name of the file. Nothing was erased."),
                path: path)
        }
        guard status.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path)
        }
        try SystemFile.checkIsNoMountPoint(path)
        try SystemFile.checkIsWritable(directoryOf: path)
        // The system does not tell other users whether a program has the file open.
        guard status.isOwn || geteuid() == 0 else {
            throw DatabaseFileError(
                .unsupported(
                    "The file belongs to another user, whose programs may have it open. Only that user, or "
                        + "the superuser, can erase it."), path: path)
        }
        return status
    }

    /// Overwrites the salt, the header, and the first pages with random bytes, which look the same as
    /// encrypted content.
    ///
    /// - Parameter hasBegun: set to true before the first byte is written.
    /// - Throws: `unsafeFile(.replaced)` if the path leads to another file by now, which is not touched.
    private static func overwriteBeginning(of erased: ErasedFile, _ hasBegun: inout Bool) throws -> Int {
        try FileUsers.checkIsNotOpenHere(erased.status, erased.path)
        let file = try FileDescriptor.open(erased.path, forWriting: true)
        try file.checkIsOnly(erased.status)
        let size = Int(try file.status().size)
        // A process that waits for an empty file must not make a database of it.
        let count = size == 0 ? 512 : min(size, 1 << 16)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
        hasBegun = true
        try file.writeBeginning(bytes)
        return min(count, size)
    }

    private static let erasureLimits = [
        "Copies, snapshots and backups of the file are not erased.",
        "Copy-on-write file systems and flash memory may keep the old blocks, which are encrypted unless the "
            + "file was not.",
        "Only the beginning was overwritten. Blocks that remain can be read with the key and a kept copy of "
            + "the salt.",
    ]
}
