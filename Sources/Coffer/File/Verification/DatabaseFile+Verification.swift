extension DatabaseFile {
    /// What ``DatabaseFile/verify(key:options:progress:)`` looks at.
    public struct VerificationOptions: Sendable {
        /// The settings of the file; nil to find out which format from 4 to 1 opens it, in this order.
        public var cipher: CipherSettings?

        /// How the structure is checked, after the pages.
        public var structure = StructureCheck.quick

        /// How the engine checks the structure.
        public enum StructureCheck: String, Sendable, Hashable {
            /// Not at all: pages are authenticated only.
            case none
            /// `PRAGMA quick_check`.
            case quick
            /// `PRAGMA integrity_check`, which also compares indices with their tables, and takes longer.
            case full
        }

        /// Whether a file without bytes is intact.
        ///
        /// SQLite takes such a file for a database without content, under any key. A file that had content
        /// and was cut to nothing looks the same, so that it is a finding unless this says that the file may
        /// be one that was never written to.
        public var allowsEmptyFile = false

        /// How long to wait for another process that writes to a file in rollback mode, in seconds.
        public var lockTimeout = 0.0

        /// How many threads look at pages at once, at most, from 1 to 64; each has up to half a megabyte
        /// of them in memory. The structure is checked by one.
        ///
        /// `ProcessInfo.processInfo.activeProcessorCount` is as many as there are processors.
        public var threadCount = 2

        public init() {}
    }

    /// What a verification has found.
    public struct Verification: Sendable, Hashable {
        /// Something that is not as it was written.
        public enum Finding: Sendable, Hashable {
            /// The page was changed, exchanged, or comes from another file: its authentication code is not
            /// right.
            case notAuthentic(page: Int)
            /// The page is all zeros although it is in use. The engine would take it for an empty page.
            case zeroed(page: Int)
            /// The database says that it has these pages, and the file ends before them, or in the middle of
            /// the first one.
            case missing(pages: ClosedRange<Int>)
            /// Bytes after the last whole page, in a file whose header does not say how many pages there are.
            case foreignBytes(count: Int64)
            /// The file has no bytes: see ``DatabaseFile/VerificationOptions/allowsEmptyFile``.
            case empty
            /// The structure is broken: the engine's words.
            case structure(String)
            /// The processes that use the database read commits in these last frames of the write-ahead log,
            /// and recovery would not: they are lost when the last process ends without a checkpoint.
            /// ``DatabaseFile/healLog(key:options:)`` saves them until then.
            case unrecoverable(frameCount: Int)
        }

        /// Whether nothing was found.
        public var isIntact: Bool { findings.isEmpty }

        /// What was found, in the order of the pages; empty for an intact file.
        public var findings: [Finding]

        /// Rows that break a constraint of their table, full-text indexes that do not match their content,
        /// and virtual tables that their module refuses to open, in the words of the engine.
        ///
        /// A program wrote them so, before the schema was edited by hand for example, or without bringing
        /// the index of an external content table up to date. The file is as it was written: it is intact,
        /// and backups and changes of keys take it as it is. `INSERT INTO t(t) VALUES('rebuild')` mends the
        /// full-text index of `t`; a table that does not open has to be dropped and made again. Where pages
        /// have no codes, nobody knows, and these are findings of the structure, but for FTS5 indexes that
        /// do not match an external content, which the engine does not take for damage.
        public var contentFindings: [String]

        /// The damaged pages, in order, each once. Of those that are missing at the end of the file, the
        /// first thousand: a header that is damaged itself may claim any number of them.
        public var damagedPages: [Int] {
            var pages: Set<Int> = []
            for finding in findings {
                guard let range = finding.pages else { continue }
                pages.formUnion(range.prefix(Verification.listedMissingCount))
            }
            return pages.sorted()
        }

        /// How many pages are damaged or missing.
        public var damagedPageCount: Int { findings.reduce(0) { $0 + ($1.pages?.count ?? 0) } }

        private static let listedMissingCount = 1000

        /// The settings that open the file.
        public var cipher: CipherSettings

        /// How many pages the database has, as a reader sees it.
        public var pageCount: Int

        /// How many of these pages were read from the write-ahead log, or from the journal of a process that
        /// ended in the middle.
        public var pageCountFromLog: Int

        /// The number of bytes in the file behind the last page of the database.
        ///
        /// SQLite does not read them: a file may be longer than its database, as the header says how many
        /// pages there are. Some programs and file systems allocate space ahead, and a transfer may have
        /// added bytes. They are no damage, and a rotation, a backup or a vacuum leaves them out.
        public var trailingByteCount: Int64 = 0

        /// Whether pages carry authentication codes. Without them only the structure could be checked.
        public var isAuthenticated: Bool
    }

    /// Checks each page as a reader would see it, and the structure, and changes nothing.
    ///
    /// Pages of a write-ahead log are checked in place of those of the file. The log of a process that has
    /// ended in the middle stays as it is. Others can go on using the database; what they commit meanwhile
    /// may or may not be seen.
    ///
    ///     let found = try file.verify(key: key)
    ///     for finding in found.findings {
    ///         print(finding)
    ///     }
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption, whose structure is checked.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done.
    /// - Throws: a ``DatabaseFileError``: `key` when the key does not open the file and no page proves that
    ///   it is right.
    public func verify(
        key: DatabaseKey?, options: VerificationOptions = VerificationOptions(),
        progress: ProgressFunction? = nil
    ) throws -> Verification {
        try FileVerifier(path: path, options: options, progress: ProgressReport(progress)).verify(key: key)
    }
}

extension DatabaseFile.Verification.Finding {
    /// The pages that it is about; nil where it is not about pages.
    var pages: ClosedRange<Int>? {
        switch self {
        case .notAuthentic(let page), .zeroed(let page): page...page
        case .missing(let pages): pages
        case .foreignBytes, .empty, .structure, .unrecoverable: nil
        }
    }
}
