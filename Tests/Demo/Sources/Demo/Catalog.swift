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
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL, section TEXT NOT NULL,
                        installedKibibytes INTEGER, summary TEXT NOT NULL, description TEXT NOT NULL);
                    CREATE TABLE path (package TEXT NOT NULL, path TEXT NOT NULL);
                    CREATE VIRTUAL TABLE packageText USING fts5(name, description, content='package', content_rowid='id');
                    """)
            let insertPackage = try db.makeStatement(
                sql: """
                    INSERT INTO package (name, version, section, installedKibibytes, summary, description) VALUES (?, ?, ?, ?, ?, ?)
                    """)
            for package in packages {
                try insertPackage.execute(arguments: [
                    package.name, package.version, package.section, package.installedKibibytes, package.summary, package.description,
                ])
            }
            let insertPath = try db.makeStatement(sql: "INSERT INTO path (package, path) VALUES (?, ?)")
            for path in paths {
                try insertPath.execute(arguments: [path.package, path.path])
            }
            try db.execute(sql: "INSERT INTO packageText (packageText) VALUES ('rebuild')")
        }
    }

    func packages() throws -> [InstalledPackage] {
        try queue.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM package ORDER BY id").map { row in
                InstalledPackage(
                    name: row["name"], version: row["version"], section: row["section"], installedKibibytes: row["installedKibibytes"],
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

    /// The names of the packages that match, best first.
    func search(_ pattern: String) throws -> [String] {
        try queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT package.name FROM packageText JOIN package ON package.id = packageText.rowid
                    WHERE packageText MATCH ? ORDER BY rank, package.name
                    """,
                arguments: [pattern])
        }
    }
}
