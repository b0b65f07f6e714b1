internal import Foundation
internal import SQLCipherBridge

/// A change to the content of a closed file, or a copy of a file that may be in use.
///
/// Keys that its plan derives are reused when it runs.
struct FileConversion {
    let path: String
    let options: DatabaseFile.ConversionOptions
    let change: FileChange
    private let target: any ConversionTarget
    private let way: ContentFile.Way
    /// The format that was found, for an upgrade.
    private let format: Int?

    /// Asks providers for their keys, and checks the keys and the settings. Opens no file, except for an
    /// upgrade, which has to find the format.
    init(path: String, _ work: DatabaseFile.Work, _ options: DatabaseFile.ConversionOptions) throws {
        self.path = path
        self.options = options
        do {
            target = try FileConversion.target(of: work, on: path, options)
            let (before, after, format) = try FileConversion.protections(of: path, work, options)
            change = FileChange(path: path, before: before, after: after)
            if options.keepsStoredPages {
                guard before.ring != nil, options.newCipher == nil, work.keepsKey else {
                    throw DatabaseFileError(
                        .unsupported(
                            "Stored pages can only be kept in a backup of an encrypted file that keeps its "
                                + "key."),
                        path: path)
                }
                way = .storedPages(change)
            } else if work.copiesPages, options.newCipher == nil, before.ring != nil || after.ring == nil {
                way = .pages(change)
            } else {
                way = .rows(RowCopy.Source(path: path, protection: before))
            }
            self.format = format
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    private static func target(
        of work: DatabaseFile.Work, on path: String, _ options: DatabaseFile.ConversionOptions
    ) throws -> any ConversionTarget {
        func replacing(_ operation: ReplacementOperation) -> PlaceOfSource {
            PlaceOfSource(operation: operation, keptOldPath: options.keepOldPath)
        }
        switch work {
        case .encrypt(let new, _): return new.map { NewFilePlace(path: $0) } ?? replacing(.encrypt)
        case .decrypt(let new, _): return new.map { NewFilePlace(path: $0) } ?? replacing(.decrypt)
        case .upgrade: return replacing(.upgrade)
        case .vacuum: return replacing(.vacuum)
        case .backup(let new, _, _), .copy(let new, _, _): return NewFilePlace(path: new)
        case .datedBackup(let folder, _, _):
            var place = try BackupName.place(of: path, in: folder, at: .now)
            if let companion = options.companion, let name = place.name {
                place.name = { start in
                    let path = try name(start)
                    try companion.make(beside: path)
                    return path
                }
            }
            return place
        case .streamedBackup(let folder, _, _, let write): return StreamedFile(folder: folder, write: write)
        case .restore(let place, _, _):
            return try RestoredPlace(
                place, keepOldPath: options.keepOldPath, keepsKeyring: options.keepsKeyring,
                timeout: options.lockTimeout)
        }
    }

    /// Returns the protection of the file and of the result, and the format that an upgrade has found.
    private static func protections(
        of path: String, _ work: DatabaseFile.Work, _ options: DatabaseFile.ConversionOptions
    ) throws -> (before: FileProtection, after: FileProtection, format: Int?) {
        func protection(_ key: DatabaseKey?, _ cipher: CipherSettings?) throws -> FileProtection {
            guard let key else { return .plaintext }
            return try .encrypted(key, cipher: cipher ?? CipherSettings())
        }
        switch work {
        case .encrypt(_, let key): return (.plaintext, try protection(key, options.newCipher), nil)
        case .decrypt(let new, let key):
            // The keyring would be next to a file that it does not open.
            guard new != nil || !key.isLocated else {
                throw DatabaseFileError(
                    .unsupported("A database with a keyring can only be decrypted into another file."),
                    path: path)
            }
            return (try protection(key, options.cipher), .plaintext, nil)
        case .upgrade(let key, let newKey):
            let key = try key.stayingInPlace(path)
            let format = try FileConversion.format(of: path, key: key, newKey: newKey, options)
            let after = newKey ?? key
            return try (
                protection(key, format.settings), protection(after, options.newCipher), format.number
            )
        case .vacuum(let key):
            guard options.newCipher == nil else {
                throw DatabaseFileError(
                    .unsupported("A vacuum keeps the cipher settings of the file."), path: path)
            }
            let before = try protection(key?.stayingInPlace(path), options.cipher)
            // A separate key ring, because the copy has its own salt.
            return (before, try before.withoutDerivedKeys(), nil)
        case .backup(_, let key, let newKey), .datedBackup(_, let key, let newKey),
            .streamedBackup(_, let key, let newKey, _), .restore(_, let key, let newKey),
            .copy(_, let key, let newKey):
            // A copy of a file without a key may get one, but a copy of an encrypted file is never plaintext.
            let cipher = options.newCipher ?? (key == nil ? nil : options.cipher)
            return try (protection(key, options.cipher), protection(newKey ?? key, cipher), nil)
        }
    }

    func perform(progress: ProgressReport) throws -> DatabaseFile.ConversionResult {
        let start = ContinuousClock.now
        return try DatabaseFileError.translated(path) { try target.make(self, progress, since: start) }
    }

    /// Returns the result of a conversion that made a file.
    func result(_ proof: ReplacementProof?, path: String, since start: ContinuousClock.Instant)
        -> DatabaseFile.ConversionResult
    {
        DatabaseFile.ConversionResult(
            isChanged: true, isResumed: false, proof: proof.map(DatabaseFile.ConversionProof.init),
            path: path, keptOldPath: target.keptOldPath,
            duration: (ContinuousClock.now - start) / .seconds(1))
    }

    /// Adds the functions and collations that the schema of the file may need.
    func prepare(_ connection: ConnectionHandle) throws {
        try connection.install(options.functions, options.collations)
    }
}

extension DatabaseFile.ConversionProof {
    fileprivate init(_ proof: ReplacementProof) {
        self.init(
            pageCount: proof.pageCount, pageSize: proof.pageSize, tableCount: proof.content.tableCount,
            rowCount: proof.content.rowCount,
            saltBefore: proof.keyBefore?.salt.hexadecimal, saltAfter: proof.keyAfter?.salt.hexadecimal,
            contentDigest: proof.contentDigest, oldKeyID: proof.keyBefore?.id, newKeyID: proof.keyAfter?.id)
    }
}

// MARK: - Into another file

extension FileConversion {
    /// Copies the content of the source with `make`, which is called with a connection to the source.
    func copy(
        progress: ProgressReport, since start: ContinuousClock.Instant,
        _ make: (ContentFile, ConnectionHandle) throws -> ContentFile.Made
    ) throws -> DatabaseFile.ConversionResult {
        try progress(.copying, 0, of: 0)
        try FileConversion.checkIsFile(path)
        return try FileConversion.reading(path, change.before, timeout: options.lockTimeout) { source in
            guard try source.fileSize() != 0 else { throw DatabaseFileError(.emptyFile, path: path) }
            try prepare(source)
            let file = ContentFile(
                protection: change.after, way: way, prepare: prepare, progress: progress,
                companion: options.companion)
            // Once the file is made, no failure may say that it is not.
            let keyBefore = try change.before.key(of: FileHeader(source))
            let made = try tellingDamage { try make(file, source) }
            return try result(made, keyBefore: keyBefore, since: start)
        }
    }

    func result(
        _ made: ContentFile.Made, keyBefore: FileKey?, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        let proof = try ReplacementProof(
            pageCount: made.pageCount, pageSize: made.pageSize, keyBefore: keyBefore, keyAfter: made.key,
            made.content)
        return result(proof, path: made.path, since: start)
    }

    /// Runs `body`. If it fails, looks for damage in the source and throws an error that names the damaged
    /// pages: the engine's own message has little detail.
    private func tellingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as EngineError
            where [EngineCode.error, EngineCode.corrupt, EngineCode.notADatabase, EngineCode.ioError]
            .contains(error.primaryCode) && !error.isOfMissingDefinition
        {
            var verification = DatabaseFile.VerificationOptions()
            verification.lockTimeout = options.lockTimeout
            let verifier = FileVerifier(path: path, options: verification, progress: ProgressReport(nil))
            guard let found = try? verifier.damagedPages(change.before), found.isDamaged else { throw error }
            throw DatabaseFileError(.damaged(pages: found.pages), path: path)
        }
    }

    private static func checkIsFile(_ path: String) throws(DatabaseFileError) {
        try ExaminedFile.checkIsNotEmpty(path, SystemFile.regularFile(path, followsLinks: true))
    }

    private static func hasLog(_ path: String) throws(DatabaseFileError) -> Bool {
        try SystemFile.status("\(path)-wal") != nil
    }

    /// Calls `body` with a connection that does not change the file, except to recover the journal or log of
    /// an interrupted process.
    private static func reading<Result>(
        _ path: String, _ protection: FileProtection, timeout: TimeInterval, keepingLog: Bool? = nil,
        _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        let hadLog = try keepingLog ?? hasLog(path)
        var connection: EngineConnection
        do {
            // Only a connection that can write can replay a journal, and remove the log that it has to
            // create.
            connection = try protection.open(path, timeout: timeout)
        } catch KeyError.engine(let error)
            where [EngineCode.readOnly, EngineCode.cantOpen].contains(error.primaryCode)
        {
            connection = try protection.open(path, flags: .readOnly, timeout: timeout)
        }
        // An existing log stays: the last connection to close would checkpoint it.
        connection.checkpointsAtEnd = !hadLog
        try connection.handle.execute("PRAGMA query_only = 1")
        return try body(connection.handle)
    }
}

// MARK: - Comparing

extension FileConversion {
    /// Calls `body` with connections to two files, each in a read transaction. Both files stay unchanged.
    static func comparing<Result>(
        _ path: String, _ key: DatabaseKey?, _ other: String, _ otherKey: DatabaseKey?,
        _ options: DatabaseFile.ConversionOptions,
        _ body: (ConnectionHandle, ConnectionHandle) throws -> Result
    ) throws -> Result {
        func reading<Answer>(_ path: String, _ key: DatabaseKey?, _ body: (ConnectionHandle) throws -> Answer)
            throws -> Answer
        {
            try DatabaseFileError.translated(path) {
                let protection: FileProtection =
                    if let key { try .encrypted(key, cipher: options.cipher) } else { .plaintext }
                try checkIsFile(path)
                return try FileConversion.reading(path, protection, timeout: options.lockTimeout) {
                    connection in
                    guard try connection.fileSize() != 0 else {
                        throw DatabaseFileError(.emptyFile, path: path)
                    }
                    try connection.install(options.functions, options.collations)
                    return try connection.withReadTransaction { try body(connection) }
                }
            }
        }
        return try reading(path, key) { first in
            try reading(other, otherKey) { second in
                do {
                    return try body(first, second)
                } catch let error as EngineError where first.isCause(of: error) && !second.isCause(of: error)
                {
                    // Otherwise the error would be attributed to the second file.
                    throw DatabaseFileError(error, path: path)
                }
            }
        }
    }
}

// MARK: - Looking before

extension FileConversion {
    /// The format of a file.
    private struct Format {
        /// From 1 to 4. For settings that match no format, the nearest one.
        let number: Int
        let settings: CipherSettings
        /// True if the file has the requested settings already.
        let isDone: Bool

