import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// A tokenizer that drops articles.
private final class WithoutArticles: FTS5WrapperTokenizer {
    static let name = "withoutarticles"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws { wrappedTokenizer = try db.makeTokenizer(.unicode61()) }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if token != "the" { try tokenCallback(token, flags) }
    }
}

/// The behavior of a test's tokenizer at its creation and for each token: see `Probe`.
// @unchecked: only the test's thread, and the accesses that it waits for, use it.
@safe
private final class Behaviour: @unchecked Sendable {
    var tokens: (String, FTS5TokenFlags, FTS5Tokenization, FTS5WrapperTokenCallback) throws -> Void = {
        try $3($0, $1)
    }
    var create: ([String]) throws -> Void = { _ in }
    var raw: ((UnsafeMutableRawPointer?, UnsafePointer<CChar>?, CInt, FTS5TokenCallback) -> CInt)?
    var living = 0
}

/// A wrapper tokenizer whose behavior the test sets. Its argument identifies the behavior.
private final class Probe: FTS5WrapperTokenizer {
    static let name = "probe"
    static let behaviours = Mutex<[String: Behaviour]>([:])
    let wrappedTokenizer: any FTS5Tokenizer
    let behaviour: Behaviour

    init(db: Database, arguments: [String]) throws {
        behaviour = Probe.behaviours.withLock { $0[arguments.first ?? ""] } ?? Behaviour()
        try behaviour.create(arguments)
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
        behaviour.living += 1
    }

    deinit { behaviour.living -= 1 }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        try behaviour.tokens(token, flags, tokenization, tokenCallback)
    }
}

/// A tokenizer that implements the C interface itself.
private final class RawProbe: FTS5CustomTokenizer {
    static let name = "rawprobe"
    let behaviour: Behaviour

    init(db: Database, arguments: [String]) throws {
        behaviour = Probe.behaviours.withLock { $0[arguments.first ?? ""] } ?? Behaviour()
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        if let raw = unsafe behaviour.raw { return unsafe raw(context, pText, nText, tokenCallback) }
        guard let text = unsafe pText else { return 0 }
        // Splits at bytes that are not ASCII letters, and keeps the words unchanged.
        var (start, position) = (CInt(0), CInt(0))
        while position <= nText {
            let isLetter = unsafe position < nText && (UInt8(bitPattern: text[Int(position)]) & ~0x20) >= 65
            if !isLetter {
                if position > start {
                    let code = unsafe tokenCallback(
                        context, 0, text + Int(start), position - start, start, position)
                    if code != 0 { return code }
                }
                start = position + 1
            }
            position += 1
        }
        return 0
    }
}

private struct Refusal: Error {}

