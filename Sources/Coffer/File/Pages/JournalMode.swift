internal import SQLCipherBridge

/// The journal modes that a database file is brought into.
enum JournalMode: String {
    /// Any mode with a rollback journal, when it was asked for; this one, when it is set.
    case delete
    case wal

    init(_ name: String?) { self = name == "wal" ? .wal : .delete }

    /// What both version numbers in the header of a file in this mode are:
    /// <https://www.sqlite.org/fileformat2.html#file_format_version_numbers>.
    fileprivate var version: UInt8 { self == .wal ? 2 : 1 }
}

extension DatabaseHeader {
    var journalMode: JournalMode { isInWAL ? .wal : .delete }
}

extension ConnectionHandle {
    /// The mode of the main database file.
    func journalMode() throws(EngineError) -> JournalMode {
        JournalMode(try firstText(trusted: "PRAGMA main.journal_mode"))
    }

    /// Brings the main database file into WAL mode again, if it is to be in it: see
    /// ``changeJournalMode(to:_:)``.
    func restore(_ mode: JournalMode, _ protection: FileProtection) throws {
        if mode == .wal { try changeJournalMode(to: .wal, protection) }
    }

    /// Brings the main database file into a journal mode, and proves it by the header of the file: the engine
    /// answers before it has done it.
    ///
    /// Where the file is in the mode already, its header is not asked: in WAL mode the valid first page may
    /// be in the log, and that of the file be torn by a checkpoint that lost its power, or that another
    /// process is making now.
    ///
    /// - Parameter protection: what the connection has opened the file with; nil where that is not known, and
    ///   the engine has to be believed.
    /// - Throws: `SQLITE_BUSY` when the file is in another mode afterwards.
    func changeJournalMode(to mode: JournalMode, _ protection: FileProtection?) throws {
        guard try firstText(trusted: "PRAGMA main.journal_mode") != mode.rawValue else { return }
        guard try firstText(trusted: "PRAGMA main.journal_mode = \(mode.rawValue)") == mode.rawValue else {
            throw EngineError(
                code: EngineCode.busy,
                message: mode == .wal
                    ? "The WAL mode could not be set" : "Another connection has the database open in WAL mode"
            )
        }
        // A file without content has no mode.
        guard let protection else { return }
        guard try fileSize() ?? 0 == 0 || isFile(in: mode, protection) else {
            throw EngineError(
                code: EngineCode.ioError,
                message: "The journal mode could not be changed: the file says otherwise")
        }
    }

    /// Whether the header of the main database file says that it is in a journal mode.
    func isFile(in mode: JournalMode, _ protection: FileProtection) throws -> Bool {
        try storedJournalMode(protection) == mode
    }

    /// The journal mode that the header of the main database file says; nil for a header that is not
    /// authentic, such as one that another process is writing at this moment, or has no mode.
    func storedJournalMode(_ protection: FileProtection) throws -> JournalMode? {
        guard let versions = try PageFile(self, protection).header()?.versions else { return nil }
        return [JournalMode.delete, .wal].first { versions == ($0.version, $0.version) }
    }
}