        init(of settings: CipherSettings) {
            (self.settings, isDone) = (settings, false)
            number = settings.nearestFormat.number
        }

        private init() {
            // No older format opens the file, and the run concludes from this that the work is done.
            (number, settings, isDone) = (4, .sqlcipher(format: 3), true)
        }

        static let done = Format()
    }

    /// Finds the format of a file.
    private static func format(
        of path: String, key: DatabaseKey, newKey: DatabaseKey?, _ options: DatabaseFile.ConversionOptions
    ) throws -> Format {
        try checkIsFile(path)
        let hadLog = try hasLog(path)
        let format = try findFormat(of: path, key: key, newKey: newKey, options)
        // The failed attempts may have created a log, which a connection with the right key removes.
        if !hadLog, !format.isDone {
            try reading(path, .encrypted(key, cipher: format.settings), timeout: 0, keepingLog: false) { _ in
            }
        }
        return format
    }

    private static func findFormat(
        of path: String, key: DatabaseKey, newKey: DatabaseKey?, _ options: DatabaseFile.ConversionOptions
    ) throws -> Format {
        let newCipher = options.newCipher ?? CipherSettings()
        do {
            try reading(path, .encrypted(newKey ?? key, cipher: newCipher), timeout: 0) { _ in }
            return .done
        } catch KeyError.encryption(let failure, let code) {
            if options.cipher.ofFile != CipherSettings() { return Format(of: options.cipher) }
            if newKey == nil {
                if let settings = failure.settingsToUpgrade { return Format(of: settings) }
                throw KeyError.encryption(failure, code: code)
            }
        }
        do {
            try reading(path, .encrypted(key, cipher: .sqlcipher(format: 4)), timeout: 0) { _ in }
        } catch KeyError.encryption(let failure, let code) {
            if let settings = failure.settingsToUpgrade { return Format(of: settings) }
            throw KeyError.encryption(failure, code: code)
        }
        throw DatabaseFileError(
            .unsupported("The file already has format 4. To change its key, rotate the key."), path: path)
    }

