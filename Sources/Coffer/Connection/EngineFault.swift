internal import SQLCipherBridge

/// A fault of engines that a program may be linked with, and what Coffer does about it.
///
/// The table has what the change logs of SQLite and SQLCipher name as wrong answers, lost data, and crashes
/// by SQL or by a crafted file, from SQLite 3.46.1 and SQLCipher 4.6.1 on. An engine has a fault by its
/// version alone: a distribution may have mended it without another version.
///
/// ```swift
/// for fault in EngineFault.ofThisEngine where fault.treatment == .open {
///     print("\(fault.rawValue): \(fault.summary)")
/// }
/// ```
///
/// `coffer doctor` and `coffer info --engine` print those of the tool.
public enum EngineFault: String, CaseIterable, Sendable {
    /// Commits after a partial rollback are lost with the process.
    case lostCommits = "lost-commits"
    /// A column keeps other bytes than its own when another column is updated.
    case storedColumns = "stored-columns"
    /// `SELECT COUNT(*)` of a view of `UNION ALL` counts wrongly.
    case countOfView = "count-of-view"
    /// Two connections damage a database in WAL mode.
    case walReset = "wal-reset"
    /// `IN` on a `UNIQUE` constraint with the primary key answers wrongly.
    case uniqueIn = "unique-in"
    /// A condition with `AND` answers wrongly.
    case conjunction
    /// `IS` in a `RIGHT JOIN` answers wrongly.
    case rightJoin = "right-join"
    /// `concat_ws` leaves out empty texts.
    case emptyText = "empty-text"
    /// `json_group_object` with a name that is NULL makes no JSON.
    case nullName = "null-name"
    /// A full-text table with blobs is not updated rightly.
    case fullTextBlobs = "full-text-blobs"
    /// CVE-2025-6965: more aggregates than columns.
    case aggregates = "CVE-2025-6965"
    /// CVE-2025-29087: `concat_ws` with a huge separator.
    case hugeSeparator = "CVE-2025-29087"
    /// CVE-2025-29088: a wrong size of lookaside memory.
    case lookaside = "CVE-2025-29088"
    /// CVE-2025-7709: a crafted full-text index.
    case fullTextIndex = "CVE-2025-7709"
    /// CVE-2026-11822: crafted pages of a full-text index.
    case fullTextPages = "CVE-2026-11822"
    /// CVE-2026-11824: crafted continuation pages of a full-text index.
    case fullTextContinuation = "CVE-2026-11824"
    /// CVE-2026-119373: prefix queries of full-text tables without detail.
    case fullTextPrefix = "CVE-2026-119373"
    /// CVE-2026-119374: deletions from a crafted full-text index.
    case fullTextDeletion = "CVE-2026-119374"
    /// CVE-2026-119591: counts of the rows of a large `VALUES`.
    case countOfValues = "CVE-2026-119591"
    /// Key specifications stay in memory as text.
    case keyText = "key-text"
    /// `PRAGMA rekey` succeeds although it has failed.
    case rekey
    /// `PRAGMA cipher_integrity_check` finds damage in large whole files.
    case integrityCheck = "integrity-check"
    /// A process that exits while other threads write damages files.
    case processExit = "process-exit"
    /// `sqlcipher_export` writes names into SQL without escapes.
    case exportedNames = "exported-names"

    /// What Coffer does about a fault.
    public enum Treatment: String, CaseIterable, Sendable {
        /// The answer is right, and nothing is lost.
        case mended
        /// What would go wrong throws an ``EngineFaultError`` before anything happens.
        case refused
        /// Nothing in Coffer uses what has the fault, and programs cannot use it by SQL.
        case avoided
        /// It can happen. Another engine mends it.
        case open
    }

    /// The faults that the engine of this program has, by its version.
    public static var ofThisEngine: [EngineFault] { allCases.filter(\.isOfThisEngine) }

    /// Whether the engine of this program has the fault, by its version.
    public var isOfThisEngine: Bool { isOfEngine(sqlite: Int(Engine.sqliteVersionNumber)) }

    /// What goes wrong.
    public var summary: String { row.summary }

    /// What Coffer does about it.
    public var treatment: Treatment { row.treatment }

    /// The release of SQLite or SQLCipher that mends it, as in "SQLite 3.50.2", or "no release".
    public var mendedIn: String { row.mended.description }

    /// Whether an engine of this version of SQLite, as in 3046001 for 3.46.1, has the fault.
    package func isOfEngine(sqlite version: Int) -> Bool {
        version >= row.firstSQLite && version < row.mended.sqlite
    }
}

/// A statement was refused, because the engine of this program would execute it wrongly.
public struct EngineFaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault.
    public let fault: EngineFault

    /// The statement, which has not been executed.
    public let sql: String

    public var description: String {
        let advice =
            switch fault {
            case .storedColumns:
                "Write the CHECK or the expression that begins with a comparison with NULL in another "
                    + "order, or give the column another type than BLOB. "
            default: ""
            }
        return
            "The engine of this program has a fault, and the statement was not executed: \(fault.summary). "
            + "\(advice)\(fault.mendedIn) mends it: see Scripts/build-engine. - while executing `\(sql)`"
    }
}

// MARK: - The table

extension EngineFault {
    fileprivate struct Row {
        let mended: Release
        var firstSQLite = 0
        let treatment: Treatment
        let summary: String
    }

