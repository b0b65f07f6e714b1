internal import SQLCipherBridge

/// The journal modes that Coffer sets for a database file.
enum JournalMode: String {
    /// As the current mode: any mode with a rollback journal. As a mode to set: `DELETE`.
    case delete
    case wal

    init(_ name: String?) { self = name == "wal" ? .wal : .delete }

    /// The value of both version numbers in the header of a file in this mode:
    /// <https://www.sqlite.org/fileformat2.html#file_format_version_numbers>.
    fileprivate var version: UInt8 { self == .wal ? 2 : 1 }
}

extension DatabaseHeader {
    var journalMode: JournalMode { isInWAL ? .wal : .delete }
}

extension ConnectionHandle {
    /// Returns the journal mode of the main database file.
    func journalMode() throws(EngineError) -> JournalMode {
        JournalMode(try firstText(trusted: "PRAGMA main.journal_mode"))
    }

    /// Puts the main database file back into WAL mode if `mode` is WAL: see ``changeJournalMode(to:_:)``.
    func restore(_ mode: JournalMode, _ protection: FileProtection) throws {
        if mode == .wal { try changeJournalMode(to: .wal, protection) }
    }

    /// Changes the journal mode of the main database file, and verifies the change in the file's header: the
    /// engine answers before the change reaches the file.
    ///
    /// If the file is already in this mode, its header is not read. In WAL mode the valid first page may be
    /// in the log, while the one in the file is torn: by a checkpoint that was interrupted by a loss of
    /// power, or by one that another process is running now.
    ///
    /// - Parameter protection: the protection with which the connection has opened the file; nil if it is not
    ///   known, in which case the engine's answer is trusted.
    /// - Throws: `SQLITE_BUSY` if the engine cannot change the mode; `SQLITE_IOERR` if the header then states
    ///   another mode.
    func changeJournalMode(to mode: JournalMode, _ protection: FileProtection?) throws {
        guard try firstText(trusted: "PRAGMA main.journal_mode") != mode.rawValue else { return }
        // The log may belong to the file that is in the place now.
        guard !isFileMoved() else { throw EngineError.fileMoved }
        guard try firstText(trusted: "PRAGMA main.journal_mode = \(mode.rawValue)") == mode.rawValue else {
            throw EngineError.busy(
                mode == .wal
                    ? "WAL mode could not be set" : "Another connection has the database open in WAL mode")
        }
        // A file without content has no mode to verify.
        guard let protection else { return }
        guard try fileSize() ?? 0 == 0 || isFile(in: mode, protection) else {
            throw EngineError(
                code: EngineCode.ioError,
                message: "The journal mode could not be changed: the file header states another mode")
        }
    }

    /// Returns true if the header of the main database file states this journal mode.
    func isFile(in mode: JournalMode, _ protection: FileProtection) throws -> Bool {
        try storedJournalMode(protection) == mode
    }

    /// Returns the journal mode that the header of the main database file states; nil if it states none, or
    /// if page 1 is not authentic, for example because another process is writing it.
    func storedJournalMode(_ protection: FileProtection) throws -> JournalMode? {
        guard let versions = try PageFile(self, protection).header()?.versions else { return nil }
        return [JournalMode.delete, .wal].first { versions == ($0.version, $0.version) }
    }
}
