internal import SQLCipherBridge

/// A bug of engines that a program may be linked with, and Coffer's treatment of it.
///
/// The list covers the wrong answers, data losses, and crashes by SQL or by a crafted file in the change logs
/// of SQLite since 3.46.1 and of SQLCipher since 4.6.1. It is based on the version of the engine alone: a
/// distribution may have fixed a bug without changing the version.
///
/// ```swift
/// for fault in EngineFault.ofThisEngine where fault.treatment == .open {
///     print("\(fault.rawValue): \(fault.summary)")
/// }
/// ```
///
/// `coffer doctor` and `coffer info --engine` print the faults of the tool's engine.
public enum EngineFault: String, CaseIterable, Sendable {
    /// Commits after a partial rollback are lost when the process ends.
    case lostCommits = "lost-commits"
    /// A column gets wrong bytes when another column is updated.
    case storedColumns = "stored-columns"
    /// `SELECT COUNT(*)` on a view with `UNION ALL` returns a wrong count.
    case countOfView = "count-of-view"
    /// A type error in a `STRICT` table leaves some of the changes of its statement, and wrong indexes.
    case typeErrors = "type-errors"
    /// A connection that has left WAL mode overwrites commits of other processes.
    case staleCache = "stale-cache"
    /// Two connections damage a database in WAL mode.
    case walReset = "wal-reset"
    /// `IN` on a `UNIQUE` constraint that includes the primary key returns wrong results.
    case uniqueIn = "unique-in"
    /// `NOT IN` on the first column of a descending index ignores NULLs.
    case descendingNotIn = "descending-not-in"
    /// A condition with `AND` returns wrong results.
    case conjunction
    /// `IS` in a `RIGHT JOIN` returns wrong results.
    case rightJoin = "right-join"
    /// `concat_ws` drops empty texts.
    case emptyText = "empty-text"
    /// `json_group_object` with a NULL name returns invalid JSON.
    case nullName = "null-name"
    /// A full-text table with blobs is updated incorrectly.
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
    /// CVE-2026-119591: counting the rows of a large `VALUES`.
    case countOfValues = "CVE-2026-119591"
    /// Key specifications stay in memory as text.
    case keyText = "key-text"
    /// `PRAGMA rekey` reports success although it has failed.
    case rekey
    /// `PRAGMA cipher_integrity_check` reports damage in large intact files.
    case integrityCheck = "integrity-check"
    /// A process that exits while other threads write can damage files.
    case processExit = "process-exit"
    /// `sqlcipher_export` inserts names into SQL without escaping them.
    case exportedNames = "exported-names"

    /// Coffer's treatment of a fault.
    public enum Treatment: String, CaseIterable, Sendable {
        /// Coffer works around the fault: the answer is right, and nothing is lost.
        case mended
        /// A statement that would go wrong throws an ``EngineFaultError`` before it runs.
        case refused
        /// Coffer does not use the faulty function, and programs cannot use it by SQL.
        case avoided
        /// The fault can occur. Another engine fixes it.
        case open
    }

    /// The faults of this program's engine, according to its version.
    public static var ofThisEngine: [EngineFault] { allCases.filter(\.isOfThisEngine) }

    /// A Boolean value that indicates whether this program's engine has the fault, according to its version.
    public var isOfThisEngine: Bool { isOfEngine(sqlite: Int(Engine.sqliteVersionNumber)) }

    /// The description of the fault.
    public var summary: String { row.summary }

    /// Coffer's treatment of the fault.
    public var treatment: Treatment { row.treatment }

    /// The release of SQLite or SQLCipher that fixes the fault, as in "SQLite 3.50.2", or "no release".
    public var mendedIn: String { row.mended.description }

    /// Returns true if an engine with this version of SQLite, as in 3046001 for 3.46.1, has the fault.
    package func isOfEngine(sqlite version: Int) -> Bool {
        version >= row.firstSQLite && version < row.mended.sqlite
    }
}

/// A statement was rejected because this program's engine would execute it incorrectly.
public struct EngineFaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault that affects the statement.
    public let fault: EngineFault

    /// The statement, which was not executed.
    public let sql: String

    public var description: String {
        let advice =
            switch fault {
            case .storedColumns:
                "Reorder the CHECK or the expression so that it does not begin with a comparison with NULL, "
                    + "or give the column another type than BLOB. "
            case .descendingNotIn:
                "Create the index in ascending order, declare the column NOT NULL, or add WHERE column IS "
                    + "NOT NULL or LIMIT -1 to the subquery. "
            default: ""
            }
        return
            "The statement was not executed, because the engine of this program has a fault: "
            + "\(fault.summary). \(advice)\(fault.mendedIn) fixes it: see Scripts/build-engine. - while "
            + "executing `\(sql)`"
    }
}

// MARK: - Table of faults

extension EngineFault {
    fileprivate struct Row {
        let mended: Release
        var firstSQLite = 0
        let treatment: Treatment
        let summary: String
    }