    /// A release of SQLite, or one of SQLCipher with the SQLite that it is made of.
    fileprivate enum Release: CustomStringConvertible {
        /// No release mends it yet.
        case none
        case sqlite(Int)
        case sqlcipher(String, sqlite: Int)

        var sqlite: Int {
            switch self {
            case .none: .max
            case .sqlite(let version), .sqlcipher(_, let version): version
            }
        }

        var description: String {
            switch self {
            case .none: "no release"
            case .sqlite(let version):
                "SQLite \(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
            case .sqlcipher(let version, _): "SQLCipher \(version)"
            }
        }
    }

    fileprivate var row: Row {
        switch self {
        case .lostCommits:
            Row(
                mended: .sqlite(Int(EngineMend.logChecksums.mendedIn)), firstSQLite: 3_011_000,
                treatment: .mended,
                summary:
                    "in WAL mode, a commit of a transaction that has spilled pages and was rolled back in "
                    + "part, and all later ones, are lost when the process is killed")
        case .storedColumns:
            Row(
                mended: .sqlite(Int(EngineMend.storedColumns.mendedIn)), firstSQLite: 3_040_000,
                treatment: .refused,
                summary:
                    "an UPDATE may write memory of the process over a large blob, where a CHECK or a "
                    + "generated column begins with a comparison of the last column with NULL")
        case .countOfView:
            Row(
                mended: .sqlite(Int(EngineMend.countOfView.mendedIn)), treatment: .mended,
                summary: "SELECT COUNT(*) of a view of UNION ALL with DISTINCT counts wrongly")
        case .walReset:
            Row(
                mended: .sqlite(3_051_003), firstSQLite: 3_007_000, treatment: .open,
                summary:
                    "two connections that write or checkpoint at the same instant may, very rarely, damage a "
                    + "database in WAL mode; in one process, only the connection that writes checkpoints")
        case .uniqueIn:
            Row(
                mended: .sqlite(3_049_002), treatment: .open,
                summary: "IN on a UNIQUE constraint that has the primary key in it may answer wrongly")
        case .conjunction:
            Row(
                mended: .sqlite(3_050_003), treatment: .open,
                summary: "a condition with AND may be optimized too far, and answer wrongly")
        case .rightJoin:
            Row(
                mended: .sqlite(3_050_002), firstSQLite: 3_039_000, treatment: .open,
                summary: "IS in conditions that follow from each other in a RIGHT JOIN may answer wrongly")
        case .emptyText:
            Row(
                mended: .sqlite(3_050_002), firstSQLite: 3_044_000, treatment: .open,
                summary: "concat_ws leaves out texts that are empty")
        case .nullName:
            Row(
                mended: .sqlite(3_050_000), treatment: .open,
                summary: "json_group_object with a name that is NULL makes text that is not JSON")
        case .fullTextBlobs:
            Row(
                mended: .sqlite(3_050_002), treatment: .open,
                summary: "an UPDATE of an FTS5 table that has blobs may leave a wrong index")
        case .aggregates:
            Row(
                mended: .sqlite(3_050_002), treatment: .open,
                summary:
                    "SQL with more aggregates than columns may write outside of its memory: matters where "
                    + "SQL comes from others")
        case .hugeSeparator:
            Row(
                mended: .sqlite(3_049_001), firstSQLite: 3_044_000, treatment: .open,
                summary:
                    "concat_ws with a huge separator may write outside of its memory: matters where SQL "
                    + "comes from others")
        case .lookaside:
            Row(
                mended: .sqlite(3_049_001), treatment: .avoided,
                summary: "a wrong size given to SQLITE_DBCONFIG_LOOKASIDE may write outside of its memory")
        case .fullTextIndex:
            Row(
                mended: .sqlite(3_050_003), treatment: .open,
                summary: "an FTS5 index that was crafted may write outside of its memory")
        case .fullTextPages, .fullTextContinuation:
            Row(
                mended: .sqlite(3_053_002), treatment: .open,
                summary:
                    "a full-text query on an FTS5 index with crafted pages may write outside of its memory")
        case .fullTextPrefix:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary:
                    "a prefix query on an FTS5 table with detail=none and negative row IDs may write "
                    + "outside of its memory")
        case .fullTextDeletion:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary:
                    "a deletion from a crafted FTS5 index with secure-delete may write outside of its memory")
        case .countOfValues:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary: "SELECT COUNT(*) of a view or a VALUES of very many rows may exhaust the stack")
        case .keyText:
            Row(
                mended: .sqlcipher("4.7.0", sqlite: 3_049_001), treatment: .open,
                summary: "the key of an open connection is in the memory of the engine as text as well")
        case .rekey:
            Row(
                mended: .sqlcipher("4.19.0", sqlite: 3_053_004), treatment: .avoided,
                summary:
                    "the engine reports a change of the key as done that has failed; Coffer verifies "
                    + "what was done"
            )
        case .integrityCheck:
            Row(
                mended: .sqlite(3_053_003), treatment: .refused,
                summary:
                    "PRAGMA cipher_integrity_check finds damage in whole files of more than four gigabytes; "
                    + "verify is right"
            )
        case .processExit:
            Row(
                mended: .none, firstSQLite: 3_049_001, treatment: .mended,
                summary: "a process that exits while other threads write may leave damaged files, or crash"
            )
        case .exportedNames:
            Row(
                mended: .sqlcipher("4.19.0", sqlite: 3_053_004), treatment: .open,
                summary: "sqlcipher_export, which Coffer never calls, takes names of a file of others for SQL"
            )
        }
    }
}
