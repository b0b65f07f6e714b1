internal import SQLCipherBridge

/// Compares the content of two databases in one pass over each, with two rows in memory at a time.
struct ContentDifference {
    let old: ConnectionHandle
    let new: ConnectionHandle

    /// Called regularly; throws to end the comparison.
    let checkpoint: () throws -> Void

    /// Called for each row that differs; nil to only count such rows.
    var row: ((DatabaseFile.RowDifference) throws -> Void)?

    func run() throws -> DatabaseFile.Difference {
        let (before, after) = try (ContentDifference.schema(of: old), ContentDifference.schema(of: new))
        var result = DatabaseFile.Difference()
        for name in ["user_version", "application_id", "encoding"] {
            let values = try (
                old.firstText(trusted: "PRAGMA main.\(name)") ?? "",
                new.firstText(trusted: "PRAGMA main.\(name)") ?? ""
            )
            if values.0 != values.1 {
                result.settings.append(.init(name: name, before: values.0, after: values.1))
            }
        }
        for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
            result.schema.append(
                .init(
                    type: key.type, name: key.name.text.readableIdentifier,
                    before: before[key]?.text.readableIdentifier, after: after[key]?.text.readableIdentifier))
        }
        let names = try (
            old.storedTableNames().map(ExactText.init), new.storedTableNames().map(ExactText.init)
        )
        for name in Set(names.0).union(names.1).sorted() {
            result.tables.append(
                try table(name.text, isOld: names.0.contains(name), isNew: names.1.contains(name)))
        }
        return result
    }

    private struct SchemaKey: Hashable, Comparable {
        let type: String
        let name: ExactText

        static func < (lhs: SchemaKey, rhs: SchemaKey) -> Bool { (lhs.type, lhs.name) < (rhs.type, rhs.name) }
    }

    private static func schema(of handle: ConnectionHandle) throws -> [SchemaKey: ExactText] {
        var result: [SchemaKey: ExactText] = [:]
        try handle.forEachRow(
            trusted: "SELECT type, name, ifnull(sql, '') FROM main.sqlite_master"
        ) { row in
            let key = SchemaKey(type: row.string(at: 0), name: ExactText(row.identifier(at: 1)))
            result[key] = ExactText(row.identifier(at: 2))
        }
        return result
    }

    private func table(_ name: String, isOld: Bool, isNew: Bool) throws -> DatabaseFile.TableDifference {
        var difference = DatabaseFile.TableDifference(name: name.readableIdentifier)
        let before = try isOld ? TableSide(name, old) : nil
        let after = try isNew ? TableSide(name, new) : nil
        guard let before, let after else {
            if let before {
                difference.removedCount = try all(before, &difference.rowCountBefore, isOld: true)
            }
            if let after { difference.addedCount = try all(after, &difference.rowCountAfter, isOld: false) }
            return difference
        }
        guard before.table.identity == after.table.identity,
            before.table.fields.map(ExactText.init) == after.table.fields.map(ExactText.init)
        else {
            // The columns differ, so there is nothing to compare rows by.
            difference.isComparable = false
            difference.rowCountBefore = try before.count(checkpoint)
            difference.rowCountAfter = try after.count(checkpoint)
            return difference
        }
        switch before.table.identity {
        case .rowID: try merge(before, after, &difference)
        case .primaryKey where before.hasUnknownOrder || after.hasUnknownOrder:
            try inOrder(before, after, &difference)
        case .primaryKey: try lookUp(before, after, &difference)
        case .none: try inOrder(before, after, &difference)
        }
        return difference
    }

    /// Reports all rows of a table that only one database has.
    private func all(_ side: TableSide, _ rowCount: inout Int, isOld: Bool) throws -> Int {
        while try side.step() {
            rowCount += 1
            try tick(rowCount)
            try report(
                side.name, isOld ? .removed : .added, before: isOld ? side : nil, after: isOld ? nil : side)
        }
        return rowCount
    }

    /// Compares tables with row IDs, whose rows are read in the order of their IDs.
    private func merge(
        _ before: TableSide, _ after: TableSide, _ difference: inout DatabaseFile.TableDifference
    ) throws {
        var (hasOld, hasNew) = try (before.step(), after.step())
        while hasOld || hasNew {
            let (first, second) = (hasOld ? before.rowID : nil, hasNew ? after.rowID : nil)
            let isOldFirst = first.map { one in second.map { one <= $0 } ?? true } ?? false
            let isNewFirst = second.map { two in first.map { two <= $0 } ?? true } ?? false
            if isOldFirst { difference.rowCountBefore += 1 }
            if isNewFirst { difference.rowCountAfter += 1 }
            try tick(difference.rowCountBefore + difference.rowCountAfter)
            switch (isOldFirst, isNewFirst) {
            case (true, true):
                if try !before.hasSameRow(as: after) {
                    difference.changedCount += 1
                    try report(before.name, .changed, before: before, after: after)
                }
            case (true, false):
                difference.removedCount += 1
                try report(before.name, .removed, before: before, after: nil)
            default:
                difference.addedCount += 1
                try report(before.name, .added, before: nil, after: after)
            }
            if isOldFirst { hasOld = try before.step() }
            if isNewFirst { hasNew = try after.step() }
        }
    }

    /// Compares tables without row IDs. Collations determine the order of their keys, so each row is looked
    /// up.
    private func lookUp(
        _ before: TableSide, _ after: TableSide, _ difference: inout DatabaseFile.TableDifference
    ) throws {
        let (oldKeys, newKeys) = try (before.finder(), after.finder())
        while try before.step() {
            difference.rowCountBefore += 1
            try tick(difference.rowCountBefore)
            try newKeys.find(before) { found in
                guard let found else {
                    difference.removedCount += 1
                    return try report(before.name, .removed, before: before, after: nil)
                }
                guard try !before.hasSameRow(as: found) else { return }
                difference.changedCount += 1
                try report(before.name, .changed, before: before, after: found)
            }
        }
        while try after.step() {
            difference.rowCountAfter += 1
            try tick(difference.rowCountAfter)
            try oldKeys.find(after) { found in
                guard found == nil else { return }
                difference.addedCount += 1
                try report(before.name, .added, before: nil, after: after)
            }
        }
    }

    /// Compares tables whose columns use all names of the row ID, and tables whose keys only the application
    /// can compare. Rows are compared in their order, and only as a whole.
    private func inOrder(
        _ before: TableSide, _ after: TableSide, _ difference: inout DatabaseFile.TableDifference
    ) throws {
        var (hasOld, hasNew) = try (before.step(), after.step())
        while hasOld || hasNew {
            if hasOld { difference.rowCountBefore += 1 }
            if hasNew { difference.rowCountAfter += 1 }
            try tick(difference.rowCountBefore + difference.rowCountAfter)
            if try !hasOld || !hasNew || !before.hasSameRow(as: after) { difference.isComparable = false }
            if hasOld { hasOld = try before.step() }
            if hasNew { hasNew = try after.step() }
        }
    }

    private func tick(_ count: Int) throws {
        if count.isMultiple(of: ContentFingerprint.rowsBetweenCheckpoints) { try checkpoint() }
    }

    private func report(
        _ table: String, _ change: DatabaseFile.RowDifference.Change, before: TableSide?, after: TableSide?
    ) throws {
        guard let row, let side = before ?? after else { return }
        try row(
            DatabaseFile.RowDifference(
                table: table.readableIdentifier, change: change,
                columns: side.table.names.map(\.readableIdentifier), before: before?.literals(),
                after: after?.literals()))
    }
}

