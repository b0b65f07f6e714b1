internal import SQLCipherBridge

/// Makes a new file with the content of an open database, in any format and under any key, and proves it
/// before it gets its name.
struct ContentFile {
    let protection: FileProtection

    /// The way in which the content of a source is copied.
    enum Way {
        /// Row by row, from this file; nil if the source may have uncommitted changes of its own.
        case rows(RowCopy.Source?)
        /// All pages, including free ones. Both page sizes and reserves must be the same.
        case pages(FileChange)
        /// The stored pages, with their salt and their ciphertext. The copy has the key of the file.
        case storedPages(FileChange)
    }

    var way = Way.rows(nil)

    /// Adds the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    /// Reports progress. If it throws, the work ends and no file is left.
    let progress: ProgressReport

    /// The companion of the file, which gets its name just before the file.
    var companion: (any FileCompanion)?

    /// The facts that are known about a new file.
    struct Made {
        let content: ProvedContent
        let pageCount: Int
        let pageSize: Int
        /// Nil for plaintext.
        let key: FileKey?
        /// The path of a file with a name.
        var path = ""
    }

    @discardableResult
    func make(from source: ConnectionHandle, at path: String) throws -> Made {
        try make(from: source, at: NewFilePlace(path: path))
    }

    /// - Parameter source: a connection that can read. Its functions and collations are those that `prepare`
    ///   adds.
    func make(from source: ConnectionHandle, at place: NewFilePlace) throws -> Made {
        let file = try begin(place)
        var made = try make(from: source, in: file.file, place.path)
        made.path = try publish(file, at: place)
        return made
    }

    private func begin(_ place: NewFilePlace) throws -> NewDatabaseFile {
        try companion?.prepare()
        return try NewDatabaseFile.begin(place, isPlaintext: protection.ring == nil)
    }

    private func publish(_ file: consuming NewDatabaseFile, at place: NewFilePlace) throws -> String {
        try progress(.publishing, 0, of: 1)
        guard let companion else { return try file.published() }
        // The salt of the file lets the next run identify the companion, even after a power loss.
        try file.file.synchronize()
        do {
            // If the name contains the date, it is only known when the file is complete, so the companion is
            // made then.
            if place.name == nil { try companion.make(beside: place.path) }
            return try file.published()
        } catch {
            companion.takeBack()
            throw error
        }
    }

    /// Makes the content in a file without a name, and passes it to `write` once it is proved.
    ///
    /// - Parameter folder: a folder with enough room for the file.
    func make(from source: ConnectionHandle, inFolder folder: String, _ write: ([UInt8]) throws -> Void)
        throws -> Made
    {
        let file = try HeldFile(creating: "\(folder)/.coffer-\(RunIdentifier.random().text).tmp")
        file.removeName(file.path)
        let made = try make(from: source, in: file, file.path)
        let size = file.size
        var offset: Int64 = 0
        while offset < size {
            try progress(.publishing, Int(offset / Int64(made.pageSize)), of: made.pageCount)
            let part = try file.read(at: offset, count: Int(min(1 << 18, size - offset)))
            guard !part.isEmpty else {
                throw DatabaseFileError(.copyRejected("it is truncated"), path: file.path)
            }
            try write(part)
            offset += Int64(part.count)
        }
        return made
    }

    /// Fills a file and proves it.
    ///
    /// - Parameter path: the path for error messages.
    func make(from source: ConnectionHandle, in file: HeldFile, _ path: String) throws -> Made {
        switch way {
        case .storedPages(let change):
            return try StoredPagesCopy(content: self, change: change, source: source, file: file, path: path)
                .make()
        case .pages(let change):
            if let made = try copyPinnedPages(change, of: source, to: file) { return made }
            // One transaction covers everything from the first page to the last comparison.
            return try source.withReadTransaction {
                let pageCount = try Int(source.integer(pragma: "page_count"))
                if ContentFile.haveSameLayout(change),
                    let state = try StoredState(in: source, change.before)
                {
                    return try copyPages(change, of: state, to: file)
                }
                try protection.fill(file, path) { try copyPages(from: source, to: $0, path) }
                let fingerprint = try ContentFingerprint(of: source) {
                    try progress(.verifying, 0, of: pageCount)
                }
                return try prove(file, fingerprint, pageCount: pageCount, path)
            }
        case .rows(let origin):
            return try source.withReadTransaction {
                let pageCount = try Int(source.integer(pragma: "page_count"))
                let fingerprint = try RowCopy(prepare: prepare).write(
                    source, of: origin, to: file, protection, path, progress)
                return try prove(file, fingerprint, pageCount: pageCount, path)
            }
        }
    }

