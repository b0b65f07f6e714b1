import Testing

@testable import Coffer

@Suite("The scanner of SQL")
struct SQLScannerTests {
    @Test(
        "finds IN before a subquery or a table",
        arguments: [
            "SELECT x NOT IN (SELECT y FROM t)", "SELECT x in(select y from t)", "SELECT x IN t",
            "SELECT x IN \"t\"", "SELECT x IN main.t", "SELECT 'a'IN[t]", "SELECT ?1IN(SELECT y FROM t)",
            "SELECT x IN (1) OR x IN ( ((SELECT y FROM t)))", "SELECT x IN -- all\n(SELECT y FROM t)",
            "SELECT x IN (/* all */ SELECT y FROM t)", "SELECT x IN (WITH c AS (SELECT 1) SELECT y FROM t)",
        ])
    func inQuery(sql: String) {
        #expect(SQLScanner.mayHaveInQuery(sql))
    }

    @Test(
        "ignores IN before a list of values, and in other words",
        arguments: [
            "", "IN", "SELECT x IN (?, ?)", "SELECT x NOT IN (1, 2)", "SELECT x IN ('a')", "SELECT x IN ()",
            "SELECT x IN (((1)))", "INSERT INTO t SELECT min (s), in_ FROM inner", "SELECT _in (s), a$in (s)",
            "SELECT x IN (:s)", "SELECT x IN (",
        ])
    func otherIn(sql: String) {
        #expect(!SQLScanner.mayHaveInQuery(sql))
    }
}
