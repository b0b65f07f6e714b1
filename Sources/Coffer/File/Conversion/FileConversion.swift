internal import Foundation
internal import SQLCipherBridge

/// The conversion of a closed file, or the copy of a file that others may use.
struct FileConversion {
    let operation: ReplacementOperation
    let path: String

    /// A new file for the result; nil to take the place of the file.
    let destination: String?
    let before: FileProtection
    let after: FileProtection
    let options: DatabaseFile.ConversionOptions

    /// Whether pages are copied as they are.
    var copiesPages = false

    func run(progress: ProgressReport) throws -> DatabaseFile.ConversionResult {
        let start = ContinuousClock.now
        return try FileConversion.make(path: path) {
            if let destination { return try copy(to: destination, progress: progress, since: start) }
            return try replace(progress: progress, since: start)
        }
    }

    /// Runs `body`, and throws its errors as users of files know them.
    static func make<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    /// What the schema of the file may need.
    private func prepare(_ connection: ConnectionHandle) throws {
        for function in DatabaseFunction.standardFunctions + options.functions { try function.install(on: connection) }
        for collation in DatabaseCollation.standardCollations + options.collations { try collation.install(on: connection) }
    }

    private func seconds(since start: ContinuousClock.Instant) -> TimeInterval {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}

// MARK: - Into another file

extension FileConversion {
    private func copy(
        to destination: String, progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        try progress(.copying, 0, of: 0)
        try FileConversion.checkIsFile(path)
        return try FileConversion.reading(path, before, timeout: options.lockTimeout) { source in
            guard try source.fileSize() != 0 else { throw DatabaseFileError(.emptyFile, path: path) }
            try prepare(source)
            let file = ContentFile(
                protection: after, plaintextPageSize: try source.integer(pragma: "page_size"), copiesPages: copiesPages,
                prepare: prepare, progress: { phase, done, total in try progress(phase, done, of: total) })
            let made = try tellingDamage { try file.make(from: source, at: destination) }
            let header = try FileHeader(source)
            let material = try before.material(fileSalt: header.salt)
            let salt = material.map { $0.salt ?? header.salt }
            let proof = DatabaseFile.ConversionProof(
                pageCount: made.pageCount, pageSize: made.pageSize, tableCount: made.fingerprint.tables.count,
                rowCount: made.fingerprint.rowCount, saltBefore: salt?.hexadecimal, saltAfter: made.salt?.hexadecimal,
                contentDigest: try KeyedDigest.text(of: made.fingerprint.hash.hexadecimal, after: made.material, before: material),
                oldKeyID: try material.map { try KeyIdentifier.text(of: $0, salt: salt ?? []) }, newKeyID: made.keyID)
            return DatabaseFile.ConversionResult(
                isChanged: true, isResumed: false, proof: proof, path: destination, keptOldPath: nil, duration: seconds(since: start))
        }
    }

    /// Finds out whether it is damage that keeps the source from being read, and where: the engine's own words say little.
    private func tellingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as EngineError
            where [EngineCode.error, EngineCode.corrupt, EngineCode.notADatabase, EngineCode.ioError].contains(error.primaryCode)
        {
            var verification = DatabaseFile.VerificationOptions()
            verification.lockTimeout = options.lockTimeout
            let verifier = FileVerifier(path: path, options: verification, progress: ProgressReport(nil))
            guard let found = try? verifier.damagedPages(before), found.isDamaged else { throw error }
            throw DatabaseFileError(.damaged(pages: found.pages), path: path)
        }
    }

    static func checkIsFile(_ path: String) throws(DatabaseFileError) {
        guard !path.isEmpty, !path.utf8.contains(0), let status = try SystemFile.status(path, followsLinks: true) else {
            throw DatabaseFileError(.missing, path: path)
        }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
        try ExaminedFile.checkIsNotEmpty(path, status)
    }

    private static func hasLog(_ path: String) throws(DatabaseFileError) -> Bool { try SystemFile.status("\(path)-wal") != nil }

