internal import SQLCipherBridge
internal import SystemCalls

/// The file of a copy, next to the file that it is to replace. It is removed at the end of this value's life,
/// unless it has taken that place.
struct CopyFile: ~Copyable {
    let file: HeldFile
    private var hasItsPlace = false

    init(_ examined: ExaminedFile, _ note: borrowing RunNote) throws(DatabaseFileError) {
        file = try note.makeCopy(examined.names, isPlaintext: examined.job.after.ring == nil)
    }

    deinit {
        if !hasItsPlace { file.removeName(file.path) }
    }

    /// Writes the content of the source into the file.
    func write(from source: ConnectionHandle, _ examined: ExaminedFile) throws -> any ContentProof {
        let job = examined.job
        do {
            return try job.method.copy(source, to: file, job.change, examined.progress)
        } catch let error as EngineError {
            // Find out whether the source could not be read.
            try PageFile(source, job.before).checkIsUndamaged(job.path)
            throw error
        }
    }

    /// Opens the copy again, and proves that it has the content of the source, and that only the new key
    /// opens it.
    func prove(_ content: any ContentProof, against source: ConnectionHandle, _ examined: ExaminedFile) throws
        -> CopyProof
    {
        let (job, change, progress) = (examined.job, examined.job.change, examined.progress)
        let copy = try change.openCopy(file)
        let proved = try content.prove(copy.handle, in: file, against: source, change, progress)
        let proof = try CopyProof(of: copy.handle, proved, against: source, change, progress)
        let hasOldKey = !job.keepsKey && (job.before.ring != nil || job.after.ring != nil)
        guard try !hasOldKey || !(proved.isOldKeyAccepted ?? job.before.opens(viewing: file)) else {
            throw DatabaseFileError(.copyRejected("the old key opens it, too"), path: job.path)
        }
        try FailPoint.verified.pass(job.path)
        return proof
    }

    /// Renames the copy over the file. If this throws, the file has not been replaced.
    mutating func takePlace(of examined: ExaminedFile) throws(DatabaseFileError) {
        try file.takeName(attributes: examined.attributes)
        do throws(DatabaseFileError) {
            try SystemFile.rename(file.path, to: examined.path)
        } catch {
            // Over a network, the rename may succeed but its reply may be lost.
            guard try file.hasName(examined.path) else { throw error }
        }
        hasItsPlace = true
    }
}

/// The stage with a copy that has all content but is not yet proved.
struct StagedCopy: ~Copyable {
    let copy: CopyFile
    let content: any ContentProof
    let quiesced: QuiescedFile

    /// Proves the copy. There is no other way to a ``ProvedCopy``.
    consuming func proved() throws -> ProvedCopy {
        let proof = try copy.prove(content, against: quiesced.source.reader, quiesced.noted.opened.examined)
        return ProvedCopy(proof, staged: self)
    }
}

/// The stage with a proved copy: the only stage that can be published.
struct ProvedCopy: ~Copyable {
    private let proof: CopyProof
    private var copy: CopyFile
    private var quiesced: QuiescedFile

    fileprivate init(_ proof: CopyProof, staged: consuming StagedCopy) {
        self.proof = proof
        copy = staged.copy
        quiesced = staged.quiesced
    }

    /// Makes the copy permanent, and puts it in the place of the file in one step. If this throws, everything
    /// is rolled back.
    consuming func published() throws -> PublishedFile {
        let examined = quiesced.noted.opened.examined
        try examined.progress(.publishing, 0, of: 1)
        try copy.file.apply(examined.attributes)
        try copy.file.synchronize()
        // The note's step is only for people to read, so accesses of a pool do not wait for it.
        if !examined.job.followsLog { try quiesced.noted.note.write(step: "publish") }
        try FailPoint.copySynchronized.pass(examined.path)
        // A process that has opened the file since it was quiesced would write into a file without a name.
        // The check is not needed if only the writer holds a lock: the writer spoils the old file before it
        // releases that lock.
        if !examined.job.followsLog || examined.keptPath != nil {
            try FileUsers.waitForNoneElse(
                of: examined.status, examined.path, timeout: examined.job.lockTimeout, countsOwn: false)
        }
        try quiesced.source.checkCanBeReplaced(removingSideFiles: examined.job.followsLog)
        let identity = try copy.file.status().identity
        try examined.checkIsSameFile()
        if let path = examined.keptPath {
            var kept = try KeptName.give(path, to: examined.status, at: examined.path)
            try FailPoint.oldKept.pass(examined.path)
            try copy.takePlace(of: examined)
            kept.keep()
        } else {
            try copy.takePlace(of: examined)
        }
        // Nothing throws from here on.
        quiesced.source.didReplace()
        quiesced.noted.note.keep()
        return PublishedFile(
            proof, examined, copy: copy.file, identity: identity, note: quiesced.noted.note,
            source: quiesced.source, connection: quiesced.noted.opened.connection)
    }
}
