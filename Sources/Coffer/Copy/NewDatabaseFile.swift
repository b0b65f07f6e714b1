internal import SQLCipherBridge

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A database file in the making: it is written under another name in the same directory, and gets its own name once it is complete.
///
/// Nobody ever finds a part of it under its name, and nothing that is there is overwritten. A crash leaves the temporary file and a lock, which
/// hold nothing that the final form would not, and go when the same file is made the next time.
struct NewDatabaseFile {
    let path: String

    /// Where the file is until it is published. It exists, is empty, and is readable by its owner only.
    let temporaryPath: String

    private let lock: ReplacementNoteFile

    /// - Throws: `exists` if there is something at the path already, `busy` if somebody else is making the same file.
    init(path: String) throws(DatabaseFileError) {
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        self.path = path
        let directory = SystemFile.directory(of: path)
        let names = NewFileNames(path: path)
        guard try SystemFile.status(path) == nil else {
            NewDatabaseFile.removeLeftovers(names)
            throw DatabaseFileError(.exists, path: path)
        }
        if let errno = SystemFile.isWritable(directory: directory) {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: path)
        }
        lock = try NewDatabaseFile.lock(names, path)
        temporaryPath = names.temporary(run: UInt64.random(in: 0...(.max)))
        do throws(DatabaseFileError) {
            for leftover in try names.leftoverCopies() { try SystemFile.remove(leftover) }
            // The run that had the lock before may have come to its end.
            guard try SystemFile.status(path) == nil else { throw DatabaseFileError(.exists, path: path) }
            _ = try Descriptor.create(temporaryPath, mode: 0o600)
            try FailPoint.copyCreated.pass(path)
        } catch {
            discard()
            throw error
        }
    }

    private static func lock(_ names: NewFileNames, _ path: String) throws(DatabaseFileError) -> ReplacementNoteFile {
        do throws(DatabaseFileError) {
            return try ReplacementNoteFile.take(names.lock)
        } catch {
            throw DatabaseFileError(error.reason, path: path)
        }
    }

    /// What is beside a file that is complete, of a run that was interrupted at its very end.
    private static func removeLeftovers(_ names: NewFileNames) {
        guard (try? SystemFile.status(names.lock)) != nil, let lock = try? ReplacementNoteFile.take(names.lock) else { return }
        for leftover in (try? names.leftoverCopies()) ?? [] { try? SystemFile.remove(leftover) }
        try? lock.remove()
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// - Precondition: all connections to it are closed.
    /// - Throws: `exists` if there is something at the path by now.
    func publish() throws(DatabaseFileError) {
        for name in ReplacementNames.companions(of: temporaryPath) { try SystemFile.remove(name) }
        try Descriptor.open(temporaryPath).synchronize()
        try FailPoint.copySynchronized.pass(path)
        try SystemFile.renameExclusively(temporaryPath, to: path)
        do throws(DatabaseFileError) {
            try FailPoint.renamed.pass(path)
            try SystemFile.synchronize(directory: SystemFile.directory(of: path))
            try FailPoint.directorySynchronized.pass(path)
        } catch {
            // Nobody was told of it.
            try? SystemFile.remove(path)
            throw error
        }
        // A lock that stays is nobody's, and goes the next time.
        try? lock.remove()
    }

    /// Removes what was written, where the file was not published.
    func discard() {
        for name in [temporaryPath] + ReplacementNames.companions(of: temporaryPath) { try? SystemFile.remove(name) }
        try? lock.remove()
    }
}

extension SystemFile {
    /// Gives a file another name, which must be free.
    fileprivate static func renameExclusively(_ path: String, to newPath: String) throws(DatabaseFileError) {
        let code = ExclusiveRenaming.rename(path, to: newPath)
        switch code {
        case 0: return
        case EEXIST: throw DatabaseFileError(.exists, path: newPath)
        // The system, the file system or a sandbox does not have the call.
        case ENOSYS, EINVAL, EPERM, EOPNOTSUPP: break
        default: throw failure("renameat2", newPath, errno: code)
        }
        do throws(DatabaseFileError) {
            // A second name refuses to replace what is there; renaming would not.
            try link(path, to: newPath)
            try remove(path)
        } catch {
            guard case .inputOutput("link", let code) = error.reason, [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(code) else {
                throw error
            }
            try renameOverOwnFile(path, to: newPath)
        }
    }

    /// For file systems without second names: an empty file of ours takes the name first.
    private static func renameOverOwnFile(_ path: String, to newPath: String) throws(DatabaseFileError) {
        _ = try Descriptor.create(newPath, mode: 0o600)
        do throws(DatabaseFileError) {
            try rename(path, to: newPath)
        } catch {
            try remove(newPath)
            throw error
        }
    }
}