    /// Calls `body` with a connection that leaves the file as it is, but for what a process has left that ended in the middle.
    static func reading<Result>(
        _ path: String, _ protection: FileProtection, timeout: TimeInterval, keepingLog: Bool? = nil,
        _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        let hadLog = try keepingLog ?? hasLog(path)
        var connection: EngineConnection
        do {
            // Only a connection that may write can play back a journal, and remove the log that it has to make.
            connection = try protection.open(path, timeout: timeout)
        } catch KeyError.engine(let error) where [EngineCode.readOnly, EngineCode.cantOpen].contains(error.primaryCode) {
            connection = try protection.open(path, flags: .readOnly, timeout: timeout)
        }
        // Who finds a log leaves it: the last one to close would bring it into the file.
        connection.checkpointsAtEnd = !hadLog
        try connection.handle.execute("PRAGMA query_only = 1")
        return try body(connection.handle)
    }
}

// MARK: - In place

extension FileConversion {
    private func replace(progress: ProgressReport, since start: ContinuousClock.Instant) throws -> DatabaseFile.ConversionResult {
        let source = SourceFingerprint()
        var job = job(source)
        if let audit = options.audit {
            job.audit = { proof in try audit(result(ReplacementResult(isChanged: true, isResumed: false, proof: proof), source, start)) }
        }
        return try result(FileReplacement(job, progress: progress).run(), source, start)
    }

    private func result(
        _ result: ReplacementResult, _ source: SourceFingerprint, _ start: ContinuousClock.Instant
    ) -> DatabaseFile.ConversionResult {
        let proof = result.proof.map { proof in
            DatabaseFile.ConversionProof(
                pageCount: proof.pageCount, pageSize: proof.pageSize, tableCount: source.fingerprint?.tables.count ?? 0,
                rowCount: source.fingerprint?.rowCount ?? 0, saltBefore: proof.saltBefore?.hexadecimal,
                saltAfter: proof.saltAfter?.hexadecimal, contentDigest: proof.contentDigest, oldKeyID: proof.oldKeyID,
                newKeyID: proof.newKeyID)
        }
        return DatabaseFile.ConversionResult(
            isChanged: result.isChanged, isResumed: result.isResumed, proof: proof, path: path,
            keptOldPath: result.isChanged ? options.keepOldPath : nil, duration: seconds(since: start))
    }

    /// What the copy found in the source, for the comparison that follows.
    private final class SourceFingerprint {
        var fingerprint: ContentFingerprint?
    }

    private func job(_ source: SourceFingerprint) -> ReplacementJob {
        var job = ReplacementJob(
            operation: operation, path: path, before: before, after: after, lockTimeout: options.lockTimeout,
            keepOldPath: options.keepOldPath, makeCopy: { source.fingerprint = try makeCopy($0) },
            compare: { CopyComparison(digest: try compare($0, with: source.fingerprint)) })
        job.keepsKey = operation == .vacuum
        return job
    }

    private func makeCopy(_ work: CopyWork) throws -> ContentFingerprint {
        var connection = try work.openCopy()
        let copy = connection.handle
        do {
            try prepare(work.source)
            let pageSize = after.ring == nil ? try work.source.integer(pragma: "page_size") : nil
            let fingerprint = try ContentFile.copyContent(
                from: work.source, to: copy, pageSize: pageSize, prepare: prepare,
                progress: { phase, done, total in
                    try FailPoint.copying.pass(work.path)
                    try work.progress(phase, done, of: total)
                })
            let code = connection.close()
            guard code == EngineCode.ok else { throw EngineError(code: code, message: "The copy could not be closed") }
            return fingerprint
        } catch {
            let isFull = ContentFile.isFull(error, systemError: copy.lastSystemError)
            throw isFull ? DatabaseFileError(.diskFull, path: work.path) : error
        }
    }

    private func compare(_ work: ComparisonWork, with source: ContentFingerprint?) throws -> String {
        try prepare(work.copy)
        let total = try Int(work.copy.integer(pragma: "page_count"))
        let rowCount = max(1, source?.rowCount ?? 1)
        try work.progress(.verifying, 0, of: total)
        var rows = 0
        let copy = try ContentFingerprint(of: work.copy) {
            rows += ContentFingerprint.rowsBetweenCheckpoints
            try work.progress(.verifying, min(total, total * rows / rowCount), of: total)
        }
        if let difference = source?.difference(from: copy) ?? (source == nil ? "everything" : nil) {
            throw DatabaseFileError(.copyRejected("it differs in \(difference)"), path: work.path)
        }
        try work.progress(.verifying, total, of: total)
        return try copy.hash.hexadecimal
    }
}

// MARK: - Looking before

