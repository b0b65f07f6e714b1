internal import SQLCipherBridge

extension DatabaseFile {
    /// How ``DatabaseFile/salvage(key:to:newKey:options:progress:)`` looks for what is left.
    public struct SalvageOptions: Sendable {
        /// The settings of the damaged file; nil to find out which format from 4 to 1, and which size of
        /// pages, any of its pages proves.
        public var cipher: CipherSettings?

        /// The salt of the damaged file, 16 bytes, where its own is lost with the start of page 1: from a
        /// backup that was made with the pages themselves, from another copy, or from wherever it was written
        /// down. A raw key with its salt, and a keyring, know it themselves.
        public var salt: [UInt8]?

        /// The settings of the new file; nil for those of SQLCipher 4.
        public var newCipher: CipherSettings?

        /// Whether rows are looked for on free pages: those were deleted, perhaps long ago. They go to the
        /// tables for lost rows.
        public var includesFreePages = false

        /// Whether rows are looked for on pages that are not authentic: their values may be anything. They go
        /// to the tables for lost rows.
        public var includesDamagedPages = false

        /// Whether rows are looked for on pages that were committed behind a damaged frame of a write-ahead
        /// log, where no reader finds them. The pages are authentic, and those of the damaged frame are
        /// missing between them, so that they may not fit to others. Rows that the same page does not have
        /// without these frames go to the tables for lost rows. It takes the memory for pages twice.
        public var includesDamagedLog = false

        /// The functions that indexes, checks and generated columns call, where the database has such.
        public var functions: [DatabaseFunction] = []

        /// The collations that tables and indexes name, besides those that every connection knows.
        public var collations: [DatabaseCollation] = []

        /// How long to wait for another process that writes to a file in rollback mode, in seconds.
        public var lockTimeout = 0.0

        /// Whether others may write to the file while it is read.
        ///
        /// Pages are of different states of the database then: a whole one may look damaged, and what is
        /// salvaged may never have been together. Otherwise, a salvage ends with `busy` once somebody has
        /// written.
        public var allowsWriters = false

        /// How many threads work at once, at most, from 1 to 64. With more than one, another one reads and
        /// checks pages while this one inserts the rows of those before.
        public var threadCount = 2

        /// The companion of the new file, which gets its name just before the file.
        package var companion: (any FileCompanion)?

        public init() {}
    }

    /// What a salvage has found, and made.
    public struct Salvage: Sendable, Hashable {
        /// A table of the damaged database.
        public struct Table: Sendable, Hashable {
            public var name: String

            /// How many rows are in the new table.
            public var rowCount = 0

            /// How many rows the new table refuses, because they break one of its constraints or are cut off.
            /// They are in the tables for lost rows.
            public var refusedRowCount = 0

            /// How many rows were there of which nothing could be made.
            public var unreadableRowCount = 0

            /// How many pages of the table are missing, not counting those that only they lead to.
            public var missingPageCount = 0

            /// How many rows were on the missing pages, by what the other pages of the table have; less than
            /// one row counts as none. Nil where that cannot be known, as no page with rows could be read.
            public var estimatedLostRowCount: Int? = 0

            /// The row IDs that rows on missing pages may have had, in order; the number of rows is not
            /// known, and mostly smaller. Rows with such row IDs were found all the same where their pages
            /// could be.
            public var missingRowIDs: [ClosedRange<Int64>] = []

            init(name: String) { self.name = name }
        }

        /// The settings with which the damaged file was read.
        public var cipher: CipherSettings

        /// How many pages the damaged database has, as a reader sees it.
        public var pageCount: Int

        /// The pages that are not as they were written, in order: without the right code, zeros where there
        /// was content, or not given by the disk.
        public var damagedPages: [Int]

