internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Whether a file can be replaced at all: looked at before anything is opened or made.
struct ReplacementPreflight {
    let status: FileStatus
    let attributes: FileAttributes
    /// In bytes.
    let requiredSpace: Int64
    let availableSpace: Int64

    init(_ job: ReplacementJob) throws(DatabaseFileError) {
        let path = job.path
        guard !path.utf8.contains(0), !path.isEmpty else { throw DatabaseFileError(.missing, path: path) }
        let target = job.destination ?? path
        guard let status = try SystemFile.status(path) else { throw DatabaseFileError(.missing, path: path) }
        guard !status.isSymbolicLink else { throw DatabaseFileError(.unsafeFile(.symbolicLink), path: path) }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
        try ReplacementPreflight.checkLength(of: target, operation: job.operation)
        let directory = SystemFile.directory(of: target)
        if let errno = SystemFile.isWritable(directory: directory) {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: target)
        }
        let log = try SystemFile.status("\(path)-wal")?.size ?? 0
        requiredSpace = status.size + log + 1 << 16
        availableSpace = try SystemFile.availableSpace(directory)
        if job.destination == nil {
            try ReplacementPreflight.checkNames(status, job)
            attributes = try FileAttributes(of: path, status: status)
            guard attributes.canBeKeptByThisProcess else {
                throw DatabaseFileError(.unsafeFile(.owner(userID: status.userID, groupID: status.groupID)), path: path)
            }
        } else {
            guard try SystemFile.status(target) == nil else { throw DatabaseFileError(.exists, path: target) }
            attributes = FileAttributes.ofNewFile
        }
        guard availableSpace >= requiredSpace else { throw DatabaseFileError(.diskFull, path: target) }
        self.status = status
        if job.destination == nil && job.lentConnection == nil {
            try ReplacementPreflight.checkNobodyHasItOpen(status, job)
        }
    }

    /// What a work in the file itself needs to know before.
    @discardableResult
    static func checkInPlace(_ job: ReplacementJob) throws(DatabaseFileError) -> FileStatus {
        guard let status = try SystemFile.status(job.path) else { throw DatabaseFileError(.missing, path: job.path) }
        guard !status.isSymbolicLink else { throw DatabaseFileError(.unsafeFile(.symbolicLink), path: job.path) }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: job.path) }
        guard job.path.utf8.count + "-journal".utf8.count < 512 else { throw DatabaseFileError(.pathTooLong, path: job.path) }
        try checkNobodyHasItOpen(status, job)
        return status
    }

    /// Room for the longest name that is made beside the file, and for SQLite's limit on a path.
    private static func checkLength(of path: String, operation: ReplacementOperation) throws(DatabaseFileError) {
        let longest = ReplacementNames(path: path, operation: operation).copy(id: "00000000") + "-journal"
        guard SystemFile.name(of: longest).utf8.count <= 255, longest.utf8.count < 512 else {
            throw DatabaseFileError(.pathTooLong, path: path)
        }
    }

    private static func checkNames(_ status: FileStatus, _ job: ReplacementJob) throws(DatabaseFileError) {
        var count = status.linkCount
        if let kept = job.keepOldPath {
            if let there = try SystemFile.status(kept) {
                // An interrupted run has given the file this name, and will take it back.
                guard there.isSameFile(as: status), try hasNote(job) else { throw DatabaseFileError(.exists, path: kept) }
                count -= 1
            }
            let directory = SystemFile.directory(of: kept)
            guard let folder = try SystemFile.status(directory, followsLinks: true) else {
                throw DatabaseFileError(.missing, path: directory)
            }
            guard folder.device == status.device else {
                throw DatabaseFileError(.unsupported("The old file can be kept on the same file system only."), path: kept)
            }
            if let errno = SystemFile.isWritable(directory: directory) {
                throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: kept)
            }
        }
        if count > 1, try namesOfInterruptedRun(status, job) == 1 { count -= 1 }
        guard count == 1 else { throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: job.path) }
    }

    private static func hasNote(_ job: ReplacementJob) throws(DatabaseFileError) -> Bool {
        try SystemFile.status(ReplacementNames(path: job.path, operation: job.operation).note) != nil
    }

    /// How many other names the file has from a run that was to keep the old file under another path than this one.
    private static func namesOfInterruptedRun(_ status: FileStatus, _ job: ReplacementJob) throws(DatabaseFileError) -> Int {
        let note = ReplacementNoteFile.read(ReplacementNames(path: job.path, operation: job.operation).note)
        guard let kept = note?.keepOldPath, kept != job.keepOldPath else { return 0 }
        return try SystemFile.status(kept)?.isSameFile(as: status) == true ? 1 : 0
    }

    /// Asks the kernel who has the file open: SQLite's locks cannot tell of a connection that is idle.
    private static func checkNobodyHasItOpen(_ status: FileStatus, _ job: ReplacementJob) throws(DatabaseFileError) {
        let start = Date()
        while true {
            // First of all: with a descriptor of this process, the next lines would drop its locks.
            guard FileUsers.ownDescriptorCount(of: status) == 0 else {
                throw DatabaseFileError(.busy([FileUsers.thisProcess]), path: job.path)
            }
            let lease: Descriptor.Lease
            do throws(DatabaseFileError) {
                lease = try Descriptor.open(job.path).probeLease()
            } catch {
                // Whether it can be opened will be SQLite's to say.
                return
            }
            guard lease == .inUse else { return }
            let users = FileUsers.others(of: status)
            // A child of this process has our descriptors for a moment, until it becomes another program.
            let patience = max(job.lockTimeout, users.isEmpty ? 0.5 : 0)
            guard Date() < start + patience else { throw DatabaseFileError(.busy(users), path: job.path) }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}

extension FileAttributes {
    /// Of a file that this process makes for itself.
    static var ofNewFile: FileAttributes {
        FileAttributes(userID: geteuid(), groupID: getegid(), permissions: 0o600, extended: [:])
    }

    private init(userID: UInt32, groupID: UInt32, permissions: UInt32, extended: [String: [UInt8]]) {
        self.userID = userID
        self.groupID = groupID
        self.permissions = permissions
        self.extended = extended
    }
}
