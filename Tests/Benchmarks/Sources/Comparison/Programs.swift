import Dispatch
import Foundation

/// Executes a statement by hand. The comparison cannot import the C functions of both engines, so it declares
/// those that it needs by their symbols.
@_silgen_name("sqlite3_step") private func step(_ statement: OpaquePointer) -> CInt
@_silgen_name("sqlite3_reset") private func reset(_ statement: OpaquePointer) -> CInt

/// A stream that stores the printed lines.
private struct LineStream: TextOutputStream, Sendable {
    let lines: Lines

    func write(_ string: String) {
        let text = string.trimmingCharacters(in: .newlines)
        if !text.isEmpty { lines.add(text) }
    }
}

extension Comparison {
    /// Behavior that the tests of programs and of companion packages rely on.
    static func programs(_ area: Area) {
        observedQueues(area)
        accesses(area)
        area.call("cursor.error") { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT json('{')")
            return (1...3).map { _ in code { try cursor.next() } }
        }
        area.call("cursor.error.rows") { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT '{}' AS a UNION ALL SELECT json('{')")
            return (1...3).map { _ in code { try cursor.next() } }
        }
        area.call("statement.step") { db in
            let statement = try db.makeStatement(sql: "INSERT INTO loose VALUES (?, 'step')")
            try statement.execute(arguments: ["first"])
            let codes = [
                reset(statement.sqliteStatement), step(statement.sqliteStatement),
                reset(statement.sqliteStatement),
            ]
            try statement.execute(arguments: ["last"])
            return try ["\(codes)"]
                + Row.fetchAll(db, sql: "SELECT * FROM loose WHERE b = 'step'").map(\.description)
        }
        area.value("arguments.mirror") {
            let arguments: StatementArguments = [1, "a"]
            return Mirror(reflecting: arguments).children.contains { $0.label == "values" }
        }
        area.call("pageSize") { db in try Row.fetchOne(db, sql: "PRAGMA page_size") }
        area.call("pageSize.integer") { db in try Int.fetchOne(db, sql: "PRAGMA page_size") }
        area.value("date.milliseconds") {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = TimeZone(identifier: "UTC")!
            return [1, 123, 456, 678, 999].map { millisecond in
                let text = String(format: "2018-12-31 23:59:59.%03d", millisecond)
                let nanosecond = Date.fromDatabaseValue(text.databaseValue).map {
                    calendar.component(.nanosecond, from: $0)
                }
                return nanosecond.map { abs($0 - millisecond * 1_000_000) <= 10 }
            }
        }
        area.value("date.components") {
            DatabaseDateComponents.fromDatabaseValue("2018-12-31 23:59:59.999123".databaseValue)?
                .dateComponents.nanosecond
        }
    }

    /// Observations of queues, which fetch in the access that changes their values. When a pool fetches is
    /// not determined.
    private static func observedQueues(_ area: Area) {
        guard !area.databases.isPool else { return }
        func observed<Value: Sendable>(
            _ name: String, values: Int,
            _ observation: ValueObservation<ValueReducers.Fetch<Value>>,
            _ access: @escaping @Sendable (Database) throws -> Void
        ) {
            area.sample("observed." + name) { writer in
                let lines = Lines(), arrived = DispatchSemaphore(value: 0),
                    queue = DispatchQueue(label: "observations")
                let cancellable = observation.print(to: LineStream(lines: lines))
                    .start(in: writer, scheduling: .async(onQueue: queue)) { _ in
                    } onChange: { _ in
                        arrived.signal()
                    }
                guard arrived.wait(timeout: .now() + 5) == .success else { return ["no value"] }
                try writer.writeWithoutTransaction(access)
                for _ in 1..<values { _ = arrived.wait(timeout: .now() + 5) }
                // One more value would arrive soon.
                _ = arrived.wait(timeout: .now() + 0.2)
                cancellable.cancel()
                queue.sync {}
                // Values are printed on another queue than changes and fetches.
                let isValue: (String) -> Bool = { $0.hasPrefix("value") }
                return lines.all.filter { !isValue($0) } + lines.all.filter(isValue)
            }
        }
        let insert: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "INSERT INTO owner (name) VALUES ('new')")
        }
        observed("transactions", values: 3, ValueObservation.tracking { try Owner.fetchCount($0) }) { db in
            try insert(db)
            try db.inTransaction {
                try insert(db)
                try insert(db)
                return .commit
            }
        }
        observed(
            "region", values: 2,
            ValueObservation.tracking(
                region: Owner.all(), fetch: { [try Owner.fetchCount($0), try Vault.fetchCount($0)] })
        ) { db in
            try insert(db)
            try db.execute(sql: "INSERT INTO vault (title) VALUES ('new')")
        }
        area.sample("observed.readonly") { writer in
            var configuration = area.databases.configuration
            configuration.readonly = true
            let lines = Lines(), arrived = DispatchSemaphore(value: 0),
                queue = DispatchQueue(label: "observations")
            let reader = try area.databases.open(writer.path, configuration)
            let cancellable = ValueObservation.tracking { try Owner.fetchCount($0) }
                .print(to: LineStream(lines: lines))
                .start(in: reader, scheduling: .async(onQueue: queue)) { _ in
                } onChange: { _ in
                    arrived.signal()
                }
            _ = arrived.wait(timeout: .now() + 5)
            cancellable.cancel()
            queue.sync {}
            return lines.all
        }
    }

    /// Where accesses run, and how databases are closed.
    private static func accesses(_ area: Area) {
        for isReadOnly in [false, true] {
            area.sample("targetQueue.\(isReadOnly)") { writer in
                let key = DispatchSpecificKey<String>()
                let target = DispatchQueue(label: "target"), writes = DispatchQueue(label: "writes")
                target.setSpecific(key: key, value: "target")
                writes.setSpecific(key: key, value: "writes")
                var configuration = area.databases.configuration
                configuration.readonly = isReadOnly
                configuration.targetQueue = target
                configuration.writeTargetQueue = writes
                let other = try area.databases.open(writer.path, configuration)
                return [
                    try other.read { _ in DispatchQueue.getSpecific(key: key) },
                    other.writeWithoutTransaction { _ in DispatchQueue.getSpecific(key: key) },
                ]
            }
        }
        area.sample("close.statement") { writer in
            let statement = try writer.unsafeReentrantRead { try $0.makeStatement(sql: "SELECT 2") }
            let closing = code { try writer.close() }
            return withExtendedLifetime(statement) { closing }
        }
    }

    /// Returns the code of the error that a function throws, or its result.
    private static func code<Value>(_ body: () throws -> Value) -> String {
        do {
            return Text.text(of: try body())
        } catch let error as DatabaseError {
            return "\(error.extendedResultCode.rawValue)"
        } catch {
            return Text.text(of: error)
        }
    }
}
