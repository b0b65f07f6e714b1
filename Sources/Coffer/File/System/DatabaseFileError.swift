internal import SQLCipherBridge

/// Why something was not done to a database file.
///
/// Unless ``isPublished`` is true, the file is as it was before: its content, its key, and its journal mode.
public struct DatabaseFileError: Error, Sendable, Equatable {
    /// What went wrong.
    public let reason: Reason

    /// The path that the reason is about.
    public let path: String

    /// Whether the file has its new content already, so that only what follows has failed. Running the work
    /// again completes it.
    public internal(set) var isPublished = false

    /// Why the work was not done, or not completed.
    public enum Reason: Sendable, Equatable {
        /// There is no such file.
        case missing
        /// There is something at the path of the result.
        case exists
        /// The path leads to something else than a file, or cannot be worked on safely.
        case unsafeFile(UnsafeFile)
        /// The path is too long for the files that are made beside it.
        case pathTooLong
        /// Others have the file open: what was seen of them, which may be nothing.
        case busy([FileUser])
        /// The key does not open the file, or there is none, or the cipher settings are wrong.
        case key(EncryptionFailure)
        /// The new key is the one that the file has.
        case sameKey
        /// The file is damaged. Numbers start at 1; there are none when only the structure is.
        case damaged(pages: [Int])
        /// The copy was made, and is not what it must be. It was thrown away.
        case copyRejected(String)
        /// The file has no bytes: a database that was cut to nothing, or one that was never begun. See
        /// ``DatabaseFile/VerificationOptions/allowsEmptyFile`` for verifications.
        case emptyFile
        /// The rows contradict the schema, such as two equal values in a unique column: the engine's words.
        /// No copy can be made of them.
        case inconsistent(String)
        /// The schema needs a collation, a function, a tokenizer or a module of the application, in the
        /// engine's words, such as `no such collation sequence: LOCALIZED - while copying by_name`. Give
        /// collations and functions in ``DatabaseFile/ConversionOptions``. Backups and rotations copy pages,
        /// and do not need them.
        case missingDefinition(String)
        /// There is no room, neither now nor with what can be foreseen.
        case diskFull
        /// A call of the system failed, named with its `errno`.
        case inputOutput(call: String, errno: Int32)
        /// The engine failed in some other way.
        case engine(ResultCode, String)
        /// The work cannot be done to this file, or in this way.
        case unsupported(String)
        /// Accesses have changed more pages than could be copied: the write-ahead log became larger than
        /// ``DatabaseFile/WhileInUse/maximumLogSize``, or the copy was brought up to date too often. Nothing
        /// was changed.
        case outpaced(logSize: Int64)
        /// The result could not be noted where ``DatabaseFile/RotationOptions/audit`` said.
        case auditFailed(String)
    }

    /// What makes a file unsafe to replace.
    public enum UnsafeFile: Sendable, Hashable {
        /// The path is a symbolic link: name the file that it leads to.
        case symbolicLink
        /// The path leads to a directory, a socket or a device.
        case notARegularFile
        /// The file has other names, which would keep the old content.
        case hardLinks(count: Int)
        /// The file itself is a mount point, as `docker run -v file:file` and a Kubernetes `subPath` make
        /// one: no other file can take its place. Mount its folder; a key can also be rotated in the file
        /// itself, see ``DatabaseFile/RotationOptions/Method/inPlace``.
        case mountPoint
        /// The file belongs to another user or group, which a copy made by this process could not belong to.
        case owner(userID: UInt32, groupID: UInt32)
        /// No file can be made in the directory.
        case directory(errno: Int32)
        /// The file, or the copy that was to take its place, was replaced by another one while the work went
        /// on.
        case replaced
        /// Other users may rename files in the directory, and could put one of theirs in the place of the
        /// result.
        case sharedDirectory
        /// Where the note of an interrupted run would be, there is something else, which is neither believed
        /// nor removed: it is not this user's own (another owner, other names, or not a file), or no note.
        case foreignNote
    }

    /// A process that has the file open.
    public struct FileUser: Sendable, Hashable {
        /// The process.
        public var processID: Int32
        /// Its name, where the system says.
        public var command: String?

        /// Names a process.
        public init(processID: Int32, command: String?) {
            self.processID = processID
            self.command = command
        }
    }

    /// Creates an error, for programs that report their own failures in the same way.
    public init(_ reason: Reason, path: String) {
        self.reason = reason
        self.path = path
    }
}

extension DatabaseFileError {
    /// The error as code written for ``DatabaseError`` expects it.
    public var databaseError: DatabaseError {
        if case .key(let failure) = reason { return DatabaseError(encryptionFailure: failure) }
        let code: ResultCode =
            switch reason {
            case .missing, .exists, .unsafeFile, .pathTooLong: .SQLITE_CANTOPEN
            case .busy, .outpaced: .SQLITE_BUSY
            case .key(let failure): ResultCode(rawValue: failure.engineCode)
            case .damaged, .copyRejected, .emptyFile: .SQLITE_CORRUPT
            case .inconsistent: .SQLITE_CONSTRAINT
            case .missingDefinition: .SQLITE_ERROR
            case .diskFull: .SQLITE_FULL
            case .inputOutput, .auditFailed: .SQLITE_IOERR
            case .engine(let code, _): code
            case .unsupported, .sameKey: .SQLITE_MISUSE
            }
        return DatabaseError(resultCode: code, message: description)
    }
}
