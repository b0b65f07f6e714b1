import Coffer
import CofferTestSupport
import Testing

@Suite("Definitions of full-text tables")
struct FullTextDefinitionTests {
    private static let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT)"

    /// Returns the text after `USING` in the schema.
    private func module<Module: VirtualTableModule>(
        _ module: Module, _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws
        -> String
    {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: FullTextDefinitionTests.schema)
            // The functions that the tables of the specification use.
            db.add(function: DatabaseFunction("zip", argumentCount: 1, pure: true) { $0[0] })
            db.add(function: DatabaseFunction("unzip", argumentCount: 1, pure: true) { $0[0] })
            try db.create(virtualTable: "noteText", using: module, body)
            let sql =
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'noteText'") ?? ""
            let start = #"CREATE VIRTUAL TABLE "noteText" USING "#
            #expect(sql.hasPrefix(start))
            return String(sql.dropFirst(start.count))
        }
    }

    @Test("FTS3")
    func fts3() throws {
        #expect(FTS3().moduleName == "fts3")
        #expect(try module(FTS3()) == "fts3")
        #expect(
            try module(FTS3()) { t in
                t.column("title"); t.column("body")
            } == "fts3(title, body)")
        #expect(
            try module(FTS3()) { t in
                t.column("body"); t.tokenizer = .porter
            } == "fts3(body, tokenize=porter)")
    }

    @Test(
        "tokenizers of FTS3 and FTS4",
        arguments: [
            (FTS3TokenizerDescriptor.simple, "tokenize=simple"), (.porter, "tokenize=porter"),
            (.unicode61(), "tokenize=unicode61"),
            (.unicode61(diacritics: .keep), #"tokenize=unicode61 "remove_diacritics=0""#),
            (.unicode61(diacritics: .remove), #"tokenize=unicode61 "remove_diacritics=2""#),
            (.unicode61(separators: ["X"]), #"tokenize=unicode61 "separators=X""#),
            (.unicode61(tokenCharacters: [".", "-"]), #"tokenize=unicode61 "tokenchars=-.""#),
            (
                .unicode61(diacritics: .keep, separators: ["X"], tokenCharacters: ["\"", "-"]),
                #"tokenize=unicode61 "remove_diacritics=0" "separators=X" "tokenchars=""-""#
            ),
        ])
    func fts3Tokenizers(tokenizer: FTS3TokenizerDescriptor, sql: String) throws {
        #expect(try module(FTS3()) { $0.tokenizer = tokenizer } == "fts3(\(sql))")
        #expect(try module(FTS4()) { $0.tokenizer = tokenizer } == "fts4(\(sql))")
    }

    @Test("FTS4")
    func fts4() throws {
        #expect(FTS4().moduleName == "fts4")
        #expect(try module(FTS4()) == "fts4")
        #expect(
            try module(FTS4()) { t in
                t.column("title").notIndexed(); t.column("body")
            } == "fts4(title, notindexed=title, body)")
        #expect(
            try module(FTS4()) { t in
                t.column("body"); t.column("lid").asLanguageId()
            } == #"fts4(body, languageid="lid")"#)
        #expect(
            try module(FTS4()) { t in
                t.column("body")
                t.content = ""
            } == #"fts4(body, content="")"#)
        #expect(
            try module(FTS4()) { t in
                t.compress = "zip"; t.uncompress = "unzip"
            } == #"fts4(compress="zip", uncompress="unzip")"#)
        #expect(try module(FTS4()) { $0.matchinfo = "fts3" } == #"fts4(matchinfo="fts3")"#)
        #expect(try module(FTS4()) { $0.prefixes = [4, 2] } == #"fts4(prefix="2,4")"#)
        #expect(
            try module(FTS4()) { t in
                t.synchronize(withTable: "note"); t.column("body")
            } == #"fts4(body, content="note")"#)
        #expect(
            try module(FTS4()) { t in
                t.column("body")
                t.tokenizer = .porter
                t.content = "note"
                t.compress = "zip"
                t.uncompress = "unzip"
                t.matchinfo = "fts3"
                t.prefixes = [3]
            }
                == #"fts4(body, tokenize=porter, content="note", compress="zip", uncompress="unzip", matchinfo="fts3", prefix="3")"#
        )
    }

    @Test("FTS5")
    func fts5() throws {
        #expect(FTS5().moduleName == "fts5")
        #expect(
            try module(FTS5()) { t in
                t.column("title").notIndexed(); t.column("body")
            } == "fts5(title UNINDEXED, body)")
        #expect(
            try module(FTS5()) { t in
                t.column("body"); t.content = ""
            } == "fts5(body, content='')")
        #expect(
            try module(FTS5()) { t in
                t.column("body"); t.content = "note"; t.contentRowID = "id"
            }
                == "fts5(body, content='note', content_rowid='id')")
        #expect(
            try module(FTS5()) { t in
                t.column("body"); t.prefixes = [2, 4]; t.columnSize = 0; t.detail = "column"
            }
                == "fts5(body, prefix='2 4', columnSize=0, detail=column)")
        #expect(
            try module(FTS5()) { t in
                t.synchronize(withTable: "note"); t.column("body")
            }
                == "fts5(body, content='note', content_rowid='id')")
        #expect(
            try module(FTS5()) { t in
                t.column("body"); t.prefixes = [3]; t.content = "it's"; t.tokenizer = .ascii()
            }
                == "fts5(body, tokenize='''ascii''', content='it''s', prefix='3')")
    }

    @Test(
        "tokenizers of FTS5",
        arguments: [
            (FTS5TokenizerDescriptor.ascii(), ["ascii"], "tokenize='''ascii'''"),
            (
                .ascii(separators: ["X"], tokenCharacters: [".", "-"]),
                ["ascii", "separators", "X", "tokenchars", "-."],
                "tokenize='''ascii'' ''separators'' ''X'' ''tokenchars'' ''-.'''"
            ),
            (.porter(), ["porter"], "tokenize='''porter'''"),
            (
                .porter(wrapping: .unicode61(diacritics: .keep)),
                ["porter", "unicode61", "remove_diacritics", "0"],
                "tokenize='''porter'' ''unicode61'' ''remove_diacritics'' ''0'''"
            ),
            (.unicode61(), ["unicode61"], "tokenize='''unicode61'''"),
            (
                .unicode61(diacritics: .remove), ["unicode61", "remove_diacritics", "2"],
                "tokenize='''unicode61'' ''remove_diacritics'' ''2'''"
            ),
            (
                .unicode61(categories: "L* N* Co"), ["unicode61", "categories", "L* N* Co"],
                "tokenize='''unicode61'' ''categories'' ''L* N* Co'''"
            ),
            (
                .unicode61(diacritics: .keep, categories: "L*", separators: ["'"], tokenCharacters: ["-"]),
                [
                    "unicode61", "remove_diacritics", "0", "categories", "L*", "separators", "'",
                    "tokenchars", "-",
                ],
                "tokenize='''unicode61'' ''remove_diacritics'' ''0'' ''categories'' ''L*'' ''separators'' '''''''' ''tokenchars'' ''-'''"
            ),
        ])
    func fts5Tokenizers(tokenizer: FTS5TokenizerDescriptor, components: [String], sql: String) throws {
        #expect(tokenizer.components == components)
        #expect(
            try module(FTS5()) { t in
                t.tokenizer = tokenizer; t.column("body")
            } == "fts5(body, \(sql))")
    }

    @Test("FTS5 tables without columns, unnamed tokenizers and temporary synchronized tables trap")
    func preconditions() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().inDatabase { db throws in try db.create(virtualTable: "t", using: FTS5()) }
        }
        await #expect(processExitsWith: .failure) { _ = FTS5TokenizerDescriptor(components: []) }
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().inDatabase { db throws in
                try db.create(virtualTable: "t", options: .temporary, using: FTS5()) { t in
                    t.synchronize(withTable: "note")
                }
            }
        }
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().inDatabase { db throws in
                try db.create(virtualTable: "t", options: .temporary, using: FTS4()) { t in
                    t.synchronize(withTable: "note")
                }
            }
        }
    }
}
