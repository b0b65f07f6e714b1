internal import SQLCipherBridge

extension DatabaseFile {
    /// How ``DatabaseFile/salvage(key:to:newKey:options:progress:)`` looks for what is left.
    public struct SalvageOptions: Sendable {
        /// The settings of the damaged file; nil to find out which format from 4 to 1 any of its pages proves, in this order.
        public var cipher: CipherSettings?

        /// The salt of the damaged file, 16 bytes, where its own is lost with the start of page 1: from a backup that was made with the pages
        /// themselves, or from wherever it was written down.
        public var salt: [UInt8]?

        /// The settings of the new file; nil for those of SQLCipher 4.
        public var newCipher: CipherSettings?

        /// Whether rows are looked for on free pages: those were deleted, perhaps long ago. They go to the tables for lost rows.
        public var includesFreePages = false

        /// Whether rows are looked for on pages that are not authentic: their values may be anything. They go to the tables for lost rows.
        public var includesDamagedPages = false

        /// How long to wait for another process that writes to a file in rollback mode, in seconds.
        public var lockTimeout = 0.0

        /// How many threads check pages at once, at most, from 1 to 64.
        public var threadCount = 2

        public init() {}
    }

    /// What a salvage has found, and made.
    public struct Salvage: Sendable, Hashable {
        /// A table of the damaged database.
        public struct Table: Sendable, Hashable {
            public var name: String

            /// How many rows are in the new table.
            public var rowCount = 0

            /// How many rows the new table refuses, because they break one of its constraints or are cut off. They are in the tables for lost rows.
            public var refusedRowCount = 0

            /// How many rows were there of which nothing could be made.
            public var unreadableRowCount = 0

            /// How many pages of the table are missing, not counting those that only they lead to.
            public var missingPageCount = 0

            /// The row IDs that rows on missing pages may have had; the number of rows is not known, and mostly smaller. Rows with such row IDs were
            /// found all the same where their pages could be.
            public var missingRowIDs: [ClosedRange<Int64>] = []

            init(name: String) { self.name = name }
        }

        /// The settings with which the damaged file was read.
        public var cipher: CipherSettings

        /// How many pages the damaged database has, as a reader sees it.
        public var pageCount: Int

        /// The pages that are not as they were written, in order.
        public var damagedPages: [Int]

        /// The tables of the schema that could be made, in its order.
        public var tables: [Table]

        /// How many rows are in the tables for lost rows, `lost_and_found_N` for rows of N values.
        public var lostRowCount: Int

        /// Pages with rows of which the table is not known.
        public var unassignedPages: [Int]

        /// What could not be made, and why, in words.
        public var problems: [String]

        /// Whether the new database has everything that the damaged one had.
        public var isComplete: Bool {
            damagedPages.isEmpty && lostRowCount == 0 && unassignedPages.isEmpty && problems.isEmpty
                && tables.allSatisfy { $0.missingPageCount == 0 && $0.unreadableRowCount == 0 && $0.refusedRowCount == 0 }
        }
    }

    /// Makes a new database of what can be read of a damaged one, which stays as it is.
    ///
    /// Pages are read as a reader would see them, with a write-ahead log, or a journal that is to be played back; only those are used that carry the
    /// right code. Rows that the trees of tables lead to come back as they were, with their row IDs. Rows on pages that no tree leads to any more
    /// come back into their table where only one table can have lost them. Other rows are kept in tables of their own, `lost_and_found_N`, with
    /// the table if it is known, the page, the reason and the row ID. Indexes are made anew; views, triggers, virtual tables, `user_version` and
    /// `application_id` are taken over.
    ///
    /// ```swift
    /// let damaged = DatabaseFile(path: "/srv/vault/vault.db")
    /// let result = try damaged.salvage(key: .passphrase("old"), to: "/srv/vault/salvaged.db")
    /// for table in result.tables where table.missingPageCount > 0 {
    ///     print(table.name, "lost rows with the row IDs", table.missingRowIDs)
    /// }
    /// ```
    ///
    /// It blocks the current thread. Memory is bounded by the largest row, and by a few bytes for each page.
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - destination: the path of the new file, where there is nothing yet. It gets its name when it is complete and was read back.
    ///   - newKey: the key of the new file; nil for that of the damaged one.
    ///   - progress: is called with the phases `verifying`, for pages, and `copying`, for rows.
    /// - Returns: what was found, table by table.
    /// - Throws: a ``DatabaseFileError``: `key` when no page proves the key, `exists` when there is something at the destination, `unsupported` for
    ///   a plaintext file without a new key. Nothing is at the destination then.
    public func salvage(
        key: DatabaseKey?, to destination: String, newKey: DatabaseKey? = nil, options: SalvageOptions = SalvageOptions(),
        progress: ProgressFunction? = nil
    ) throws -> Salvage {
        try DatabaseFileError.translated(path) {
            guard let resultKey = newKey ?? key else {
                throw DatabaseFileError(.unsupported("the new file needs a key"), path: path)
            }
            let source = try DamagedFile(path: path, key: key, options)
            let report = ProgressReport(progress)
            let pages = try SalvagedPages(source.file, threadCount: options.threadCount) {
                try report(.verifying, $0, of: source.file.pageCount)
            }
            let protection = try FileProtection.encrypted(resultKey, cipher: options.newCipher ?? CipherSettings())
            let new = ContentFile(protection: protection, prepare: { _ in }, progress: report)
            var found: SalvagedContent.Result?
            _ = try new.make(at: destination) { connection in
                let made = try SalvagedContent(pages, into: connection, options, report).make()
                found = made
                return made.fingerprint
            }
            guard let found else { throw DatabaseFileError(.copyRejected("nothing was made"), path: destination) }
            return Salvage(
                cipher: source.settings, pageCount: pages.pageCount, damagedPages: pages.damagedPages, tables: found.tables,
                lostRowCount: found.lostRowCount, unassignedPages: found.unassignedPages, problems: found.problems)
        }
    }
}

