public import Coffer

/// Accounts whose balances always add up, regardless of transfers between them. A broken transaction, a lost
/// write, or a read that mixes two states shows.
///
/// Each transfer also inserts one row for itself and two entries, so a partial transaction is always
/// detected.
public enum Bank {
    public static let accountCount = 20
    public static let total = 20_000

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public static func open(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
                CREATE TABLE transfer (
                    seq INTEGER PRIMARY KEY AUTOINCREMENT, teller INTEGER NOT NULL, number INTEGER NOT NULL, \
                note BLOB,
                    UNIQUE (teller, number));
                CREATE TABLE entry (seq INTEGER NOT NULL REFERENCES transfer, account INTEGER NOT NULL, \
                amount INTEGER NOT NULL);
                CREATE INDEX entry_seq ON entry (seq);
                """)
        for id in 1...accountCount {
            try db.execute(sql: "INSERT INTO account VALUES (?, ?)", arguments: [id, total / accountCount])
        }
    }

    /// Moves money between two accounts. Must be called in a transaction.
    ///
    /// - Parameters:
    ///   - teller: the teller. Each one has its own sequence of numbers.
    ///   - noteSize: the size of a random blob, to vary the size of transactions.
    public static func transfer(_ db: Database, teller: Int, number: Int, noteSize: Int = 0) throws {
        let from = Int.random(in: 1...accountCount)
        let to = Int.random(in: 1...accountCount)
        let amount = Int.random(in: 1...100)
        try db.execute(
            sql: "INSERT INTO transfer (teller, number, note) VALUES (?, ?, randomblob(?))",
            arguments: [teller, number, noteSize])
        let seq = db.lastInsertedRowID
        for (account, amount) in [(from, -amount), (to, amount)] {
            try db.execute(
                sql: "UPDATE account SET balance = balance + ? WHERE id = ?", arguments: [amount, account])
            try db.execute(sql: "INSERT INTO entry VALUES (?, ?, ?)", arguments: [seq, account, amount])
        }
    }

    /// Returns the last number of a teller, or 0.
    public static func lastNumber(_ db: Database, teller: Int) throws -> Int {
        try int(db, "SELECT MAX(number) FROM transfer WHERE teller = \(teller)")
    }

    /// Checks cheaply the invariants that every read must see: the balances add up, and the last transfers
    /// are complete.
    public static func glance(_ db: Database) throws {
        let sum = try int(db, "SELECT SUM(balance) FROM account")
        guard sum == total else {
            throw Failure(description: "the balances add up to \(sum) instead of \(total)")
        }
        let last = try int(db, "SELECT MAX(seq) FROM transfer")
        let transfers = try int(db, "SELECT COUNT(*) FROM transfer WHERE seq > \(last - 20)")
        let entries = try int(db, "SELECT COUNT(*) FROM entry WHERE seq > \(last - 20)")
        let rest = try int(db, "SELECT SUM(amount) FROM entry WHERE seq > \(last - 20)")
        guard entries == 2 * transfers, rest == 0 else {
            throw Failure(
                description: "\(transfers) transfers have \(entries) entries that add up to \(rest)")
        }
    }

    /// Checks the invariants of the whole file.
    public static func audit(_ db: Database) throws {
        try glance(db)
        let broken = try int(
            db,
            """
            SELECT COUNT(*) FROM (
                SELECT transfer.seq FROM transfer LEFT JOIN entry ON entry.seq = transfer.seq
                GROUP BY transfer.seq HAVING COUNT(entry.seq) <> 2 OR SUM(amount) <> 0)
            """)
        let wrong = try int(
            db,
            """
            SELECT COUNT(*) FROM account WHERE balance <> \(total / accountCount)
                + (SELECT IFNULL(SUM(amount), 0) FROM entry WHERE account = account.id)
            """)
        // A teller's numbers have no gaps, because each transaction follows the previous one.
        let gaps = try int(
            db,
            "SELECT COUNT(*) FROM (SELECT teller FROM transfer GROUP BY teller HAVING MAX(number) <> COUNT(*))"
        )
        guard broken == 0, wrong == 0, gaps == 0 else {
            throw Failure(
                description:
                    "\(broken) transfers in parts, \(wrong) wrong balances, \(gaps) tellers with gaps")
        }
    }

    /// Checks the structure of the file and the authenticity of every page. Nothing else may use the file at
    /// the same time.
    public static func inspect(_ writer: any DatabaseWriter) throws {
        try writer.writeWithoutTransaction { db in
            // The page check reads only the database file, so the WAL must be checkpointed first.
            try db.checkpoint(.truncate)
            let pages = try Row.fetchAll(db, sql: "PRAGMA cipher_integrity_check")
            guard pages.isEmpty else { throw Failure(description: "pages that are not authentic: \(pages)") }
            let answer = try Row.fetchAll(db, sql: "PRAGMA integrity_check").map { $0[0] as String }
            guard answer == ["ok"] else { throw Failure(description: "the structure is damaged: \(answer)") }
        }
    }

    private static func int(_ db: Database, _ sql: String) throws -> Int {
        try Row.fetchOne(db, sql: sql)?[0] as Int? ?? 0
    }
}