    /// A release of SQLite, or a release of SQLCipher and the version of SQLite that it contains.
    fileprivate enum Release: CustomStringConvertible {
        /// No release fixes the fault yet.
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
                    "in WAL mode, the commit of a transaction that spilled pages and was partly rolled back, "
                    + "and all later commits, are lost if the process is killed")
        case .storedColumns:
            Row(
                mended: .sqlite(Int(EngineMend.storedColumns.mendedIn)), firstSQLite: 3_040_000,
                treatment: .refused,
                summary:
                    "an UPDATE may overwrite a large blob with process memory if a CHECK or a generated "
                    + "column begins by comparing the last column with NULL")
        case .countOfView:
            Row(
                mended: .sqlite(Int(EngineMend.countOfView.mendedIn)), treatment: .mended,
                summary: "SELECT COUNT(*) from a view of UNION ALL with DISTINCT returns a wrong count")
        case .typeErrors:
            Row(
                mended: .sqlite(Int(EngineMend.typeErrors.mendedIn)), firstSQLite: 3_037_000,
                treatment: .mended,
                summary:
                    "a statement that fails with a type error in a STRICT table is not undone completely, "
                    + "and REPLACE leaves wrong indexes; Coffer rolls back the innermost savepoint, or the "
                    + "transaction")
        case .staleCache:
            Row(
                mended: .none, firstSQLite: 3_007_000, treatment: .mended,
                summary:
                    "a connection that changes the journal mode from WAL may keep outdated pages, and "
                    + "overwrite commits of other processes with them")
        case .walReset:
            Row(
                mended: .sqlite(3_051_003), firstSQLite: 3_007_000, treatment: .open,
                summary:
                    "two connections that write or checkpoint at the same instant can, very rarely, damage a "
                    + "database in WAL mode; within one process, only the connection that writes "
                    + "checkpoints")
        case .uniqueIn:
            Row(
                mended: .sqlite(3_049_002), treatment: .open,
                summary: "IN on a UNIQUE constraint that includes the primary key may return wrong results")
        case .descendingNotIn:
            Row(
                mended: .sqlite(Int(EngineMend.descendingNotIn.mendedIn)), treatment: .refused,
                summary:
                    "x NOT IN (SELECT y FROM t) is true although a y is NULL, if an index of t begins with y "
                    + "DESC")
        case .conjunction:
            Row(
                mended: .sqlite(3_050_003), treatment: .open,
                summary: "a condition with AND may be optimized too far and return wrong results")
        case .rightJoin:
            Row(
                mended: .sqlite(3_050_002), firstSQLite: 3_039_000, treatment: .open,
                summary:
                    "IS in conditions that follow from each other in a RIGHT JOIN may return wrong results")
        case .emptyText:
            Row(
                mended: .sqlite(3_050_002), firstSQLite: 3_044_000, treatment: .open,
                summary: "concat_ws omits empty strings")
        case .nullName:
            Row(
                mended: .sqlite(3_050_000), treatment: .open,
                summary: "json_group_object with a NULL name produces text that is not JSON")
        case .fullTextBlobs:
            Row(
                mended: .sqlite(3_050_002), treatment: .open,
                summary: "an UPDATE of an FTS5 table with blobs may leave a wrong index")
        case .aggregates:
            Row(
                mended: .sqlite(3_050_002), treatment: .open,
                summary:
                    "SQL with more aggregates than columns may cause out-of-bounds writes: relevant for "
                    + "untrusted SQL")
        case .hugeSeparator:
            Row(
                mended: .sqlite(3_049_001), firstSQLite: 3_044_000, treatment: .open,
                summary:
                    "concat_ws with a huge separator may cause out-of-bounds writes: relevant for untrusted "
                    + "SQL")
        case .lookaside:
            Row(
                mended: .sqlite(3_049_001), treatment: .avoided,
                summary: "a wrong size for SQLITE_DBCONFIG_LOOKASIDE may cause out-of-bounds writes")
        case .fullTextIndex:
            Row(
                mended: .sqlite(3_050_003), treatment: .open,
                summary: "a crafted FTS5 index may cause out-of-bounds writes")
        case .fullTextPages, .fullTextContinuation:
            Row(
                mended: .sqlite(3_053_002), treatment: .open,
                summary:
                    "a full-text query on an FTS5 index with crafted pages may cause out-of-bounds writes")
        case .fullTextPrefix:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary:
                    "a prefix query on an FTS5 table with detail=none and negative row IDs may cause "
                    + "out-of-bounds writes")
        case .fullTextDeletion:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary:
                    "a deletion from a crafted FTS5 index with secure-delete may cause out-of-bounds writes")
        case .countOfValues:
            Row(
                mended: .sqlite(3_054_000), treatment: .open,
                summary:
                    "SELECT COUNT(*) from a view or from VALUES with very many rows may exhaust the stack")
        case .keyText:
            Row(
                mended: .sqlcipher("4.7.0", sqlite: 3_049_001), treatment: .open,
                summary: "the engine also keeps the key of an open connection in its memory as text")
        case .rekey:
            Row(
                mended: .sqlcipher("4.19.0", sqlite: 3_053_004), treatment: .avoided,
                summary:
                    "the engine may report success for a key change that failed; Coffer verifies the result"
            )
        case .integrityCheck:
            Row(
                mended: .sqlite(3_053_003), treatment: .refused,
                summary:
                    "PRAGMA cipher_integrity_check reports damage in intact files of more than four "
                    + "gigabytes; Coffer's verification does not"
            )
        case .processExit:
            Row(
                mended: .none, firstSQLite: 3_049_001, treatment: .mended,
                summary: "a process that exits while other threads write may leave damaged files or crash"
            )
        case .exportedNames:
            Row(
                mended: .sqlcipher("4.19.0", sqlite: 3_053_004), treatment: .open,
                summary:
                    "sqlcipher_export, which Coffer never calls, executes names from an untrusted file as "
                    + "SQL"
            )
        }
    }
}
