public import Coffer

/// Accounts whose balances always add up, whoever transfers money between them: what a broken transaction, a
/// lost write or a read of two states at once would show.
///
/// Each transfer also leaves a row of its own and two entries, so that a part of a transaction cannot go
/// unnoticed.
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

    /// Moves money between two accounts. To be called in a transaction.
    ///
    /// - Parameters:
    ///   - teller: who does it; each has numbers of its own.
    ///   - noteSize: the size of a random blob, for transactions of different sizes.
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

    /// The last number of a teller, or 0.
    public static func lastNumber(_ db: Database, teller: Int) throws -> Int {
        try int(db, "SELECT MAX(number) FROM transfer WHERE teller = \(teller)")
    }

    /// What every read must find, at little cost: balances that add up, and the last transfers complete.
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

    /// What must hold for the whole file.
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
        // A teller's numbers have no gaps: each is the one of a transaction that came after the one before.
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

    /// Checks the structure of the file, and that each page is authentic. Nobody else may use the file
    /// meanwhile.
    public static func inspect(_ writer: any DatabaseWriter) throws {
        try writer.writeWithoutTransaction { db in
            // The check of pages reads the database file only: everything must be in it.
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