    /// Makes a file from the content that `fill` writes.
    ///
    /// - Parameter fill: called with a connection to an empty database; returns the fingerprint of the
    ///   content that it has written.
    func make(at path: String, _ fill: (ConnectionHandle) throws -> ContentFingerprint) throws -> Made {
        let place = NewFilePlace(path: path)
        let file = try begin(place)
        let (fingerprint, pageCount) = try protection.fill(file.file, path) {
            try (fill($0), Int($0.integer(pragma: "page_count")))
        }
        let made = try prove(file.file, fingerprint, pageCount: pageCount, path)
        _ = try publish(file, at: place)
        return made
    }

    /// Makes a file from the content that `fill` writes and then verifies itself.
    ///
    /// Coffer seals the pages and checks them on several threads. The engine verifies that the key opens the
    /// file, and reads the content of the pages.
    ///
    /// - Parameter fill: called with a connection to an empty database; returns a function that throws unless
    ///   a connection that reads the file finds everything that was written.
    func make(
        at path: String, threadCount: Int,
        _ fill: (ConnectionHandle) throws -> (ConnectionHandle) throws -> Void
    ) throws {
        let place = NewFilePlace(path: path)
        let file = try begin(place)
        let isComplete = try protection.fillSealed(file.file, path, fill)
        try FailPoint.copied.pass(path)
        let fresh = try protection.withoutDerivedKeys()
        let connection = try fresh.open(viewing: file.file)
        try checkIsEncrypted(connection.handle, path)
        try PageProof.readNewFile(
            connection.handle, in: file.file, fresh, path, threadCount: threadCount - 1, progress
        ) { try checkContent(of: $0, path, isComplete) }
        try FailPoint.verified.pass(path)
        _ = try publish(file, at: place)
    }

    private func checkContent(
        of copy: ContentReader, _ path: String, _ isComplete: (ConnectionHandle) throws -> Void
    ) throws {
        func report() throws { try progress(.checkingStructure, 0, of: 0) }
        try prepare(copy.handle)
        try report()
        do {
            try copy.handle.watched(by: report) {
                try isComplete(copy.handle)
                try copy.proveStructure(checkpoint: report)
            }
        } catch let error as EngineError where error.primaryCode == EngineCode.corrupt {
            throw DatabaseFileError(.copyRejected(error.message ?? "it is damaged"), path: path)
        }
    }

    private func copyPages(from source: ConnectionHandle, to handle: ConnectionHandle, _ path: String) throws
    {
        let backup = try BackupHandle(from: source, to: handle)
        var isDone = false
        while !isDone {
            let result = backup.step(pages: 256)
            try FailPoint.copying.pass(path)
            let total = backup.totalPageCount
            try progress(.copying, total - backup.remainingPageCount, of: total)
            switch result {
            case .more: break
            case .failed(let code): throw handle.error(code)
            case .done: isDone = true
            }
        }
        try backup.finish()
    }

    private func prove(
        _ file: HeldFile, _ fingerprint: ContentFingerprint, pageCount: Int, _ path: String
    ) throws -> Made {
        try FailPoint.copied.pass(path)
        let made = try read(file, expecting: fingerprint, pageCount: pageCount, path)
        try FailPoint.verified.pass(path)
        return made
    }

