/// The unique names of the tables in a query.
enum TableNames {
    /// Returns the name of each table: its own name if it occurs once in the query, or else its name with a
    /// number.
    ///
    /// - Parameter tables: the tables in the order of the query, each with the name that its alias gives it.
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if two aliases have the same name.
    static func names(of tables: [(tableName: String, aliasName: String?)]) throws -> [String] {
        var counts: [CaseInsensitiveName: Int] = [:]
        var aliasNames: Set<CaseInsensitiveName> = []
        for table in tables {
            counts[CaseInsensitiveName(table.aliasName ?? table.tableName), default: 0] += 1
            if let name = table.aliasName, !aliasNames.insert(CaseInsensitiveName(name)).inserted {
                throw DatabaseError.misuse(
                    "Two tables of this request have the alias \(name.quotedDatabaseIdentifier). Use "
                        + "different names.")
            }
        }
        let isUnclear = { (table: (tableName: String, aliasName: String?)) in
            table.aliasName == nil && counts[CaseInsensitiveName(table.tableName), default: 0] > 1
        }
        guard tables.contains(where: isUnclear) else { return tables.map { $0.aliasName ?? $0.tableName } }
        var taken = Set(
            tables.filter { !isUnclear($0) }.map { CaseInsensitiveName($0.aliasName ?? $0.tableName) })
        return tables.map { table in
            guard isUnclear(table) else { return table.aliasName ?? table.tableName }
            let digits = table.tableName.utf8.reversed().prefix(while: \.isASCIIDigit).count
            let root = String(table.tableName.dropLast(digits))
            var number = 1
            while !taken.insert(CaseInsensitiveName("\(root)\(number)")).inserted { number += 1 }
            return "\(root)\(number)"
        }
    }
}