/// A damaged file, and the settings that any of its pages proves.
private struct DamagedFile {
    let file: PageFile
    let settings: CipherSettings

    init(path: String, key: DatabaseKey?, _ options: DatabaseFile.SalvageOptions) throws {
        _ = try SystemFile.regularFile(path, followsLinks: true)
        let path = try SystemFile.resolved(path)
        guard let key else {
            file = try PageFile(StoredView(path, pageSize: nil, timeout: options.lockTimeout), .plaintext)
            settings = CipherSettings()
            return
        }
        if let salt = options.salt, salt.count != 16 {
            throw DatabaseFileError(.unsupported("a salt has 16 bytes, not \(salt.count)"), path: path)
        }
        for settings in options.cipher.map({ [$0] }) ?? [4, 3, 2, 1].map({ .sqlcipher(format: $0) }) {
            let protection = try FileProtection.encrypted(key, cipher: settings)
            let view = try StoredView(path, pageSize: settings.pageSize, timeout: options.lockTimeout)
            let bytes: any StoredBytes = if let salt = options.salt { SaltedBytes(view, salt: salt) } else { view }
            let file = try PageFile(bytes, protection)
            guard try file.isProved(usesHMAC: settings.usesHMAC) else { continue }
            if let material = try protection.material(fileSalt: options.salt ?? view.fileSalt), let sideFile = view.sideFilePath,
                case .foreign(let isFileWhole) = try view.verdictOnSideFile(material, settings)
            {
                throw KeyError.failure(.foreignSideFile(path: sideFile, isFileWhole: isFileWhole))
            }
            self.file = file
            self.settings = settings
            return
        }
        throw DatabaseFileError(.key(.wrongKey), path: path)
    }
}

extension PageFile {
    /// Whether any of a sample of pages is authentic; or, where pages carry no codes, whether the first one has a database header.
    fileprivate func isProved(usesHMAC: Bool) throws -> Bool {
        guard usesHMAC else { return try header().map { $0.isPlausible && $0.pageSize == pageSize } ?? false }
        var run = PageRun(self)
        // All of the first megabyte, and as many again from the rest.
        let step = max(1, pageCount / 256)
        for number in Set(1..<min(pageCount, 256) + 1).union(stride(from: 1, through: pageCount, by: step)).sorted() {
            try run.read(number..<number + 1, from: self)
            if number != lockPage, try !run.isZero(number) && run.authenticates(number) { return true }
        }
        return false
    }
}

/// The bytes of a file whose salt is lost, with the right one in its place.
private final class SaltedBytes: StoredBytes {
    private let bytes: any StoredBytes
    private let salt: [UInt8]

    init(_ bytes: any StoredBytes, salt: [UInt8]) {
        self.bytes = bytes
        self.salt = salt
    }

    var size: Int64 { bytes.size }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let count = try bytes.read(at: offset, into: &target)
        if offset < 16 {
            for index in Int(offset)..<min(16, Int(offset) + count) { target[index - Int(offset)] = salt[index] }
        }
        return count
    }
}
