import Coffer

/// The machine's packages in an encrypted database, with a full-text index over their names and descriptions.
struct Catalog {
    let queue: DatabaseQueue

    init(path: String, configuration: Configuration) throws {
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    func store(_ packages: [InstalledPackage], _ paths: [InstalledPath]) throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE package (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL, section \
                    TEXT NOT NULL,
                        installedKibibytes INTEGER, summary TEXT NOT NULL, description TEXT NOT NULL);
                    CREATE TABLE path (package TEXT NOT NULL, path TEXT NOT NULL);
                    """)
            try db.create(virtualTable: "packageText", using: FTS5()) { t in
                t.synchronize(withTable: "package")
                t.tokenizer = .unicode61(diacritics: .remove)
                t.column("name")
                t.column("description")
            }
            let insertPackage = try db.makeStatement(
                sql: """
                    INSERT INTO package (name, version, section, installedKibibytes, summary, description) \
                    VALUES (?, ?, ?, ?, ?, ?)
                    """)
            for package in packages {
                try insertPackage.execute(arguments: [
                    package.name, package.version, package.section, package.installedKibibytes,
                    package.summary, package.description,
                ])
            }
            let insertPath = try db.makeStatement(sql: "INSERT INTO path (package, path) VALUES (?, ?)")
            for path in paths {
                try insertPath.execute(arguments: [path.package, path.path])
            }
        }
    }

    func packages() throws -> [InstalledPackage] {
        try queue.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM package ORDER BY id").map { row in
                InstalledPackage(
                    name: row["name"], version: row["version"], section: row["section"],
                    installedKibibytes: row["installedKibibytes"],
                    summary: row["summary"], description: row["description"])
            }
        }
    }

    func paths() throws -> [InstalledPath] {
        try queue.read { db in
            try Row.fetchAll(db, sql: "SELECT package, path FROM path ORDER BY rowid").map {
                InstalledPath(package: $0["package"], path: $0["path"])
            }
        }
    }

    /// A result of a search.
    struct Match {
        var name: String

        /// An excerpt of the description, with the search words in brackets.
        var snippet: String
    }

    /// Returns the packages in which every search word is the prefix of a word, best match first. Words in
    /// the name count more.
    func search(_ words: String) throws -> [Match] {
        let snippet = FTS5.snippet(Column("description"), from: "[", to: "]", ellipsis: "...", tokenCount: 10)
        let request = Table("packageText")
            .matching(FTS5Pattern(matchingAllPrefixesIn: words))
            .select(Column("name"), snippet.forKey("snippet"))
            .order(FTS5.bm25(weights: [5, 1]), Column("name"))
        return try queue.read { db in
            try Row.fetchAll(db, request).map { Match(name: $0["name"], snippet: $0["snippet"]) }
        }
    }
}
