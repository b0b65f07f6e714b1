internal import SQLCipherBridge

extension DatabaseFile {
    /// Options for ``DatabaseFile/salvage(key:to:newKey:options:progress:)``.
    public struct SalvageOptions: Sendable {
        /// The settings of the damaged file; nil to detect them. Detection tries the formats from 4 to 1 and
        /// all page sizes, until one of the pages verifies them.
        public var cipher: CipherSettings?

        /// The salt of the damaged file, 16 bytes, for a file that has lost its own with the start of page 1.
        /// It can come from a backup that copied the pages, from another copy of the file, or from your
        /// records. A raw key with its salt includes it, as does a keyring.
        public var salt: [UInt8]?

        /// The settings of the new file; nil for those of SQLCipher 4.
        public var newCipher: CipherSettings?

        /// A Boolean value that indicates whether to read rows from free pages. These rows were deleted,
        /// perhaps long ago. They go to the tables for lost rows.
        public var includesFreePages = false

        /// A Boolean value that indicates whether to read rows from pages that are not authentic. Their
        /// values may be anything. They go to the tables for lost rows.
        public var includesDamagedPages = false

        /// A Boolean value that indicates whether to read pages that were committed after a damaged frame of
        /// a write-ahead log, which no reader sees.
        ///
        /// These pages are authentic, but they may not fit the other pages, because the pages in the damaged
        /// frame are missing. Rows that the same page does not have without these frames go to the tables for
        /// lost rows. This doubles the memory that is used for each page.
        public var includesDamagedLog = false

        /// The functions that indexes, checks and generated columns of the database call.
        public var functions: [DatabaseFunction] = []

        /// The collations that tables and indexes name, in addition to the built-in ones.
        public var collations: [DatabaseCollation] = []

        /// The time to wait for a process that writes to a file in rollback mode, in seconds.
        public var lockTimeout = 0.0

        /// A Boolean value that indicates whether other processes may write to the file while it is read.
        ///
        /// If true, the pages that are read may belong to different states of the database: an intact one may
        /// look damaged, and the salvaged rows may never have existed together. If false, a salvage ends with
        /// `busy` as soon as another process has written.
        public var allowsWriters = false

        /// The maximum number of threads, from 1 to 64. With more than one, another thread reads and checks
        /// pages while the current one inserts the rows of the previous pages.
        public var threadCount = 2

        /// The companion of the new file, which is renamed just before the file.
        package var companion: (any FileCompanion)?

        public init() {}
    }

    /// The results of a salvage.
    public struct Salvage: Sendable, Hashable {
        /// A table of the damaged database.
        public struct Table: Sendable, Hashable {
            public var name: String

            /// The number of rows in the new table.
            public var rowCount = 0

            /// The number of rows that the new table refuses, because they violate one of its constraints or
            /// are cut off. They are in the tables for lost rows.
            public var refusedRowCount = 0

            /// The number of rows that could not be decoded.
            public var unreadableRowCount = 0

            /// The number of pages of the table that are missing, not counting pages that only they lead to.
            public var missingPageCount = 0

            /// The estimated number of rows on the missing pages that were not found on other pages, based on
            /// the other pages of the table and the possible row IDs. Less than one row counts as none. Nil if
            /// no page with rows could be read.
            public var estimatedLostRowCount: Int? = 0

            /// The row IDs that rows on missing pages may have had, in order. The number of lost rows is not
            /// known, and is usually smaller. Rows with these row IDs were still salvaged if their pages were
            /// found.
            public var missingRowIDs: [ClosedRange<Int64>] = []
        }

        /// The settings with which the damaged file was read.
        public var cipher: CipherSettings

        /// The number of pages in the damaged database, as a reader sees it.
        public var pageCount: Int

        /// The damaged pages, in order: pages with a wrong MAC, all-zero pages that should have content, and
        /// pages that the disk cannot read.
        public var damagedPages: [Int]

        /// The number of pages that are missing because the file was cut off, according to the page count in
        /// the database or in its log. Pages that are in the log are not missing.
        public var missingPageCount: Int

        /// The tables of the schema that could be created, in schema order.
        public var tables: [Table]

        /// The number of rows in the tables for lost rows, `lost_and_found_N` for rows of N values.
        public var lostRowCount: Int

        /// The pages with rows whose table is not known.
        public var unassignedPages: [Int]

        /// Messages about objects that could not be created, with the reasons.
        public var problems: [String]

        /// A Boolean value that indicates whether the new database has everything that the damaged one had.
        public var isComplete: Bool {
            damagedPages.isEmpty && missingPageCount == 0 && lostRowCount == 0 && unassignedPages.isEmpty
                && problems.isEmpty
                && tables.allSatisfy {
                    $0.missingPageCount == 0 && $0.unreadableRowCount == 0 && $0.refusedRowCount == 0
                }
        }
    }

    /// Creates a new database from everything that can be read of a damaged one, which is not changed.
    ///
    /// Pages are read as a reader would see them, including a write-ahead log or a hot journal. Only
    /// authentic pages are used. A page that the disk cannot read counts as damaged.
    ///
    /// Rows that the b-trees of tables lead to are restored unchanged, with their row IDs. Rows on pages that
    /// no b-tree leads to any more are restored into their table if only one table can have lost them. Other
    /// rows are kept in tables of their own, `lost_and_found_N`, with the table if it is known, the page, the
    /// reason and the row ID.
    ///
    /// Indexes are built anew. Views, triggers, virtual tables, `user_version` and `application_id` are
    /// copied. A full-text table or an R-Tree that has lost a part of its shadow tables is rebuilt from the
    /// remaining rows.
    ///
    /// ```swift
    /// let damaged = DatabaseFile(path: "/srv/vault/vault.db")
    /// let result = try damaged.salvage(key: .passphrase("old"), to: "/srv/vault/salvaged.db")
    /// for table in result.tables where table.missingPageCount > 0 {
    ///     print(table.name, "lost rows with the row IDs", table.missingRowIDs)
    /// }
    /// ```
    ///
    /// It blocks the current thread. Memory is bounded by the largest rows, two bytes for each page, and the
    /// part of the result about damaged pages. A salvage that is stopped by an error, by `progress` or by a
    /// crash leaves nothing under the name of the new file. Calling it again starts from the beginning, and
    /// removes leftovers.
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - destination: the path of the new file, which must not exist yet. The file gets this name after it
    ///     is complete and was read back.
    ///   - newKey: the key of the new file; nil to use the key of the damaged one.
    ///   - progress: called with the phase `copying` and the number of pages that were read, then with
    ///     `checkingStructure` and `publishing`.
    /// - Returns: the results, table by table.
    /// - Throws: a ``DatabaseFileError``: `key` if no page verifies the key, or for a keyring without a new
    ///   key; `busy` if another process has written to the file; `emptyFile` for a file without bytes;
    ///   `exists` if the destination exists; `unsupported` for a plaintext file without a new key. After an
    ///   error, there is no file at the destination.
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

    /// - Parameter check: called when the new file is complete, before it gets its name.
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
            throw DatabaseFileError(.copyRejected("nothing was created"), path: destination)
        }
        return Salvage(
            cipher: source.settings, pageCount: pages.pageCount, damagedPages: found.damagedPages,
            missingPageCount: try pages.missingCount(), tables: found.tables,
            lostRowCount: found.lostRowCount, unassignedPages: found.unassignedPages,
            problems: found.problems + source.problems)
    }
}
