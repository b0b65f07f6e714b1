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
        "ignores IN before a list of values and inside other words",
        arguments: [
            "", "IN", "SELECT x IN (?, ?)", "SELECT x NOT IN (1, 2)", "SELECT x IN ('a')", "SELECT x IN ()",
            "SELECT x IN (((1)))", "INSERT INTO t SELECT min (s), in_ FROM inner", "SELECT _in (s), a$in (s)",
            "SELECT x IN (:s)", "SELECT x IN (",
        ])
    func otherIn(sql: String) {
        #expect(!SQLScanner.mayHaveInQuery(sql))
    }

    @Test(
        "finds the keyword REPLACE",
        arguments: [
            "REPLACE INTO t VALUES (1)", "INSERT OR replace INTO t VALUES (replace('a', 'b', 'c'))",
            "CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE)", "UPDATE OR REPLACE \"(\" SET a = 1",
            "UPDATE OR/**/REPLACE/**/t SET a = 1", "CREATE TABLE t (a PRIMARY KEY on conflict replace, b)",
        ])
    func replace(sql: String) {
        #expect(SQLScanner.mentionsReplace(sql))
    }

    @Test(
        "does not mistake the function replace, literals, comments and names for the keyword REPLACE",
        arguments: [
            "", "SELECT replace(a, 'b', 'c'), REPLACE /* REPLACE t */ (a, 'b', 'c') FROM t",
            "INSERT INTO t VALUES ('OR REPLACE INTO')", "SELECT 1 -- OR REPLACE INTO t",
            "SELECT irreplaceable, replaced FROM t", "SELECT a OR replace(a, 'b', 'c') FROM \"replace\"",
        ])
    func otherReplace(sql: String) {
        #expect(!SQLScanner.mentionsReplace(sql))
    }
}
