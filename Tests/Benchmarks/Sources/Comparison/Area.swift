import Foundation

/// The calls of one area of the API. The output of each one follows its name: its result or error, and the
/// statements that it executed.
final class Area {
    let name: String
    let databases: Databases
    private let writer: any DatabaseWriter
    private var names: Set<String> = []

    init(name: String, databases: Databases) throws {
        self.name = name
        self.databases = databases
        writer = try databases.sample()
    }

    /// Makes a call in a transaction on the sample database, which is rolled back.
    func call<Value>(_ call: String, _ body: (Database) throws -> Value) {
        report(call) { lines in
            try writer.writeWithoutTransaction { db in
                try db.inTransaction {
                    try Self.traced(db, lines) { lines.add(Text.lines(of: try body(db))) }
                    return .rollback
                }
            }
        }
    }

    /// Writes the rows and count of a request, and whether it is empty.
    func rows<Request: FetchRequest>(_ call: String, _ request: @autoclosure () throws -> Request) {
        self.call(call) { db in
            let request = try request()
            let rows = try Row.fetchAll(db, request)
            let count = try request.fetchCount(db)
            return rows.map(\.description) + ["count: \(count)"]
        }
    }

    /// Makes a call without a transaction, on its own sample database.
    func bare<Value>(_ call: String, _ body: (Database) throws -> Value) {
        report(call) { lines in
            try databases.sample().writeWithoutTransaction { db in
                try Self.traced(db, lines) { lines.add(Text.lines(of: try body(db))) }
            }
        }
    }

    /// Makes a call on its own empty database.
    func fresh<Value>(_ call: String, _ body: (any DatabaseWriter) throws -> Value) {
        report(call) { lines in lines.add(Text.lines(of: try body(try databases.make()))) }
    }

    /// Makes a call on its own sample database.
    func sample<Value>(_ call: String, _ body: (any DatabaseWriter) throws -> Value) {
        report(call) { lines in lines.add(Text.lines(of: try body(try databases.sample()))) }
    }

    /// Makes a call without a database.
    func value<Value>(_ call: String, _ body: () throws -> Value) {
        report(call) { lines in lines.add(Text.lines(of: try body())) }
    }

    private func report(_ call: String, _ body: (Lines) throws -> Void) {
        precondition(names.insert(call).inserted, "Two calls have the name \(name).\(call).")
        // Written immediately, so that the last name in the output is the call that ended the process.
        Output.write("# \(name).\(call)")
        let lines = Lines()
        do { try body(lines) } catch { lines.add(Text.lines(of: error)) }
        for line in lines.all { Output.write("  " + line) }
    }

    private static func traced(_ db: Database, _ lines: Lines, _ body: () throws -> Void) throws {
        db.trace { lines.add(["sql: \(Text.oneLine($0.expandedDescription))"]) }
        defer { db.trace(options: [], nil) }
        do { try body() } catch { lines.add(Text.lines(of: error)) }
    }
}

/// The lines of a report, which closures append on any thread.
// @unchecked: `stored` is only touched with `lock` held.
final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: [String] = []

    func add(_ lines: [String]) { lock.withLock { stored += lines } }

    func add(_ line: String) { add([line]) }

    var all: [String] { lock.withLock { stored } }
}

enum Output {
    /// Writes a line immediately, with control characters escaped.
    static func write(_ line: String) {
        var text = ""
        for scalar in line.unicodeScalars {
            if scalar.value < 32 {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