        /// How many pages are missing because the file was cut off, where the database or its log says how
        /// many there were. Those that the log has are not missing.
        public var missingPageCount: Int

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
            damagedPages.isEmpty && missingPageCount == 0 && lostRowCount == 0 && unassignedPages.isEmpty
                && problems.isEmpty
                && tables.allSatisfy {
                    $0.missingPageCount == 0 && $0.unreadableRowCount == 0 && $0.refusedRowCount == 0
                }
        }
    }

    /// Makes a new database of what can be read of a damaged one, which stays as it is.
    ///
    /// Pages are read as a reader would see them, with a write-ahead log, or a journal that is to be played
    /// back; only those are used that carry the right code. What the disk does not give is a damaged page
    /// like others. Rows that the trees of tables lead to come back as they were, with their row IDs. Rows on
    /// pages that no tree leads to any more come back into their table where only one table can have lost
    /// them. Other rows are kept in tables of their own, `lost_and_found_N`, with the table if it is known,
    /// the page, the reason and the row ID. Indexes are made anew; views, triggers, virtual tables,
    /// `user_version` and `application_id` are taken over. A full-text table or an R-Tree that has lost a
    /// part of itself is made anew from the rows that are left of it.
    ///
    /// ```swift
    /// let damaged = DatabaseFile(path: "/srv/vault/vault.db")
    /// let result = try damaged.salvage(key: .passphrase("old"), to: "/srv/vault/salvaged.db")
    /// for table in result.tables where table.missingPageCount > 0 {
    ///     print(table.name, "lost rows with the row IDs", table.missingRowIDs)
    /// }
    /// ```
    ///
    /// It blocks the current thread. Memory is bounded by the largest rows, two bytes for each page, and what
    /// the result has to say of damaged ones. What is ended in the middle, by an error, by `progress` or by a
    /// crash, leaves nothing under the name of the new file: the same call begins anew, and removes what was
    /// left.
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - destination: the path of the new file, where there is nothing yet. It gets its name when it is
    ///     complete and was read back.
    ///   - newKey: the key of the new file; nil for that of the damaged one.
    ///   - options: how it is done.
    ///   - progress: called with the phase `copying` and the pages that were read, then with
    ///     `checkingStructure` and `publishing`.
    /// - Returns: what was found, table by table.
    /// - Throws: a ``DatabaseFileError``: `key` when no page proves the key, `busy` when others have written
    ///   to the file meanwhile, `emptyFile` for a file without bytes, `exists` when there is something at the
    ///   destination, `unsupported` for a plaintext file without a new key; `key` for a keyring
    ///   without a new key, too. Nothing is at the destination then.
    public func salvage(
        key: DatabaseKey?, to destination: String, newKey: DatabaseKey? = nil,
        options: SalvageOptions = SalvageOptions(),
        progress: ProgressFunction? = nil
    ) throws -> Salvage {
        try DatabaseFileError.translated(path) {
            guard let resultKey = newKey ?? key else {
                throw DatabaseFileError(.unsupported("the new file needs a key"), path: path)
            }
            // A keyring belongs to one file.
            if newKey == nil, case .located = resultKey.kind {
                throw KeyError.failure(.keyring(path: "", .noPlace))
            }
            guard !options.allowsWriters else {
                return try salvage(key, resultKey, to: destination, options, ProgressReport(progress)) {}
            }
            return try SteadyLook.once(into: path) { check in
                let report: ProgressFunction = { step in
                    try check()
                    try progress?(step)
                }
                return try salvage(
                    key, resultKey, to: destination, options, ProgressReport(report), beforeNaming: check)
            }
        }
    }

    /// - Parameter check: called when the new file is complete, before it has its name.
    private func salvage(
        _ key: DatabaseKey?, _ resultKey: DatabaseKey, to destination: String, _ options: SalvageOptions,
        _ report: ProgressReport, beforeNaming check: @escaping () throws -> Void
    ) throws -> Salvage {
        let source = try DamagedFile(path: path, key: key, options)
        let pages = try SalvagedPages(source.file, unreadable: source.unreadable)
        let protection = try FileProtection.encrypted(
            resultKey, cipher: options.newCipher ?? CipherSettings())
        let prepare = { (connection: ConnectionHandle) in
            try connection.install(options.functions, options.collations)
        }
        let new = ContentFile(
            protection: protection, prepare: prepare, progress: report, companion: options.companion)
        var found: SalvagedContent.Result?
        try new.make(at: destination, threadCount: options.threadCount) { connection in
            try prepare(connection)
            let made = try SalvagedContent(
                pages, behindDamage: source.behindDamage, into: connection, options, report
            ).make()
            found = made
            return {
                try check()
                return try made.proof.check($0, destination)
            }
        }
        guard let found else {
            throw DatabaseFileError(.copyRejected("nothing was made"), path: destination)
        }
        return Salvage(
            cipher: source.settings, pageCount: pages.pageCount, damagedPages: found.damagedPages,
            missingPageCount: max(
                0, (try pages.header()?.pageCount ?? pages.pageCount) - pages.present.count),
            tables: found.tables,
            lostRowCount: found.lostRowCount, unassignedPages: found.unassignedPages,
            problems: found.problems + source.problems)
    }
}