@Suite("Tokenizers", .serialized)
struct TokenizerTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func makeQueue(_ behaviour: Behaviour = Behaviour(), _ key: String = #function) throws
        -> DatabaseQueue
    {
        Probe.behaviours.withLock { $0[key] = behaviour }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(tokenizer: WithoutArticles.self)
            db.add(tokenizer: Probe.self)
            db.add(tokenizer: RawProbe.self)
        }
        return try DatabaseQueue(configuration: configuration)
    }

    private func create(_ db: Database, _ tokenizer: FTS5TokenizerDescriptor, _ table: String = "noteText")
        throws
    {
        try db.create(virtualTable: table, using: FTS5()) { t in
            t.tokenizer = tokenizer
            t.column("body")
        }
    }

    private func count(_ db: Database, _ pattern: String, _ table: String = "noteText") throws -> Int {
        try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \(table) WHERE \(table) MATCH ?", arguments: [pattern]) ?? -1
    }

    // MARK: Built-in tokenizers

    @Test("tokenizers of the engine are made by their descriptors")
    func engine() throws {
        try DatabaseQueue().inDatabase { db throws in
            let texts = { (descriptor: FTS5TokenizerDescriptor, text: String) in
                try db.makeTokenizer(descriptor).tokenize(document: text).map(\.token)
            }
            #expect(try texts(.ascii(), "Red-Oak BARÉ") == ["red", "oak", "barÉ"])
            #expect(try texts(.unicode61(), "Élan vital") == ["elan", "vital"])
            #expect(try texts(.unicode61(diacritics: .keep), "Élan vital") == ["élan", "vital"])
            #expect(try texts(.porter(), "Growing tulips") == ["grow", "tulip"])
            #expect(try texts(.porter(wrapping: .ascii()), "Growing tulips") == ["grow", "tulip"])
            #expect(
                try texts(FTS5TokenizerDescriptor(components: ["trigram"]), "tulip") == ["tul", "uli", "lip"])
            #expect(try texts(.ascii(), "") == [])
            #expect(try db.makeTokenizer(.ascii()).tokenize(query: "Red oak").map(\.flags) == [[], []])
            let error = #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["absent"]))
            }
            #expect(error?.resultCode == .SQLITE_ERROR)
            #expect(error?.message == "no such tokenizer: absent")
            #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(
                    FTS5TokenizerDescriptor(components: ["unicode61", "remove_diacritics", "9"]))
            }
            #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["ascii", "separators", "a\u{0}b"]))
            }
        }
    }

    @Test("a tokenizer lives as long as its object, also when its connection is closed")
    func life() throws {
        let behaviour = Behaviour()
        var queue: DatabaseQueue? = try makeQueue(behaviour)
        var tokenizers: [any FTS5Tokenizer] = []
        try queue?.inDatabase { db throws in
            tokenizers = [
                try db.makeTokenizer(.porter()),
                try db.makeTokenizer(Probe.tokenizerDescriptor(arguments: ["life()"])),
            ]
            try create(db, Probe.tokenizerDescriptor(arguments: ["life()"]))
        }
        #expect(behaviour.living == 2)
        try queue?.close()
        queue = nil
        #expect(behaviour.living == 1)
        #expect(
            try tokenizers.map { try $0.tokenize(document: "Tulips").map(\.token) } == [
                ["tulip"], ["tulips"],
            ])
        tokenizers = []
        #expect(behaviour.living == 0)
    }

    // MARK: Wrappers

    @Test("the SQL of a tokenizer written in Swift, and its use")
    func wrapper() throws {
        #expect(
            WithoutArticles.tokenizerDescriptor(arguments: ["x", "y"]).components == [
                "withoutarticles", "x", "y",
            ])
        #expect(WithoutArticles.tokenizerDescriptor().components == ["withoutarticles"])
        try makeQueue().inDatabase { db throws in
            try create(db, WithoutArticles.tokenizerDescriptor(arguments: ["x", "y"]))
            #expect(
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'noteText'")
                    == #"CREATE VIRTUAL TABLE "noteText" USING fts5(body, tokenize='''withoutarticles'' ''x'' ''y''')"#
            )
            try db.execute(sql: "INSERT INTO noteText VALUES ('The red tulip'), ('a green oak')")
            #expect(try count(db, "red") == 1 && count(db, "a") == 1)
            #expect(try count(db, "the") == 0)
            // The article is not a word of the pattern, so only the rest counts.
            #expect(try count(db, "\"the red\"") == 1 && count(db, "the + tulip") == 1)
            try db.execute(sql: "UPDATE noteText SET body = 'the white tulip' WHERE rowid = 1")
            #expect(try count(db, "red") == 0 && count(db, "white") == 1)
            try db.execute(sql: "INSERT INTO noteText(noteText) VALUES ('integrity-check')")
        }
    }

    @Test(
        "a tokenizer gets its arguments and the purpose of each text, and may add colocated synonyms"
    )
    func synonyms() throws {
        let behaviour = Behaviour()
        var arguments: [String] = []
        var purposes: [FTS5Tokenization] = []
        behaviour.create = { arguments = $0 }
        behaviour.tokens = { token, flags, tokenization, callback throws in
            purposes.append(tokenization)
            try callback(token, flags)
            if tokenization.contains(.document), token == "first" {
                try callback("1st", flags.union(.colocated))
                try callback("", flags)
            }
        }
        try makeQueue(behaviour).inDatabase { db throws in
            try create(db, Probe.tokenizerDescriptor(arguments: ["synonyms()", "it's", "\"two\" words"]))
            #expect(arguments == ["synonyms()", "it's", "\"two\" words"])
            try db.execute(sql: "INSERT INTO noteText VALUES ('the first place')")
            #expect(purposes == [.document, .document, .document])
            #expect(
                try count(db, "1st") == 1 && count(db, "first") == 1 && count(db, "\"the 1st place\"") == 1)
            purposes = []
            #expect(try count(db, "fir*") == 1)
            #expect(purposes == [[.query, .prefix]])
            purposes = []
            #expect(
                try String.fetchOne(
                    db,
                    sql: "SELECT highlight(noteText, 0, '[', ']') FROM noteText WHERE noteText MATCH '1st'")
                    == "the [first] place")
            #expect(purposes.contains(.aux))
            let tokenizer = try db.makeTokenizer(Probe.tokenizerDescriptor(arguments: ["synonyms()"]))
            let tokens = try tokenizer.tokenize(document: "first place")
            #expect(tokens.map(\.token) == ["first", "1st", "place"])
            #expect(tokens.map(\.flags) == [[], .colocated, []])
            #expect(try tokenizer.tokenize(query: "first place").map(\.token) == ["first", "place"])
        }
    }

    @Test("tokens that are not UTF-8 are left out")
    func invalidTokens() throws {
        let behaviour = Behaviour()
        unsafe behaviour.raw = { context, text, count, callback in
            var bytes: [CChar] = [-1, -2]
            _ = unsafe callback(context, 0, &bytes, 2, 0, count)
            return unsafe callback(context, 0, text, count, 0, count)
        }
        try makeQueue(behaviour).inDatabase { db throws in
            let tokenizer = try db.makeTokenizer(RawProbe.tokenizerDescriptor(arguments: ["invalidTokens()"]))
            #expect(try tokenizer.tokenize(document: "tulip").map(\.token) == ["tulip"])
            #expect(try tokenizer.tokenize(document: "").map(\.token) == [""])
        }
    }

    // MARK: Life on connections

    @Test(
        "every pool connection has a tokenizer added in its preparation, even before or without a key"
    )
    func pool() throws {
        for kind in ["property", "preparation", "plaintext"] {
            var configuration = Configuration()
            if kind == "property" { configuration = .rawKeyed }
            configuration.allowsPlaintext = kind == "plaintext"
            configuration.prepareDatabase { db throws in
                db.add(tokenizer: WithoutArticles.self)
                if kind == "preparation" { try db.usePassphrase("secret") }
            }
            let pool = try directory.makePool("\(kind).db", configuration)
            try pool.write { db throws in
                try create(db, WithoutArticles.tokenizerDescriptor())
                try db.execute(sql: "INSERT INTO noteText VALUES ('The red tulip')")
            }
            #expect(try pool.read { try count($0, "red") } == 1)
            #expect(try pool.read { try count($0, "the") } == 0)
        }
    }

    @Test("a connection without the tokenizer throws only when the table is used")
    func missing() throws {
        var configuration = Configuration.rawKeyed
        configuration.prepareDatabase { db in db.add(tokenizer: WithoutArticles.self) }
        do {
            let queue = try directory.makeQueue("a.db", configuration)
            try queue.write { db throws in
                try create(db, WithoutArticles.tokenizerDescriptor())
                try db.execute(sql: "CREATE TABLE t(a)")
            }
        }
        try directory.makeQueue().write { db throws in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO noteText VALUES ('red')") }
            #expect(throws: DatabaseError.self) {
                try create(db, WithoutArticles.tokenizerDescriptor(), "other")
            }
            db.add(tokenizer: WithoutArticles.self)
            try db.execute(sql: "INSERT INTO noteText VALUES ('red')")
            #expect(try count(db, "red") == 1)
        }
    }

    private final class Shouting: FTS5WrapperTokenizer {
        static let name = "withoutarticles"
        let wrappedTokenizer: any FTS5Tokenizer
        init(db: Database, arguments: [String]) throws { wrappedTokenizer = try db.makeTokenizer(.ascii()) }
        func accept(
            token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
            tokenCallback: FTS5WrapperTokenCallback
        ) throws {
            try tokenCallback(token.uppercased(), flags)
        }
    }

    @Test("a second tokenizer of one name replaces the first")
    func replacement() throws {
        try makeQueue().inDatabase { db throws in
            db.add(tokenizer: Shouting.self)
            let tokenizer = try db.makeTokenizer(WithoutArticles.tokenizerDescriptor())
            #expect(try tokenizer.tokenize(document: "the oak").map(\.token) == ["THE", "OAK"])
        }
    }

    @Test("a rotation of the key keeps the tokenizers of the connections", arguments: Access.allCases)
    func rotation(access: Access) throws {
        let writer = try directory.make(access)
        writer.writeWithoutTransaction { db in db.add(tokenizer: WithoutArticles.self) }
        try writer.rotateKey(to: .rawKey([UInt8](repeating: 7, count: 32)))
        try writer.writeWithoutTransaction { db throws in
            #expect(
                try db.makeTokenizer(WithoutArticles.tokenizerDescriptor()).tokenize(document: "the oak").map(
                    \.token) == ["oak"])
            try create(db, WithoutArticles.tokenizerDescriptor())
        }
    }

    // MARK: Errors

    @Test("an error while creating a tokenizer fails the statement")
    func creationErrors() throws {
        let behaviour = Behaviour()
        try makeQueue(behaviour).inDatabase { db throws in
            let codes: [(any Error, ResultCode)] = [
                (Refusal(), .SQLITE_ERROR),
                (DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK), .SQLITE_CONSTRAINT_CHECK),
                (DatabaseError(resultCode: .SQLITE_OK), .SQLITE_ERROR),
                (DatabaseError(resultCode: .SQLITE_DONE), .SQLITE_ERROR),
            ]
            for (thrown, code) in codes {
                behaviour.create = { _ in throw thrown }
                let descriptor = Probe.tokenizerDescriptor(arguments: ["creationErrors()"])
                let error = #expect(throws: DatabaseError.self) { try create(db, descriptor) }
                #expect(error?.extendedResultCode == code)
                #expect(try !db.tableExists("noteText"))
                let direct = #expect(throws: DatabaseError.self) { try db.makeTokenizer(descriptor) }
                #expect(direct?.extendedResultCode == code)
            }
            #expect(behaviour.living == 0)
        }
    }

    @Test(
        "an error while tokenizing fails the statement, and nothing is written",
        arguments: [true, false])
    func workErrors(isDatabaseError: Bool) throws {
        let behaviour = Behaviour()
        try makeQueue(behaviour).inDatabase { db throws in
            try create(db, Probe.tokenizerDescriptor(arguments: ["workErrors(isDatabaseError:)"]))
            try db.execute(sql: "INSERT INTO noteText VALUES ('red tulip')")
            var seen = 0
            behaviour.tokens = { token, flags, _, callback throws in
                seen += 1
                if token == "oak" {
                    throw isDatabaseError ? DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK) : Refusal()
                }
                try callback(token, flags)
            }
            let code: ResultCode = isDatabaseError ? .SQLITE_CONSTRAINT_CHECK : .SQLITE_ERROR
            let insertion = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO noteText VALUES ('red oak tulip')")
            }
            #expect(insertion?.extendedResultCode == code && seen == 2)
            let search = #expect(throws: DatabaseError.self) { try count(db, "oak") }
            #expect(search?.extendedResultCode == code)
            let direct = #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(Probe.tokenizerDescriptor(arguments: ["workErrors(isDatabaseError:)"]))
                    .tokenize(query: "oak")
            }
            #expect(direct?.extendedResultCode == code)
            #expect(try count(db, "red") == 1)
            try db.execute(sql: "INSERT INTO noteText(noteText) VALUES ('integrity-check')")
        }
    }

    @Test(
        "result codes that the engine would treat as success are errors",
        arguments: [100, 101, 256, 612, -155, 1] as [CInt])
    func strangeCodes(code: CInt) throws {
        let behaviour = Behaviour()
        try makeQueue(behaviour).inDatabase { db throws in
            try create(db, RawProbe.tokenizerDescriptor(arguments: ["strangeCodes(code:)"]))
            try db.execute(sql: "INSERT INTO noteText VALUES ('red tulip')")
            unsafe behaviour.raw = { _, _, _, _ in code }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO noteText VALUES ('oak')") }
            #expect(throws: DatabaseError.self) { try count(db, "red") }
            #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: "SELECT * FROM noteText WHERE noteText MATCH 'red'")
            }
            unsafe behaviour.raw = nil
            #expect(try count(db, "red") == 1 && count(db, "oak") == 0)
        }
    }

    @Test("tokens that are not in the text are errors, and the engine does not see them")
    func impossibleTokens() throws {
        let behaviour = Behaviour()
        try makeQueue(behaviour).inDatabase { db throws in
            try create(db, RawProbe.tokenizerDescriptor(arguments: ["impossibleTokens()"]))
            try db.execute(sql: "INSERT INTO noteText VALUES ('red tulip')")
            let impossible: [(count: CInt, start: CInt, end: CInt, hasBytes: Bool)] = [
                (-1, 0, 1, true), (3, -1, 2, true), (3, 2, 1, true), (3, 0, 1_000_000, true),
                (3, CInt.max, CInt.max, true),
                (3, 0, 3, false),
                (CInt.min, 0, 0, true),
            ]
            for token in impossible {
                var answers: [CInt] = []
                unsafe behaviour.raw = { context, text, _, callback in
                    answers.append(
                        unsafe callback(
                            context, 0, token.hasBytes ? text : nil, token.count, token.start, token.end))
                    // The tokenizer continues as if nothing had happened.
                    answers.append(unsafe callback(context, 0, text, 1, 0, 1))
                    return 0
                }
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO noteText VALUES ('oak')")
                }
                #expect(answers.count == 2 && answers.allSatisfy { $0 == 1 })
                #expect(throws: DatabaseError.self) { try count(db, "oak") }
            }
            unsafe behaviour.raw = nil
            #expect(try count(db, "red") == 1 && count(db, "oak") == 0)
            // The smallest possible values.
            unsafe behaviour.raw = { context, text, count, callback in
                unsafe callback(context, 0, text, 0, count, count)
            }
            try db.execute(sql: "INSERT INTO noteText VALUES ('oak')")
        }
    }

    @Test("a tokenizer that finds different tokens each time causes errors at worst")
    func inconsistent() throws {
        var random = SeededRandom("tokens")
        let behaviour = Behaviour()
        let queue = try makeQueue(behaviour)
        try queue.inDatabase { db throws in
            try create(db, Probe.tokenizerDescriptor(arguments: ["inconsistent()"]))
            behaviour.tokens = { token, flags, _, callback throws in
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    try callback(
                        token + "\(Int.random(in: 0...9, using: &random))",
                        FTS5TokenFlags(rawValue: CInt.random(in: -2...3, using: &random)))
                }
            }
            for index in 0..<300 {
                try? db.execute(
                    sql: "INSERT OR REPLACE INTO noteText(rowid, body) VALUES (?, 'red oak and tulips')",
                    arguments: [index % 20])
                try? db.execute(sql: "DELETE FROM noteText WHERE rowid = ?", arguments: [index % 7])
                let pattern = "red* OR \"oak and\""
                _ = try? Row.fetchAll(
                    db,
                    sql:
                        "SELECT highlight(noteText, 0, '[', ']'), snippet(noteText, 0, '', '', '', 4), rank FROM noteText WHERE noteText MATCH ?",
                    arguments: [pattern])
            }
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test(
        "for random texts, a wrapper agrees with the engine's tokenizer, and indexes stay intact"
    )
    func randomTexts() throws {
        var random = SeededRandom("texts for tokenizers")
        let count = Nightly.pick(100_000, byDay: 5_000)
        try makeQueue().inDatabase { db throws in
            let plain = try db.makeTokenizer(.unicode61())
            let wrapped = try db.makeTokenizer(Probe.tokenizerDescriptor())
            let own = try db.makeTokenizer(RawProbe.tokenizerDescriptor())
            try create(db, Probe.tokenizerDescriptor(), "wrapped")
            try create(db, RawProbe.tokenizerDescriptor(), "own")
            try db.beginTransaction()
            for index in 0..<count {
                let text = RandomText.make(&random)
                let expected = try plain.tokenize(document: text).map(\.token)
                #expect(try wrapped.tokenize(document: text).map(\.token) == expected, "\(Array(text.utf8))")
                _ = try own.tokenize(query: text)
                try db.execute(
                    sql: "INSERT INTO wrapped(rowid, body) VALUES (?, ?)", arguments: [index % 500, text])
                try db.execute(
                    sql: "INSERT INTO own(rowid, body) VALUES (?, ?)", arguments: [index % 500, text])
                if index % 500 == 499 { try db.execute(sql: "DELETE FROM wrapped; DELETE FROM own") }
            }
            try db.execute(
                sql:
                    "INSERT INTO wrapped(wrapped) VALUES ('integrity-check'); INSERT INTO own(own) VALUES ('integrity-check')"
            )
            try db.commit()
        }
    }
}
