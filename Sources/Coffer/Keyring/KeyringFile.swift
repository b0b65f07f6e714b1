internal import Foundation
internal import SQLCipherBridge

internal import Glibc

/// The file of a keyring: read with a bound, made without ever overwriting one, and replaced whole and
/// durably.
///
/// A loss of power or a kill leaves the old keyring or the new one. Who changes it has the lock beside it, so
/// that two processes do not take each other's change back.
struct KeyringFile {
    let path: String

    // MARK: - Reading

    /// The bytes of the file.
    ///
    /// - Parameter isCut: whether of a file that is too long for a keyring its beginning is returned, by one
    ///   byte longer than a keyring can be.
    /// - Throws: ``KeyError`` with a ``EncryptionFailure/KeyringProblem``.
    func bytes(isCut: Bool = false) throws(KeyError) -> [UInt8] { try content(isCut: isCut).bytes }

    private func content(isCut: Bool) throws(KeyError) -> (bytes: [UInt8], status: FileStatus) {
        do throws(DatabaseFileError) {
            let file = try FileDescriptor.openNote(path, forWriting: false)
            let status = try file.status()
            guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
            guard isCut || status.size <= Int64(KeyringText.limit) else {
                throw DatabaseFileError(.unsupported("\(status.size)"), path: path)
            }
            // One byte more shows that the file has grown meanwhile.
            return (try file.read(at: 0, count: KeyringText.limit + 1), status)
        } catch {
            throw problem(Self.meaning(of: error.reason))
        }
    }

    private static func meaning(of reason: DatabaseFileError.Reason) -> EncryptionFailure.KeyringProblem {
        switch reason {
        case .inputOutput(_, ENOENT), .inputOutput(_, ENOTDIR): .missing
        case .inputOutput(_, let code): .unreadable(errno: code)
        case .unsupported(let size): .tooLong(size: Int64(size) ?? 0)
        case .pathTooLong: .unreadable(errno: ENAMETOOLONG)
        default: .notAFile
        }
    }

    func document() throws(KeyError) -> (document: KeyringDocument, damage: [KeyringDamage]) {
        try document(of: bytes())
    }

    func document(of bytes: [UInt8]) throws(KeyError) -> (document: KeyringDocument, damage: [KeyringDamage])
    {
        do throws(KeyringReadingError) {
            return try KeyringText.read(bytes)
        } catch {
            switch error {
            case .problem(let problem): throw self.problem(problem)
            case .cryptography(let failure): throw KeyError(failure)
            }
        }
    }

    func problem(_ problem: EncryptionFailure.KeyringProblem) -> KeyError {
        .failure(.keyring(path: path, problem))
    }

    /// Reads a keyring that no page of a database confirms.
    ///
    /// Anyone who knows a public key can seal a data key of their own to it, and later read what is written
    /// with that data key. So such a keyring is taken only from this user and from the superuser, who can
    /// read the memory of this process anyway.
    ///
    /// - Parameter owner: another user who is trusted: the one whose database is to be replaced.
    /// - Throws: `ofAnotherUser`, `writableByOthers` or `hardLinks`; what ``document()`` throws.
    func trustedDocument(orOf owner: UInt32? = nil) throws(KeyError) -> KeyringDocument {
        // The status is that of the descriptor that was read.
        let (bytes, status) = try content(isCut: false)
        guard status.isOwn || status.userID == 0 || status.userID == owner else {
            throw problem(.ofAnotherUser(userID: status.userID))
        }
        guard status.permissions & 0o022 == 0 else {
            throw problem(.writableByOthers(mode: status.permissions))
        }
        guard status.linkCount == 1 else { throw problem(.hardLinks(count: status.linkCount)) }
        return try document(of: bytes).document
    }

    /// Checks that a keyring that was read is the one of ``trustedDocument(orOf:)``.
    func checkIsTrusted(_ document: KeyringDocument, orOf owner: UInt32? = nil) throws(KeyError) {
        guard try trustedDocument(orOf: owner) == document else { throw problem(.changed) }
    }

    // MARK: - Writing

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - time: how long to wait for others who make or change it, in seconds.
    ///   - place: the path that stands for the file in the names of notes, where the next run makes a file of
    ///     another name.
    /// - Throws: `exists` where there is something of its name.
    func make(_ content: [UInt8], waiting time: TimeInterval = 0, notedAs place: String? = nil) throws {
        var target = NewFilePlace(path: place ?? path)
        if place != nil { target.name = { [path] _ in path } }
        let file = try whileBusy(for: time) { [target] in
            try NewDatabaseFile.begin(target, isPlaintext: false)
        }
        let code = file.file.write(content.span, at: 0)
        guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        try file.published()
    }

