import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Indexes that do not match their tables")
struct IndexMismatchTests {
    private let tool: Tool
    private let verification = [
        "verify", "a.db", "--structure", "full", "--key-file", "a.key", "--key-type", "raw",
    ]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    @Test("an index that another engine wrote with other text is reported with a REINDEX statement")
    func otherTexts() throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE v (a REAL);
            INSERT INTO v VALUES (0.1), (0.5);
            CREATE INDEX texts ON v (CAST(a AS TEXT) || 'x');
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '''x''', '''y''') WHERE name = 'texts';
            """)
        let found = try tool.run(verification)
        #expect(found.status == 65, "\(found)")
        #expect(found.output.contains("row 1 missing from index texts"), "\(found)")
        #expect(found.errors.contains("`REINDEX \"texts\"`"), "\(found)")
        _ = try tool.shell().run("REINDEX texts;")
        let mended = try tool.run(verification)
        #expect(mended.status == 0, "\(mended)")
    }

    @Test("any other finding is damage")
    func others() {
        #expect(IndexMismatch([.structure("row 3 missing from index i")])?.indexes == ["i"])
        #expect(
            IndexMismatch([
                .structure("wrong # of entries in index i"), .structure("row 3 missing from index j"),
                .structure("row 4 missing from index i"),
            ])?.indexes == ["i", "j"])
        #expect(IndexMismatch([]) == nil)
        #expect(IndexMismatch([.notAuthentic(page: 2)]) == nil)
        #expect(
            IndexMismatch([.structure("row 3 missing from index i"), .structure("Tree 4 page 5: overflow")])
                == nil)
    }
}