/// A table of one of two databases, with its current row.
private final class TableSide {
    let name: String
    let table: StoredTable
    private let handle: ConnectionHandle
    fileprivate let rows: StoredRows
    private let standIns: StandIns
    private let literal: ScriptLiteral
    private let encoding: TextEncoding

    convenience init(_ name: String, _ handle: ConnectionHandle) throws {
        try self.init(StoredTable(name: name, in: handle), handle, where: nil)
    }

    private init(_ table: StoredTable, _ handle: ConnectionHandle, where condition: String?) throws {
        self.table = table
        self.handle = handle
        name = table.name
        standIns = StandIns(on: handle)
        try standIns.add(collations: table.keyCollations)
        rows = try StoredRows(of: table, in: handle, where: condition)
        encoding = try handle.textEncoding()
        literal = try ScriptLiteral(handle, encoding)
    }

    deinit { standIns.remove() }

    /// Advances to the next row, if there is one.
    func step() throws -> Bool { try rows.step() }

    /// True if only the application knows the order of the keys.
    var hasUnknownOrder: Bool { standIns.replacesAny(of: table.keyCollations) }

    func count(_ checkpoint: () throws -> Void) throws -> Int {
        try checkpoint()
        return try Int(
            handle.firstText(trusted: "SELECT count(*) FROM main.\(name.quotedDatabaseIdentifier)") ?? "")
            ?? 0
    }