    func plan() throws -> DatabaseFile.ConversionPlan {
        try DatabaseFileError.translated(path) {
            try FileConversion.checkIsFile(path)
            var isAlreadyDone = false
            do {
                try FileConversion.reading(path, change.before, timeout: options.lockTimeout) { _ in }
            } catch KeyError.encryption(let failure, let code) {
                guard target.newPath == nil, try change.after.opens(path) else {
                    throw KeyError.encryption(failure, code: code)
                }
                isAlreadyDone = true
            }
            let room = try target.room(for: self, isAlreadyDone: isAlreadyDone)
            return DatabaseFile.ConversionPlan(
                isAlreadyDone: isAlreadyDone, format: format, size: room.size, requiredSpace: room.required,
                availableSpace: room.available,
                leftovers: target.newPath == nil ? try ReplacementNames.leftovers(of: path) : [],
                steps: isAlreadyDone ? [] : steps)
        }
    }

    /// Checks that a new file can be made, and returns the room for it.
    func room(at destination: String) throws -> CopyRoom {
        try SystemFile.checkIsWritable(directoryOf: destination)
        if change.after.ring == nil { try FolderSafety(owner: nil).check(directoryOf: destination) }
        let room = try CopyRoom(of: path, beside: destination)
        try room.check(destination)
        return room
    }

    private var steps: [String] {
        let parts = if case .rows = way { "rows" } else { "pages" }
        let copy = "copy the \(parts) into a new file next to \(target.newPath ?? path)"
        let verify = "verify the copy on a new connection: key, every page, structure, all rows"
        return target.steps(copying: [copy, verify], from: path)
    }
}

extension DatabaseFile.Work {
    /// True if pages are copied, if the result can have the same ones.
    fileprivate var copiesPages: Bool {
        switch self {
        case .backup, .datedBackup, .streamedBackup, .restore: true
        case .encrypt, .decrypt, .upgrade, .vacuum, .copy: false
        }
    }
}

extension ConnectionHandle {
    /// Returns true if the last statement of the connection failed with this error.
    fileprivate func isCause(of error: EngineError) -> Bool { lastExtendedErrorCode == error.code }
}

extension EncryptionFailure {
    /// The settings of the file if they differ from format 4 and can be upgraded.
    fileprivate var settingsToUpgrade: CipherSettings? {
        if case .newerFormat = self { nil } else { foundSettings }
    }
}
