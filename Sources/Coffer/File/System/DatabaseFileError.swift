/// The error of an operation on a database file.
///
/// Unless ``isPublished`` is true, the file is unchanged: its content, its key, and its journal mode. The one
/// exception is the reason ``Reason/keyUnknown(_:)``.
public struct DatabaseFileError: Error, Sendable, Equatable {
    /// The reason for the failure.
    public let reason: Reason

    /// The path that the reason refers to.
    public let path: String

    /// True if the file has its new content already, and only a later step has failed; or if an erasure has
    /// begun to overwrite the file. Running the operation again completes it.
    public internal(set) var isPublished = false

    /// The path of the old file if a restore has replaced it before the error.
    package internal(set) var keptOldPath: String?

    /// The reason why an operation was not done, or not completed.
    public enum Reason: Sendable, Equatable {
        /// The file does not exist.
        case missing
        /// The path of the result is taken.
        case exists
        /// The path does not lead to a regular file, or the file cannot be changed safely.
        case unsafeFile(UnsafeFile)
        /// The path is too long for the files that are made next to it.
        case pathTooLong
        /// The file is open elsewhere. The list has the processes that are visible to this user, and may be
        /// empty.
        case busy([FileUser])
        /// The key does not open the file, or is missing, or the cipher settings are wrong.
        case key(EncryptionFailure)
        /// The new key is the current key of the file.
        case sameKey
        /// The file is damaged. Page numbers start at 1; the list is empty if only the structure is damaged.
        case damaged(pages: [Int])
        /// The copy failed its check, and was discarded.
        case copyRejected(String)
        /// The file has no bytes: a database that was truncated to nothing, or one that was never written to.
        /// See ``DatabaseFile/VerificationOptions/allowsEmptyFile`` for verifications.
        case emptyFile
        /// The rows contradict the schema, such as two equal values in a unique column. The text is the
        /// engine's. Such a file cannot be copied.
        case inconsistent(String)
        /// The schema needs the application's collation, function, tokenizer, or module. The text is the
        /// engine's, such as `no such collation sequence: LOCALIZED - while copying by_name`. Provide
        /// collations and functions in ``DatabaseFile/ConversionOptions``. Backups and rotations copy pages,
        /// and do not need them.
        case missingDefinition(String)
        /// There is not enough disk space, now or for the expected size of the result.
        case diskFull
        /// A system call failed, with this name and `errno`.
        case inputOutput(call: String, errno: Int32)
        /// The engine failed in some other way.
        case engine(ResultCode, String)
        /// The operation is not possible for this file, or in this way.
        case unsupported(String)
        /// Accesses have changed more pages than could be copied: the write-ahead log became larger than
        /// ``DatabaseFile/WhileInUse/maximumLogSize``, or the copy was brought up to date too often. Nothing
        /// was changed.
        case outpaced(logSize: Int64)
        /// The function ``DatabaseFile/RotationOptions/audit`` failed to record the result.
        case auditFailed(String)
        /// The file could not be read after its key was changed in place, so it may have the old key or the
        /// new one. Keep both, and rotate again when the file can be read. The text is the reason.
        case keyUnknown(String)
        /// A function of the application, such as a preparation of the configuration or a key provider, has
        /// failed after the file got its new content. The text is its error.
        case applicationFailed(String)
    }

    /// The reason why a file is unsafe to replace.
    public enum UnsafeFile: Sendable, Hashable {
        /// The path is a symbolic link. Use the path that it leads to.
        case symbolicLink
        /// The path leads to a directory, a socket, or a device.
        case notARegularFile
        /// The file has other names, which would keep the old content.
        case hardLinks(count: Int)
        /// The file itself is a mount point, as made by `docker run -v file:file` and a Kubernetes `subPath`,
        /// and cannot be replaced by another file. Mount its folder instead. A key can also be rotated in
        /// place: see ``DatabaseFile/RotationOptions/Method/inPlace``.
        case mountPoint
        /// The file belongs to another user or group, which this process cannot give to a copy.
        case owner(userID: UInt32, groupID: UInt32)
        /// No file can be created in the directory.
        case directory(errno: Int32)
        /// The file, or the copy that was to replace it, was replaced by another one during the operation.
        case replaced
        /// Other users may rename files in the directory, and could put a file of theirs in the place of the
        /// result.
        case sharedDirectory
        /// There is something else at the path of the note of an interrupted run, which is neither trusted
        /// nor removed. It does not belong to this user alone (another owner, several names, or not a regular
        /// file), or it is not a note.
        case foreignNote
    }

    /// A process that has the file open.
    public struct FileUser: Sendable, Hashable {
        /// The process.
        public var processID: Int32
        /// Its name, if the system reports it.
        public var command: String?

        /// Creates a description of a process.
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

extension DatabaseFileError: InterruptibleError {
    var isInterruptionError: Bool { !isPublished && databaseError.isInterruptionError }

    /// The error as a ``DatabaseError``, for code that expects one.
    public var databaseError: DatabaseError {
        if case .key(let failure) = reason { return DatabaseError(encryptionFailure: failure) }
        let code: ResultCode =
            switch reason {
            case .missing, .exists, .unsafeFile, .pathTooLong: .SQLITE_CANTOPEN
            case .busy, .outpaced: .SQLITE_BUSY
            case .key(let failure): ResultCode(rawValue: failure.engineCode)
            case .damaged, .copyRejected, .emptyFile: .SQLITE_CORRUPT
            case .inconsistent: .SQLITE_CONSTRAINT
            case .missingDefinition, .applicationFailed: .SQLITE_ERROR
            case .diskFull: .SQLITE_FULL
            case .inputOutput, .auditFailed, .keyUnknown: .SQLITE_IOERR
            case .engine(let code, _): code
            case .unsupported, .sameKey: .SQLITE_MISUSE
            }
        return DatabaseError(resultCode: code, message: description)
    }
}
