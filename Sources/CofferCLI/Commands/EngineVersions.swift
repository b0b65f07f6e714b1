internal import Coffer
internal import SQLCipherBridge

/// What is in this program: the versions that a report of a fault has to name.
struct EngineVersions {
    static let coffer = "0.1.0"

    let sqlcipher: String
    let sqlite: String
    let provider: String

    /// How `Scripts/build-engine` has built the engine; nil for the engine of a distribution.
    let build: String?

    /// Who does the work on pages.
    let pages: PageProvider

    init() throws {
        // A key, so that there is a codec to ask.
        var configuration = Configuration()
        configuration.key = .random()
        let queue = try DatabaseQueue(configuration: configuration)
        (sqlcipher, sqlite, provider) = try queue.read { db in
            let sqlite = try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "unknown"
            let provider = try [db.cipherProvider, db.cipherProviderVersion].compactMap { $0 }
            return (try db.cipherVersion, sqlite, provider.joined(separator: ", "))
        }
        build = Engine.ownDescription
        pages = try Engine.pageProvider
    }

    var lines: [String] {
        [
            "coffer \(EngineVersions.coffer)", "SQLCipher \(sqlcipher)", "SQLite \(sqlite)",
            "crypto \(provider)",
        ]
    }

    /// Where the engine is from, as a line of a report.
    var origin: String { build.map { "an engine of your own: \($0)" } ?? "the engine of the distribution" }

    /// All about the engine, as lines of a report.
    var engineLines: [String] {
        let features = EngineFeature.allCases.filter(\.isAvailable).map { feature in
            switch feature {
            case .preUpdateEvents: "tells of rows before they change"
            case .walSnapshots: "hands states of the log to other connections"
            }
        }
        let faults = EngineFault.ofThisEngine.map {
            "fault \($0.rawValue), \($0.treatment.words): \($0.summary)"
        }
        return ["\(origin), released \(Engine.releaseDay)"] + features + [pages.words] + faults
    }

    var engineJSON: [JSONValue.Member] {
        [
            .init("build", .optional(build)), .init("released", .string(Engine.releaseDay)),
            .init("features", .strings(EngineFeature.allCases.filter(\.isAvailable).map(\.rawValue))),
            .init("pages", .string(pages.word)),
            .init("faults", .strings(EngineFault.ofThisEngine.map(\.rawValue))),
        ]
    }

    var json: [JSONValue.Member] {
        [
            .init("version", .string(EngineVersions.coffer)), .init("sqlcipher", .string(sqlcipher)),
            .init("sqlite", .string(sqlite)),
            .init("crypto", .string(provider)),
        ]
    }
}

extension EngineFault.Treatment {
    /// In the list of the faults of an engine.
    fileprivate var words: String {
        switch self {
        case .mended: "mended by coffer"
        case .refused: "refused by coffer"
        case .avoided: "avoided by coffer"
        case .open: "not mended"
        }
    }
}

extension PageProvider {
    /// As a line of a report.
    var words: String {
        switch self {
        case .kept: "pages by coffer: what is made for a key is kept, and known pages are not hashed again"
        case .engine(let reason): "pages by the engine alone, at its own speed: \(reason.words)"
        }
    }

    /// As a word for scripts: `coffer`, or why it is the engine.
    var word: String {
        switch self {
        case .kept: "coffer"
        case .engine(let reason): reason.word
        }
    }
}

extension PageProvider.Reason {
    fileprivate var words: String {
        switch self {
        case .notWanted: "COFFER_PAGE_PROVIDER says so"
        case .hidden: "it hides the functions for another provider"
        case .unknownVersion: "coffer's faster way was not tested with this version of SQLCipher"
        case .foreign: "the program has a provider of its own"
        case .wrongAnswers: "coffer's answers differ from the engine's, which must not be; please report it"
        case .noMemory: "there is not enough memory"
        }
    }

    fileprivate var word: String {
        switch self {
        case .notWanted: "engine-wanted"
        case .hidden: "engine-hides-functions"
        case .unknownVersion: "engine-unknown-version"
        case .foreign: "engine-foreign-provider"
        case .wrongAnswers: "engine-wrong-answers"
        case .noMemory: "engine-no-memory"
        }
    }
}
