internal import ArgumentParser
internal import Coffer

struct SchemaCommand: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "schema <file> [<name>...] [options]",
        abstract: "Print the schema of a database: its tables, indexes, views and triggers.",
        discussion: """
            Prints the CREATE statements, in the order of a dump. With names, prints only these tables and \
            views, with their indexes and triggers. Internal objects of SQLite and of virtual tables are \
            omitted, unless --all is given. Exit code 1 if a name does not exist.

            EXAMPLES
              coffer schema app.db --tables
              coffer schema app.db note tag
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: .value("name", "Tables and views; all if none is given."))
    var objects: [String] = []

    @Flag(help: "Print only the names of tables and views.")
    var tables = false

    @Flag(help: "Also print internal objects of SQLite and of virtual tables.")
    var all = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            try tell(opening, session, trail)
        }
    }

    private func tell(_ opening: FileKey, _ session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let configuration = session.configuration(opening.database, cipher.settings, readonly: true)
        var missing: [String] = []
        try trail.record(file, .kept(opening.key)) { _ in
            let queue = try ReadableQueue.open(file, configuration)
            let schema = try queue.read { db in try SchemaText(db, includesInternal: all) }
            try queue.close()
            missing = objects.filter { name in !schema.objects.contains { $0.isOf(name) } }
            for object in schema.objects where objects.isEmpty || objects.contains(where: object.isOf) {
                guard !tables || ["table", "view"].contains(object.type) else { continue }
                session.reporter.result(
                    object.json, text: [tables ? object.name : object.statement], isAnswer: true,
                    keepsLines: !tables)
            }
            return false
        }
        guard missing.isEmpty else {
            throw Failure(
                .answerIsNo, "no_such_table", "There is no table or view '\(missing[0])' in '\(file)'.")
        }
        return .done
    }
}
