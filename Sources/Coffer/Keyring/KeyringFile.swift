internal import Foundation
internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

/// The file of a keyring. Reads are bounded, creation never overwrites a file, and replacement is atomic and
/// durable.
///
/// After a power failure or a crash, there is either the old keyring or the new one. A process that changes
/// it holds the lock file next to it, so concurrent changes cannot undo each other.
struct KeyringFile {
    let path: String

    init(path: String) {
        self.path = path
    }

    /// The keyring of a database: its path, with symbolic links resolved, plus `.keys`.
    ///
    /// - Throws: `unreadable` if links cannot be followed: the keyring could be elsewhere.
    init(ofDatabase databasePath: String) throws(KeyError) {
        do throws(DatabaseFileError) {
            path = "\(try SystemFile.resolved(databasePath)).keys"
        } catch {
            path = "\(databasePath).keys"
            switch error.reason {
            // The database does not exist.
            case .missing, .inputOutput(_, ENOTDIR), .pathTooLong: break
            case .inputOutput(_, let code): throw problem(.unreadable(errno: code))
            case .unsupported(let words):
                throw .engine(EngineError(code: EngineCode.cantOpen, message: words))
            default: throw problem(.notAFile)
            }
        }
    }

    func isThere() throws(DatabaseFileError) -> Bool {
        // A name longer than 255 bytes cannot exist.
        guard SystemFile.name(of: path).utf8.count <= 255 else { return false }
        return try SystemFile.status(path) != nil
    }

    // MARK: - Reading

    /// Returns the bytes of the file.
    ///
    /// - Parameter isCut: true to return the beginning of a file that is too long for a keyring, one byte
    ///   more than the limit.
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
            // Reading one byte above the limit shows that the file has grown since.
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
    /// Anyone with a public key can seal a data key of their own to it, and later read everything written
    /// with that data key. So such a keyring is accepted only from this user and from the superuser, who can
    /// read the memory of this process anyway.
    ///
    /// - Parameter owner: another trusted user: the owner of the database that is to be replaced.
    /// - Throws: `ofAnotherUser`, `writableByOthers` or `hardLinks`; the errors of ``document()``.
    func trustedDocument(orOf owner: UInt32? = nil) throws(KeyError) -> KeyringDocument {
        // The status comes from the descriptor that was read.
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

    /// Checks that a keyring that was read earlier is trusted: see ``trustedDocument(orOf:)``.
    func checkIsTrusted(_ document: KeyringDocument, orOf owner: UInt32? = nil) throws(KeyError) {
        guard try trustedDocument(orOf: owner) == document else { throw problem(.changed) }
    }

    // MARK: - Writing

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - time: the time to wait for other processes that create or change it, in seconds.
    ///   - place: the path that determines the names of notes, if the next run creates a file with a
    ///     different name.
    ///   - keepsNote: true to leave the note, for ``isBeingMade``.
    /// - Throws: `exists` if there is a file of this name.
    func make(
        _ content: [UInt8], waiting time: TimeInterval = 0, notedAs place: String? = nil,
        keepsNote: Bool = false
    ) throws {
        var target = NewFilePlace(path: place ?? path, isOfKeyring: true)
        if place != nil { target.name = { [path] _ in path } }
        let file = try whileBusy(for: time) { [target] in
            try NewDatabaseFile.begin(target, isPlaintext: false)
        }
        let code = file.file.write(content.span, at: 0)
        guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        try file.published(keepingNote: keepsNote)
    }

    /// Replaces the content by the result of `change`, atomically. The file's owner, mode and other
    /// attributes are kept.
    ///
    /// - Parameters:
    ///   - time: see ``changing(waiting:isCut:_:)``.
    ///   - isCut: see ``changing(waiting:isCut:_:)``.
    /// - Throws: `changeUnderWay`; the error of `change`. The file is unchanged then, unless
    ///   ``DatabaseFileError/isPublished`` is true.
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

    /// Locks the file, and calls `body` with its content and a function that atomically replaces it.
    ///
    /// - Parameters:
    ///   - time: the time to wait for other changes of the file to finish, in seconds.
    ///   - isCut: true if the file may be too long for a keyring: see ``bytes(isCut:)``.
    ///   - mark: returns the content of the note while the file is locked, for the content of the file: see
    ///     ``adoptionMark``. Nil leaves the note of an interrupted run unchanged.
    ///   - staysInMaking: returns true if the database of the keyring is still to be made: the note stays
    ///     then if it says so.
    /// - Throws: `changeUnderWay` if the lock is not released in time; the error of `body`.
    func changing<Result>(
        waiting time: TimeInterval, isCut: Bool = false,
        mark: (_ content: [UInt8]) throws -> ReplacementNote? = { _ in nil },
        staysInMaking: (Result) -> Bool = { _ in false },
        _ body: ([UInt8], (_ content: [UInt8]) throws -> Void) throws -> Result
    ) throws -> Result {
        let names = NewFileNames(path: path)
        // Check that the file can be read before creating a note.
        _ = try bytes(isCut: isCut)
        try SystemFile.checkIsWritable(directoryOf: path)
        let note = try whileBusy(for: time) { try names.takeNote() }.cleared()
        do {
            let content = try bytes(isCut: isCut)
            if let mark = try mark(content) { try note.write(mark) }
            let result = try body(content) { new in try replace(by: new, note, names) }
            if !(isBeingMade && staysInMaking(result)) { try? note.remove() }
            return result
        } catch {
            if !(isBeingMade && (try? isThere()) == true) { try? note.remove() }
            throw error
        }
    }

    private static let adoption = "adopt"

    /// Returns a mark for the time in which a restore makes the first database of the keyring.
    static func newAdoptionMark() -> ReplacementNote { ReplacementNote(nil, id: .random(), step: adoption) }

    /// The mark of a restore that is making the first database of the keyring, or was killed.
    var adoptionMark: ReplacementNote? {
        NoteFile.read(NewFileNames(path: path).lock).flatMap { $0.step == Self.adoption ? $0 : nil }
    }

    /// Returns a mark for the time in which a database gets the data key of a new keyring.
    static func newMakingMark() -> ReplacementNote {
        ReplacementNote(nil, id: .random(), step: NewFilePlace.stepOfKeyring)
    }

    /// True if a run is creating the keyring and its database, or was killed. Its note exists from before the
    /// keyring gets its name until the end of the run, and stays after a kill.
    var isBeingMade: Bool {
        guard let note = NoteFile.read(NewFileNames(path: path).lock) else { return false }
        return note.step == NewFilePlace.stepOfKeyring || note.step == Self.adoption
    }

    /// Calls `take` until it gets its lock, or until the time is over because another process or thread holds
    /// it.
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
        let attributes = try FileAttributes(toKeepOf: path, status: status)
        let run = RunIdentifier.random()
        try note.write(ReplacementNote(nil, id: run, step: "copy"))
        let new = try note.makeCopy(names.temporary(run))
        do {
            try FailPoint.copyCreated.pass(path)
            let code = new.write(content.span, at: 0)
            guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
            try new.apply(attributes)
            try new.synchronize()
            try FailPoint.copySynchronized.pass(path)
            try new.takeName(attributes: attributes)
            guard try SystemFile.status(path) == status else { throw problem(.changed) }
            try SystemFile.rename(new.path, to: path)
        } catch {
            new.removeName(new.path)
            throw error
        }
        do {
            try FailPoint.renamed.pass(path)
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.directorySynchronized.pass(path)
        } catch {
            // A power loss may still bring the former content back.
            throw DatabaseFileError.published(error, path: path)
        }
    }

