import Foundation

/// Makes the calls of all areas with the library that this program was compiled with. The script `compare`
/// runs it with both libraries, and compares their output.
///
/// Arguments: `calls`, `write` or `reopen`, `plain` or `encrypted`, `queue` or `pool`, and the folder of the
/// files. `write` creates files with migration histories there, and `reopen` opens the files of both
/// libraries. After the folder, `calls` accepts names of areas.
@main
enum Comparison {
    struct WrongArguments: Error {}

    static let areas: [(name: String, calls: @Sendable (Area) throws -> Void)] = [
        ("values", values), ("conversions", conversions), ("rows", rows), ("statements", statements),
        ("requests", requests), ("expressions", expressions), ("subqueries", subqueries), ("joins", joins),
        ("prefetches", prefetches),
        ("persisting", persisting), ("schema", schema), ("migrations", migrations),
        ("transactions", transactions),
        ("observations", observations), ("functions", functions), ("failures", failures),
        ("fullText", fullText), ("json", json),
        ("dumps", dumps), ("surprises", surprises), ("programs", programs),
    ]

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 4 else { throw WrongArguments() }
        let databases = Databases(
            folder: arguments[3], isEncrypted: arguments[1] == "encrypted", isPool: arguments[2] == "pool")
        switch arguments[0] {
        case "calls":
            Output.write("# engine")
            let writer = try databases.make()
            Output.write(
                "  "
                    + (try writer.read {
                        try String.fetchOne($0, sql: "SELECT sqlite_version() || ' ' || sqlite_source_id()")!
                    }))
            Output.write(
                "  "
                    + (try writer.read {
                        try String.fetchOne($0, sql: "PRAGMA cipher_version") ?? "plain SQLite"
                    }))
            for area in areas where arguments.count == 4 || arguments[4...].contains(area.name) {
                try area.calls(Area(name: area.name, databases: databases))
            }
        case "write": try writeHistory(databases)
        case "reopen": try reopenHistory(databases)
        default: throw WrongArguments()
        }
    }
}