    /// The row ID of the current row, or zero if the table has none.
    var rowID: Int64 {
        guard case .rowID(let index) = table.identity else { return 0 }
        let (statement, column) = rows.row.field(index)
        return statement.int64(at: column)
    }

    /// Returns true if both rows have the same types and values, byte for byte.
    func hasSameRow(as other: TableSide) throws -> Bool {
        let (row, otherRow) = (rows.row, other.rows.row)
        for index in table.fields.indices {
            let (field, column) = row.field(index)
            let (otherField, otherColumn) = otherRow.field(index)
            let type = field.columnType(at: column)
            guard type == otherField.columnType(at: otherColumn) else { return false }
            switch type {
            case EngineType.integer:
                guard field.int64(at: column) == otherField.int64(at: otherColumn) else { return false }
            case EngineType.float:
                guard
                    field.double(at: column).bitPattern == otherField.double(at: otherColumn).bitPattern
                else {
                    return false
                }
            case EngineType.text where encoding != other.encoding:
                guard field.string(at: column).hasSameBytes(as: otherField.string(at: otherColumn)) else {
                    return false
                }
            case EngineType.text, EngineType.blob:
                let bytes = unsafe field.storedBytes(at: column, encoding: encoding)
                let otherBytes = unsafe otherField.storedBytes(at: otherColumn, encoding: other.encoding)
                guard unsafe bytes.elementsEqual(otherBytes) else { return false }
            default: break
            }
        }
        return true
    }

    func literals() throws -> [String] {
        try table.fields.indices.map {
            let (statement, column) = rows.row.field($0)
            return String(decoding: try literal.text(at: column, of: statement), as: UTF8.self)
        }
    }

    /// Returns a finder for rows of this table by their key.
    func finder() throws -> RowFinder {
        guard case .primaryKey(let keys) = table.identity else {
            throw EngineError(code: EngineCode.error, message: "The rows of a table have no key")
        }
        // One comparison of two row values: an expression with many comparisons can exceed SQLite's depth
        // limit.
        let list = keys.map(\.text).joined(separator: ", ")
        let condition = "(\(list)) = (\(databaseQuestionMarks(count: keys.count)))"
        let columns = keys.compactMap { key in
            table.fields.firstIndex { $0.hasSameBytes(as: key.text) }.map { CInt($0) }
        }
        return RowFinder(try TableSide(table, handle, where: condition), columns: columns)
    }

    struct RowFinder {
        private let side: TableSide
        private let columns: [CInt]

        fileprivate init(_ side: TableSide, columns: [CInt]) {
            self.side = side
            self.columns = columns
        }

        /// - Parameter body: called with the row that has the same key as the current row of another table,
        ///   or with nil if there is no such row.
        func find(_ other: TableSide, _ body: (TableSide?) throws -> Void) throws {
            let statement = side.rows.statement
            statement.reset()
            defer { statement.reset() }
            for (index, column) in columns.enumerated() {
                let code = statement.bind(
                    column: column, of: other.rows.statement, encoding: other.encoding, at: CInt(index + 1))
                guard code == EngineCode.ok else {
                    throw EngineError(code: code, message: side.handle.lastErrorMessage)
                }
            }
            try body(try side.step() ? side : nil)
        }
    }
}
