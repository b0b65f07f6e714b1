import Coffer
import CofferTestSupport
import Foundation

/// A change to table `t (id, v, note)`, made in one of the ways that Coffer offers, and the same change to a
/// dictionary.
enum Operation: CaseIterable {
    case insert, insertNamed, insertCached, insertInterpolated, replace, upsert, update, delete, read,
        savepoint, failure

    static func random(_ random: inout SeededRandom) -> Operation {
        allCases.randomElement(using: &random) ?? .insert
    }

    func run(_ db: Database, _ model: inout [Int64: RandomValue], _ random: inout SeededRandom) throws {
        let id = Int64.random(in: 1...700, using: &random)
        let value = RandomValue.random(&random)
        switch self {
        case .insert:
            guard model[id] == nil else { return try Operation.update.run(db, &model, &random) }
            try db.execute(
                sql: "INSERT INTO t (id, v) VALUES (?, \(value.placeholder))",
                arguments: [id, value.argument])
            try require(db.lastInsertedRowID == id && db.changesCount == 1)
            model[id] = value
        case .insertNamed:
            guard model[id] == nil else { return try Operation.delete.run(db, &model, &random) }
            let placeholder = value.placeholder.replacing("?", with: ":value")
            try db.execute(
                sql: "INSERT INTO t (v, id) VALUES (\(placeholder), :id)",
                arguments: ["id": id, "value": value.argument])
            model[id] = value
        case .insertCached:
            let free = (model.keys.max() ?? 0) + 1
            let statement = try db.cachedStatement(
                sql: "INSERT INTO t (id, v) VALUES (?, \(value.placeholder))")
            try statement.execute(arguments: [free, value.argument])
            model[free] = value
        case .insertInterpolated:
            guard case .text(let text) = value, model[id] == nil else { return }
            try db.execute(literal: "INSERT INTO t (id, v) VALUES (\(id), \(text))")
            model[id] = value
        case .replace:
            try db.execute(
                sql: "REPLACE INTO t (id, v) VALUES (?, \(value.placeholder))",
                arguments: [id, value.argument])
            model[id] = value
        case .upsert:
            try db.execute(
                sql:
                    "INSERT INTO t (id, v) VALUES (?, \(value.placeholder)) ON CONFLICT (id) DO UPDATE SET v = excluded.v",
                arguments: [id, value.argument])
            model[id] = value
        case .update:
            try db.execute(
                sql: "UPDATE t SET v = \(value.placeholder), note = 'n' WHERE id = ?",
                arguments: [value.argument, id])
            try require(db.changesCount == (model[id] == nil ? 0 : 1))
            if model[id] != nil { model[id] = value }
        case .delete:
            try db.execute(sql: "DELETE FROM t WHERE id BETWEEN ? AND ?", arguments: [id, id + 2])
            for id in id...id + 2 { model[id] = nil }
        case .read:
            let row = try Row.fetchOne(db, sql: "SELECT v FROM t WHERE id = :id", arguments: ["id": id])
            try require((row == nil) == (model[id] == nil))
            if let row, let expected = model[id] {
                try require(expected.matches(row[0]), "\(expected), \(row)")
            }
        case .savepoint:
            let before = model
            try db.inSavepoint {
                for _ in 0..<3 { try Operation.upsert.run(db, &model, &random) }
                let isKept = Bool.random(using: &random)
                if !isKept { model = before }
                return isKept ? .commit : .rollback
            }
        case .failure:
            guard let existing = model.keys.first else { return }
            do {
                try db.execute(
                    sql: "INSERT INTO t (id) VALUES (?), (?)",
                    arguments: [(model.keys.max() ?? 0) + 5, existing])
                try require(false, "a duplicate was inserted")
            } catch let error as DatabaseError {
                try require(error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
            }
        }
    }
}

/// Deterministic SQL expressions without side effects.
enum RandomExpression {
    static func make(depth: Int, _ random: inout SeededRandom) -> String {
        guard depth > 0, Int.random(in: 0..<6, using: &random) > 0 else { return leaf(&random) }
        let a = make(depth: depth - 1, &random)
        let b = make(depth: depth - 1, &random)
        return [
            "(\(a)) + (\(b))", "(\(a)) - (\(b))", "(\(a)) * (\(b))", "(\(a)) / (\(b))", "(\(a)) % (\(b))",
            "(\(a)) || (\(b))",
            "(\(a)) & (\(b))", "(\(a)) << ((\(b)) & 31)", "-(\(a))", "~(\(a))", "NOT (\(a))",
            "(\(a)) < (\(b))", "(\(a)) IS (\(b))",
            "(\(a)) LIKE (\(b))", "(\(a)) BETWEEN 0 AND (\(b))", "coalesce(\(a), \(b))", "max(\(a), \(b))",
            "abs(\(a))", "length(\(a))",
            "upper(\(a))", "substr(\(a), 2, 3)", "hex(\(a))", "quote(\(a))", "typeof(\(a))",
            "CAST(\(a) AS INTEGER)", "CAST(\(a) AS REAL)",
            "CAST(\(a) AS TEXT)", "CAST(\(a) AS BLOB)", "round(\(a), 2)", "instr(\(a), \(b))",
            "replace(\(a), 'a', \(b))", "unicode(\(a))",
            "CASE WHEN \(a) THEN \(b) ELSE 1 END", "(\(a)) IN (1, 'a', NULL, \(b))",
            "printf('%d %s %g', \(a), \(b), \(a))", "trim(\(a))",
        ].randomElement(using: &random) ?? a
    }

    private static func leaf(_ random: inout SeededRandom) -> String {
        while true {
            switch RandomValue.random(&random) {
            // Infinity would need a function of the shell, which Coffer does not have.
            case .real(let value) where value.isFinite: return "\(value)"
            case .real: continue
            case .text(let text) where text.utf8.count > 100: continue
            case .blob(let bytes) where bytes.count > 100: continue
            case .brokenText(let bytes) where bytes.count > 100: continue
            case let value: return value.literal
            }
        }
    }
}

/// The database and the model disagree.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

private func require(
    _ condition: Bool, _ message: @autoclosure () -> String = "the database and the model disagree"
) throws {
    if !condition { throw Disagreement(description: message()) }
}