extension FileConversion {
    /// The format of a file.
    struct Format {
        /// From 1 to 4, where 4 stands for the settings that the file is to have.
        let number: Int
        /// The settings of a file of an older format.
        let settings: CipherSettings

        init(_ number: Int, _ settings: CipherSettings? = nil) {
            self.number = number
            // Where the file has its new format, no older one opens it, which is how the run finds out that it is done.
            self.settings = settings ?? .sqlcipher(format: min(number, 3))
        }
    }

    /// Finds out the format of a file.
    static func format(of path: String, key: DatabaseKey, newKey: DatabaseKey?, newCipher: CipherSettings) throws -> Format {
        try checkIsFile(path)
        let hadLog = try hasLog(path)
        let format = try findFormat(of: path, key: key, newKey: newKey, newCipher: newCipher)
        // The connections that tried may have made a log, which one that knows the key takes away again.
        if !hadLog, format.number < 4 {
            try reading(path, .encrypted(key, cipher: format.settings), timeout: 0, keepingLog: false) { _ in }
        }
        return format
    }

    private static func findFormat(of path: String, key: DatabaseKey, newKey: DatabaseKey?, newCipher: CipherSettings) throws -> Format {
        do {
            try reading(path, .encrypted(newKey ?? key, cipher: newCipher), timeout: 0) { _ in }
            return Format(4)
        } catch KeyError.encryption(.olderFormat(let number), _) where newKey == nil {
            return Format(number)
        } catch KeyError.encryption(.otherSettings(let settings), _) where newKey == nil {
            return Format(2, settings)
        } catch KeyError.encryption(let failure, let code) {
            guard newKey != nil else { throw KeyError.encryption(failure, code: code) }
        }
        do {
            try reading(path, .encrypted(key, cipher: .sqlcipher(format: 4)), timeout: 0) { _ in }
        } catch KeyError.encryption(.olderFormat(let number), _) {
            return Format(number)
        } catch KeyError.encryption(.otherSettings(let settings), _) {
            return Format(2, settings)
        }
        throw DatabaseFileError(.unsupported("The file has format 4 already. Rotate its key to give it another one."), path: path)
    }

    func plan() throws -> DatabaseFile.ConversionPlan {
        try FileConversion.make(path: path) {
            try FileConversion.checkIsFile(path)
            var isAlreadyDone = false
            do {
                try FileConversion.reading(path, before, timeout: options.lockTimeout) { _ in }
            } catch KeyError.encryption(let failure, let code) {
                guard destination == nil, try after.opens(path) else { throw KeyError.encryption(failure, code: code) }
                isAlreadyDone = true
            }
            let room: CopyRoom
            if let destination {
                room = try checkDestination(destination)
            } else {
                let examined = try ExaminedFile(job(SourceFingerprint()), progress: ProgressReport(nil))
                if !isAlreadyDone { try examined.checkKeptPath() }
                room = examined.room
            }
            return DatabaseFile.ConversionPlan(
                isAlreadyDone: isAlreadyDone, format: nil, size: room.size,
                requiredSpace: room.required, availableSpace: room.available,
                leftovers: destination == nil ? try ReplacementNames.leftovers(of: path) : [],
                steps: isAlreadyDone ? [] : steps)
        }
    }

    /// Whether a new file can be made.
    private func checkDestination(_ destination: String) throws(DatabaseFileError) -> CopyRoom {
        guard try SystemFile.status(destination) == nil else { throw DatabaseFileError(.exists, path: destination) }
        let directory = SystemFile.directory(of: destination)
        if let errno = SystemFile.isWritable(directory: directory) {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: destination)
        }
        if after.ring == nil { try FolderSafety(owner: nil).check(directoryOf: destination) }
        let room = try CopyRoom(of: path, in: directory)
        try room.check(destination)
        return room
    }

    private var steps: [String] {
        let target = destination ?? path
        let copy = "copy the \(copiesPages ? "pages" : "rows") into a new file beside \(target)"
        let prove = "prove the copy on a fresh connection: key, each page, structure, all rows"
        if destination != nil { return [copy, prove, "give it its name, which must still be free"] }
        return [
            "open \(path) and play back what an interrupted process has left", "make a note beside it",
            "leave the WAL mode and lock the file", copy,
            prove, "bring the copy to the disk, and put it in the place of the file", "restore the journal mode, and remove the note",
        ]
    }
}