    /// Replaces the file by what `change` makes of it, in one step. Its owner, its mode and its other
    /// attributes stay.
    ///
    /// - Parameters:
    ///   - time: see ``changing(waiting:isCut:_:)``.
    ///   - isCut: see there.
    /// - Throws: `changeUnderWay`; what `change` throws. The file is as it was then.
    func replace<Result>(
        waiting time: TimeInterval, isCut: Bool = false,
        _ change: ([UInt8]) throws -> (content: [UInt8], result: Result)
    ) throws -> Result {
        try changing(waiting: time, isCut: isCut) { old, write in
            let (content, result) = try change(old)
            try write(content)
            return result
        }
    }

    /// Has the file for this process alone, and gives `body` its content and what replaces it, each time in
    /// one step.
    ///
    /// - Parameters:
    ///   - time: how long to wait for others who change the file, in seconds.
    ///   - isCut: whether the file may be too long for a keyring: see ``bytes(isCut:)``.
    /// - Throws: `changeUnderWay` where others have it for longer; what `body` throws.
    func changing<Result>(
        waiting time: TimeInterval, isCut: Bool = false,
        _ body: ([UInt8], (_ content: [UInt8]) throws -> Void) throws -> Result
    ) throws -> Result {
        let names = NewFileNames(path: path)
        // What is missing needs no note.
        _ = try bytes(isCut: isCut)
        try SystemFile.checkIsWritable(directoryOf: path)
        let note = try whileBusy(for: time) { try NoteFile.take(names.lock, next: names.nextLock) }
        do {
            if let id = note.previous.flatMap({ RunIdentifier($0.id) }) {
                try SystemFile.remove(names.temporary(id))
            }
            let result = try body(try bytes(isCut: isCut)) { content in
                try replace(by: content, note, names)
            }
            try? note.remove()
            return result
        } catch {
            try? note.remove()
            throw error
        }
    }

    /// Calls `take` again as long as another process, or another thread, has the lock that it takes, and the
    /// time is not over.
    private func whileBusy<Lock: ~Copyable>(for time: TimeInterval, _ take: () throws -> Lock) throws -> Lock
    {
        let deadline = Deadline(after: time)
        while true {
            do {
                return try take()
            } catch let error as DatabaseFileError {
                guard case .busy = error.reason else { throw error }
                guard deadline.wait() else { throw problem(.changeUnderWay) }
            }
        }
    }

    private func replace(by content: [UInt8], _ note: NoteFile, _ names: NewFileNames) throws {
        let status = try SystemFile.regularFile(path)
        guard status.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path)
        }
        try FolderSafety(owner: status.userID).check(directoryOf: path)
        let attributes = try FileAttributes(of: path, status: status)
        guard attributes.canBeKeptByThisProcess else {
            throw DatabaseFileError(
                .unsafeFile(.owner(userID: status.userID, groupID: status.groupID)), path: path)
        }
        let run = RunIdentifier.random()
        try note.write(ReplacementNote(nil, id: run, step: "copy"))
        let new = try HeldFile(creating: names.temporary(run))
        do {
            try FailPoint.copyCreated.pass(path)
            let code = new.write(content.span, at: 0)
            guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
            try new.apply(attributes)
            try new.synchronize()
            try FailPoint.copySynchronized.pass(path)
            try new.checkName(new.path, attributes: attributes)
            guard try SystemFile.status(path) == status else { throw problem(.changed) }
            try SystemFile.rename(new.path, to: path)
        } catch {
            new.removeName(new.path)
            throw error
        }
        try FailPoint.renamed.pass(path)
        try SystemFile.synchronize(directoryOf: path)
        try FailPoint.directorySynchronized.pass(path)
    }

    /// Overwrites the content and removes the file.
    ///
    /// - Parameter time: how long to wait for others who change it, in seconds.
    /// - Throws: for what is no keyring, or has other names, which would be overwritten too.
    func destroy(waiting time: TimeInterval) throws {
        try changing(waiting: time, isCut: true) { content, _ in try destroy(content) }
    }

    /// Whether the file can be destroyed.
    ///
    /// - Parameter content: that of the file, whose beginning is enough.
    /// - Throws: see ``destroy(waiting:)``.
    func checkCanBeDestroyed(_ content: [UInt8]) throws {
        let status = try SystemFile.regularFile(path)
        guard status.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path)
        }
        // Also a damaged one: one of its copies begins so, or it is empty.
        let title = Array(KeyringText.title.utf8)
        guard
            content.isEmpty
                || content.count <= KeyringText.limit
                    && content.indices.contains(where: { content[$0...].starts(with: title) })
        else {
            throw DatabaseFileError(
                .unsupported("This is no keyring. Nothing was destroyed. Look at it, and move it away."),
                path: path)
        }
    }

    /// The same by who has the file already: see ``changing(waiting:isCut:_:)``.
    ///
    /// - Parameter content: that of the file.
    func destroy(_ content: [UInt8]) throws {
        try checkCanBeDestroyed(content)
        let file = try FileDescriptor.open(path, forWriting: true)
        try file.overwriteBeginning(with: [UInt8](repeating: 0, count: max(content.count, 1)))
        try SystemFile.remove(path)
        try SystemFile.synchronize(directoryOf: path)
    }
}
