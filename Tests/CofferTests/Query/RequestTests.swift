import Coffer
import CofferTestSupport
import Testing

@Suite("Requests")
struct RequestTests {
    @Test("select columns, with DISTINCT and LIMIT") func selections() throws {
        try check(selectionCases())
    }
    @Test("start from tables without a record type") func tables() throws { try check(tableCases()) }
    @Test("filter rows") func filters() throws { try check(filterCases()) }
    @Test("filter rows by the keys of the schema") func keys() throws { try check(keyCases()) }
    @Test("group rows") func groups() throws { try check(groupCases()) }
    @Test("sort rows") func orders() throws { try check(orderCases()) }
    @Test("are nested, and refer to each other's tables") func nested() throws { try check(nestedCases()) }
    @Test("have common table expressions") func commonTables() throws { try check(commonTableCases()) }
    @Test("are parts of SQL literals, and so are tables") func interpolations() throws {
        try check(interpolationCases())
    }

    @Test("agree with the SQL that the stock shell executes", .enabled(if: SQLCipherShell.isAvailable))
    func agreementWithShell() throws {
        try withTestDirectory { directory throws in
            let queue = try directory.makeQueue()
            try queue.write { db throws in try db.execute(sql: leagueSQL) }
            let cases =
                selectionCases() + tableCases() + filterCases() + keyCases() + groupCases() + orderCases()
                + nestedCases()
                + commonTableCases() + interpolationCases()
            let script = cases.map { "\($0.handwritten);\n.print ---" }.joined(separator: "\n")
            let output = try SQLCipherShell(path: queue.path).run(".mode quote\n" + script)
            let answers = output.split(separator: "---", omittingEmptySubsequences: false).dropLast()
            try #require(answers.count == cases.count)
            try queue.read { db throws in
                for (requestCase, answer) in zip(cases, answers) {
                    let rows = try requestCase.rows(db).map { $0.map(\.shellText).joined(separator: ",") }
                    #expect(rows == Array(answer), "\(requestCase.expected)")
                }
            }
        }
    }
}

extension DatabaseValue {
    /// The value in the format of the shell's mode "quote".
    fileprivate var shellText: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): "'" + value.replacing("'", with: "''") + "'"
        case .blob(let value): "X'" + value.map { String($0, radix: 16) }.joined() + "'"
        }
    }
}