    /// Throws if the file cannot be destroyed.
    ///
    /// - Parameter content: the content of the file, or its beginning.
    /// - Returns: the status of the file.
    /// - Throws: an error if the file is not a keyring, or has other names, which would lose their content
    ///   too.
    @discardableResult
    func checkCanBeDestroyed(_ content: [UInt8]) throws -> FileStatus {
        let status = try SystemFile.regularFile(path)
        guard status.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path)
        }
        guard content.count <= KeyringText.limit,
            KeyringFile.isKeyringOrRemains(content) || KeyringFile.isPartlyOverwritten(content)
        else {
            throw DatabaseFileError(
                .unsupported("This is not a keyring. Nothing was destroyed. Inspect it, and move it away."),
                path: path)
        }
        return status
    }

    /// Returns true for a keyring, for a damaged one in which the title of a copy remains, and for one that
    /// was overwritten with zeros.
    ///
    /// - Parameter content: the content of the file, or its beginning.
    static func isKeyringOrRemains(_ content: [UInt8]) -> Bool {
        let title = Array(KeyringText.title.utf8)
        return content.allSatisfy { $0 == 0 }
            || content.indices.contains { content[$0...].starts(with: title) }
    }

    /// Returns true if some sectors are zeros, and the others have text: a power loss while a keyring was
    /// overwritten may leave this.
    private static func isPartlyOverwritten(_ content: [UInt8]) -> Bool {
        let sectors = stride(from: 0, to: content.count, by: 512).map {
            content[$0..<min($0 + 512, content.count)]
        }
        let texts = sectors.filter { sector in !sector.allSatisfy { $0 == 0 } }
        return texts.count < sectors.count
            && texts.allSatisfy { sector in
                sector.allSatisfy { $0 == UInt8(ascii: "\n") || $0 >= UInt8(ascii: " ") && $0 != 0x7f }
            }
    }

    /// Overwrites and removes the file while its lock is held: see ``changing(waiting:isCut:_:)``.
    ///
    /// - Parameter content: the content of the file, or its beginning.
    /// - Throws: `replaced` if the path leads to another file by now; `changed` if the content differs.
    func destroy(_ content: [UInt8]) throws {
        let status = try checkCanBeDestroyed(content)
        let directory = try SystemFile.openDirectory(of: path)
        let file = try FileDescriptor.openNote(path, forWriting: true)
        try file.checkIsOnly(status)
        guard try file.read(at: 0, count: KeyringText.limit + 1) == content else { throw problem(.changed) }
        try file.writeBeginning([UInt8](repeating: 0, count: max(content.count, 1)))
        try SystemFile.remove(path)
        try directory.synchronize()
    }
}

extension Result {
    /// True for an error.
    var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
