extension DatabaseFile {
    /// Options for ``DatabaseFile/verify(key:options:progress:)``.
    public struct VerificationOptions: Sendable {
        /// The settings of the file; nil to detect them. The formats from 4 to 1 are tried in this order.
        public var cipher: CipherSettings?

        /// The check of the structure, which runs after the pages were verified.
        public var structure = StructureCheck.quick

        /// The engine's checks of the structure.
        public enum StructureCheck: String, Sendable, Hashable {
            /// No check: pages are authenticated only.
            case none
            /// `PRAGMA quick_check`.
            case quick
            /// `PRAGMA integrity_check`, which also compares indexes with their tables, and takes longer.
            case full
        }

        /// A Boolean value that indicates whether a file of zero bytes is intact.
        ///
        /// SQLite treats such a file as an empty database, under any key. A file that was truncated to
        /// nothing looks the same. Such a file is therefore a finding, unless you allow it because it may
        /// never have been written to.
        public var allowsEmptyFile = false

        /// The time to wait for a process that writes to a file in rollback mode, in seconds.
        public var lockTimeout = 0.0

        /// The maximum number of threads that verify pages, from 1 to 64. Each has up to half a megabyte of
        /// pages in memory. The structure is checked on one thread.
        ///
        /// To use all processors, set it to `ProcessInfo.processInfo.activeProcessorCount`.
        public var threadCount = 2

        public init() {}
    }

    /// The results of a verification.
    public struct Verification: Sendable, Hashable {
        /// A kind of damage.
        public enum Finding: Sendable, Hashable {
            /// The page was modified, replaced, or copied from another file: its MAC is wrong.
            case notAuthentic(page: Int)
            /// The page is all zeros although it is in use. The engine would treat it as an empty page.
            case zeroed(page: Int)
            /// The database states that it has these pages, but the file ends before them, or in the middle
            /// of the first one.
            case missing(pages: ClosedRange<Int>)
            /// There are bytes after the last whole page, in a file whose header does not state the number of
            /// pages.
            case foreignBytes(count: Int64)
            /// The file has zero bytes: see ``DatabaseFile/VerificationOptions/allowsEmptyFile``.
            case empty
            /// The structure is broken; with the engine's message.
            case structure(String)
            /// The processes that use the database can read commits in these last frames of the write-ahead
            /// log, but recovery would not find them. They are lost if the last process ends without a
            /// checkpoint. Until then, ``DatabaseFile/healLog(key:options:)`` saves them.
            case unrecoverable(frameCount: Int)
        }

        /// A Boolean value that indicates whether there are no findings.
        public var isIntact: Bool { findings.isEmpty }

        /// The findings, in page order; empty for an intact file.
        public var findings: [Finding]

        /// Rows that violate a constraint of their table, full-text indexes that do not match their content,
        /// and virtual tables that their module refuses to open, in the words of the engine.
        ///
        /// A program wrote them this way, for example before the schema was edited by hand, or without
        /// updating the index of an external content table. The file is intact, because it is exactly as
        /// written. Backups and key changes copy it unchanged. `INSERT INTO t(t) VALUES('rebuild')` repairs
        /// the full-text index of `t`. A table that does not open has to be dropped and created again.
        ///
        /// If pages have no MACs, nothing shows that a program wrote these values, so they are structure
        /// findings. The exceptions are FTS5 indexes that do not match external content, which the engine
        /// does not treat as damage.
        public var contentFindings: [String]

        /// The damaged pages, in order, without duplicates. Of pages that are missing at the end of the file,
        /// it lists the first thousand: a damaged header may claim any number of them.
        public var damagedPages: [Int] {
            var pages: Set<Int> = []
            for finding in findings {
                guard let range = finding.pages else { continue }
                pages.formUnion(range.prefix(Verification.listedMissingCount))
            }
            return pages.sorted()
        }

        /// The number of damaged or missing pages.
        public var damagedPageCount: Int { findings.reduce(0) { $0 + ($1.pages?.count ?? 0) } }

        private static let listedMissingCount = 1000

        /// The settings that open the file.
        public var cipher: CipherSettings

        /// The number of pages in the database, as a reader sees it.
        public var pageCount: Int

        /// The number of these pages that were read from the write-ahead log, or from a hot journal.
        public var pageCountFromLog: Int

        /// The number of bytes in the file after the last page of the database.
        ///
        /// SQLite does not read them: the header states the number of pages, so a file may be longer than its
        /// database. Some programs and file systems preallocate space, and a transfer may have added bytes.
        /// They are not damage. A rotation, a backup or a vacuum leaves them out.
        public var trailingByteCount: Int64 = 0

        /// The number of transactions after a damaged frame, or the damaged header, of a write-ahead log that
        /// no process uses. Zero if there is only one, which a crash during its commit may have left.
        ///
        /// SQLite does not read these transactions, and deletes them with the next commit or checkpoint. The
        /// database itself is not damaged: a loss of power leaves such transactions unless each commit was
        /// synced (`synchronous = FULL`). If it was, the log was damaged. A salvage saves their rows: see
        /// ``DatabaseFile/SalvageOptions/includesDamagedLog``.
        public var unreadCommitCount = 0

        /// A Boolean value that indicates whether pages have MACs. Without them, only the structure could be
        /// checked.
        public var isAuthenticated: Bool
    }

    /// Verifies each page as a reader would see it, and the structure. It changes nothing.
    ///
    /// Pages in a write-ahead log are verified instead of those in the file. The log of a process that has
    /// crashed is not recovered. Other processes can continue to use the database. Their commits during the
    /// verification may or may not be seen.
    ///
    ///     let found = try file.verify(key: key)
    ///     for finding in found.findings {
    ///         print(finding)
    ///     }
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption, of which only the structure is checked.
    ///   - progress: called with the number of verified pages.
    /// - Throws: a ``DatabaseFileError``: `key` if the key does not open the file and no page verifies the
    ///   key.
    public func verify(
        key: DatabaseKey?, options: VerificationOptions = VerificationOptions(),
        progress: ProgressFunction? = nil
    ) throws -> Verification {
        try FileVerifier(path: path, options: options, progress: ProgressReport(progress)).verify(key: key)
    }
}

extension DatabaseFile.Verification.Finding {
    /// The affected pages; nil if the finding is not about pages.
    var pages: ClosedRange<Int>? {
        switch self {
        case .notAuthentic(let page), .zeroed(let page): page...page
        case .missing(let pages): pages
        case .foreignBytes, .empty, .structure, .unrecoverable: nil
        }
    }
}