    /// Opens the file as any other program would, with a newly derived key, and reads everything.
    ///
    /// - Throws: `copyRejected` if the content has another fingerprint.
    func read(
        _ file: HeldFile, expecting fingerprint: ContentFingerprint, pageCount: Int, _ path: String
    ) throws -> Made {
        let proof = RowProof(fingerprint: fingerprint, prepare: prepare)
        let fresh = try protection.withoutDerivedKeys()
        let connection = try fresh.open(viewing: file)
        try checkIsEncrypted(connection.handle, path)
        try PageProof.readNewFile(connection.handle, in: file, fresh, path, progress) { copy in
            try proof.prove(copy.handle, path, pageCount: pageCount, progress)
            try copy.proveStructure { try progress(.checkingStructure, 0, of: 0) }
        }
        return try made(connection.handle, proof.content)
    }

    private func checkIsEncrypted(_ copy: ConnectionHandle, _ path: String) throws {
        guard let settings = protection.ring?.settings else { return }
        guard try !FileHeader(copy, count: 32).isPlaintext(plaintextHeaderSize: settings.plaintextHeaderSize)
        else {
            throw DatabaseFileError(.copyRejected("it is not encrypted"), path: path)
        }
    }

    private func made(_ copy: ConnectionHandle, _ content: ProvedContent) throws -> Made {
        try Made(
            content: content, pageCount: Int(copy.integer(pragma: "page_count")),
            pageSize: Int(copy.integer(pragma: "page_size")),
            key: protection.key(of: FileHeader(copy, count: 32)))
    }
}

// MARK: - By pages

extension ContentFile {
    private static func haveSameLayout(_ change: FileChange) -> Bool {
        guard let before = change.before.ring?.settings, let after = change.after.ring?.settings else {
            return false
        }
        return PageCipher.Layout(before) == PageCipher.Layout(after)
    }

    /// Copies the stored pages of a file in WAL mode while other connections write.
    ///
    /// - Returns: nil if the state of the file cannot be pinned. The engine then reports the reason when it
    ///   reads the source.
    private func copyPinnedPages(_ change: FileChange, of source: ConnectionHandle, to file: HeldFile)
        throws -> Made?
    {
        guard ContentFile.haveSameLayout(change), try source.journalMode() == .wal,
            let state = try? StoredState(pinning: change.path, change.before, timeout: 5)
        else { return nil }
        return try copyPages(change, of: state, to: file)
    }

    /// Copies pages as a rotation does, with the key of the copy and a fresh salt, and proves them.
    private func copyPages(_ change: FileChange, of source: StoredState, to file: HeldFile) throws -> Made {
        let pageCount = source.pages.pageCount
        try PageCopy().copy(
            source.pages, to: file, salt: change.after.saltForNewFile(), change, progress,
            path: source.path, open: source.open)
        try FailPoint.copied.pass(change.path)
        // The key is derived again, as any other program will have to do.
        let change = FileChange(
            path: change.path, before: change.before, after: try change.after.withoutDerivedKeys())
        let connection = try change.after.open(viewing: file)
        let copy = connection.handle
        try checkIsEncrypted(copy, change.path)
        let content = try PageProof.proveBackup(file, against: source, change, progress) {
            rows, provedCount in
            func report() throws { try progress(.verifying, provedCount(), of: pageCount) }
            try prepare(rows.handle)
            try report()
            try rows.proveStructure(checkpoint: report)
            let fingerprint = try ContentFingerprint(of: rows.handle, isHashedBeside: true) { try report() }
            // The engine also reads the schema of the source, in addition to the comparison page by page.
            var facts = fingerprint
            facts.tables = [:]
            if let difference = try facts.difference(from: ContentFingerprint(ofSchemaIn: source.connection))
            {
                throw DatabaseFileError(.copyRejected("it differs in \(difference)"), path: change.path)
            }
            return try ProvedContent(
                digest: fingerprint.hash.hexadecimal, tableCount: fingerprint.tables.count,
                rowCount: fingerprint.rowCount)
        }
        let made = try made(copy, content)
        try FailPoint.verified.pass(change.path)
        return made
    }
}
