import Coffer
import CofferTestSupport
import Foundation

/// A table with random names, types, keys and rows. It is created through the library, and again with the
/// test's own SQL.
struct RandomTable {
    enum Key: CaseIterable {
        case none, rowID, autoIncremented, text, composite

        var columnCount: Int {
            switch self {
            case .none: 0
            case .rowID, .autoIncremented, .text: 1
            case .composite: 2
            }
        }
    }

    struct Column {
        let name: String
        let type: Database.ColumnType?
        let isNotNull: Bool
        let defaultValue: Int?
    }

    let name: String
    let key: Key
    let isWithoutRowID: Bool
    let columns: [Column]
    var rows: [[DatabaseValue]] = []

    static let twin = "twin"

    private static let names = [
        "a", "B", "select", "order", "group", "a b", "a\"b", "a'b", "é", "E\u{301}", "表", "\u{1F600}", "x;--",
        "[x]", "`x`", "1", "rowId2",
        "?1", ":n", "a.b", "%", "\\", "values", "null", "\"", "", " ",
    ]

    init(_ random: inout SeededRandom) {
        var names = Self.names.shuffled(using: &random)
        // A table's name cannot be empty; a column's can.
        name = "t" + names.removeLast()
        key = Key.allCases.randomElement(using: &random) ?? .none
        isWithoutRowID = [.text, .composite].contains(key) && Bool.random(using: &random)
        let types: [Database.ColumnType?] = [
            .integer, .text, .double, .blob, .numeric, .datetime, .boolean, .any, nil,
        ]
        let count = Int.random(in: 2...6, using: &random)
        var columns: [Column] = []
        for index in 0..<count {
            let isKey = index < key.columnCount
            let type: Database.ColumnType? =
                switch key {
                case .rowID where isKey, .autoIncremented where isKey: .integer
                case .text where isKey: .text
                default: types.randomElement(using: &random) ?? nil
                }
            let takesDefault = !isKey && Int.random(in: 0..<4, using: &random) == 0
            columns.append(
                Column(
                    name: names.removeLast(), type: type,
                    isNotNull: takesDefault && Bool.random(using: &random),
                    defaultValue: takesDefault ? Int.random(in: -5...5, using: &random) : nil))
        }
        self.columns = columns
        for number in 0..<Int.random(in: 0...25, using: &random) { rows.append(row(number, &random)) }
    }

    private var keyCount: Int { key.columnCount }

    /// The names of the key's columns.
    var keyColumns: [String] { columns.prefix(keyCount).map(\.name) }

    func row(_ number: Int, _ random: inout SeededRandom) -> [DatabaseValue] {
        columns.enumerated().map { index, column in
            if index < keyCount {
                switch key {
                case .rowID, .autoIncremented: return (number * 3 + 1).databaseValue
                case .text: return "key \(number)'\"".databaseValue
                // Values in the first column of the key repeat.
                case .composite, .none:
                    return index == 0 ? (number / 2).databaseValue : "k\(number)".databaseValue
                }
            }
            let value = Self.value(&random)
            return value.isNull && column.isNotNull ? 0.databaseValue : value
        }
    }

    /// Returns a small value, so that comparisons are often true.
    static func value(_ random: inout SeededRandom) -> DatabaseValue {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: .null
        case 2, 3, 4: Int.random(in: -3...3, using: &random).databaseValue
        case 5: (Double(Int.random(in: -6...6, using: &random)) / 2).databaseValue
        case 6, 7:
            (["a", "A", "b", "ab", "", "1", "2.5", "%", "'", "\"", "é"].randomElement(using: &random) ?? "")
                .databaseValue
        case 8: Data([[], [1], [0x61]].randomElement(using: &random) ?? []).databaseValue
        default: Bool.random(using: &random).databaseValue
        }
    }

    // MARK: - By the library

    func create(_ db: Database) throws {
        try db.create(table: name, options: isWithoutRowID ? .withoutRowID : []) { t in
            func add(_ column: Column) -> ColumnDefinition {
                let definition = t.column(column.name, column.type)
                if column.isNotNull { definition.notNull() }
                if let value = column.defaultValue { definition.defaults(to: value) }
                return definition
            }
            switch key {
            case .none: columns.forEach { _ = add($0) }
            case .rowID, .text:
                t.primaryKey(columns[0].name, columns[0].type ?? .text)
                columns.dropFirst().forEach { _ = add($0) }
            case .autoIncremented:
                t.autoIncrementedPrimaryKey(columns[0].name)
                columns.dropFirst().forEach { _ = add($0) }
            case .composite:
                t.primaryKey { columns.prefix(2).forEach { _ = add($0) } }
                columns.dropFirst(2).forEach { _ = add($0) }
            }
        }
    }

    // MARK: - By hand

    func createTwin(_ db: Database) throws {
        var items = columns.enumerated().map { index, column in
            var item = Self.quote(column.name)
            if let type = column.type { item += " " + type.rawValue }
            if index < keyCount {
                switch key {
                case .rowID: item += " PRIMARY KEY"
                case .autoIncremented: item += " PRIMARY KEY AUTOINCREMENT"
                case .text: item += " NOT NULL PRIMARY KEY"
                case .composite, .none: item += " NOT NULL"
                }
            }
            if column.isNotNull { item += " NOT NULL" }
            if let value = column.defaultValue { item += " DEFAULT (\(value))" }
            return item
        }
        if key == .composite {
            items.append("PRIMARY KEY (\(keyColumns.map(Self.quote).joined(separator: ", ")))")
        }
        try db.execute(
            sql:
                "CREATE TABLE \(Self.twin) (\(items.joined(separator: ", ")))\(isWithoutRowID ? " WITHOUT ROWID" : "")"
        )
    }

    /// Fills a table with SQL.
    func insertRows(_ db: Database, into table: String) throws {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        for row in rows {
            try db.execute(
                sql: "INSERT INTO \(Self.quote(table)) VALUES (\(marks))", arguments: StatementArguments(row))
        }
    }

    /// Quotes a name differently from the library: splits it at quotes and joins the parts with doubled
    /// quotes.
    static func quote(_ name: String) -> String {
        "\""
            + name.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false).map { String($0) }
            .joined(separator: "\"\"")
            + "\""
    }
}
