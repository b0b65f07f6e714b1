internal import Coffer
internal import SQLCipherBridge

/// The versions of the components of this program, for bug reports.
struct EngineVersions {
    static let coffer = "0.1.0"

    let sqlcipher: String
    let sqlite: String
    let provider: String

    /// A description of how `Scripts/build-engine` built the engine, or nil for the engine of a distribution.
    let build: String?

    /// The implementation that processes pages.
    let pages: PageProvider

    init() throws {
        // With a key, the connection has a codec to query.
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

    /// The origin of the engine, as a line of a report.
    var origin: String { build.map { "a custom engine: \($0)" } ?? "the distribution's engine" }

    /// A description of the engine, as lines of a report.
    var engineLines: [String] {
        let features = EngineFeature.allCases.filter(\.isAvailable).map { feature in
            switch feature {
            case .preUpdateEvents: "reports rows before they change"
            case .walSnapshots: "shares WAL snapshots between connections"
            }
        }
        let faults = EngineFault.ofThisEngine.map {
            "fault \($0.rawValue), \($0.treatment.words): \($0.summary)"
        }
        return ["\(origin), released \(Engine.releaseDay)"] + features + [pages.words] + faults
    }

    var engineJSON: JSONObject {
        [
            "build": build, "released": Engine.releaseDay,
            "features": EngineFeature.allCases.filter(\.isAvailable).map(\.rawValue), "pages": pages.word,
            "faults": EngineFault.ofThisEngine.map(\.rawValue),
        ]
    }

    var json: JSONObject {
        ["version": EngineVersions.coffer, "sqlcipher": sqlcipher, "sqlite": sqlite, "crypto": provider]
    }
}

extension EngineFault.Treatment {
    /// The phrase for the list of engine faults.
    fileprivate var words: String {
        switch self {
        case .mended: "fixed by coffer"
        case .refused: "refused by coffer"
        case .avoided: "avoided by coffer"
        case .open: "not fixed"
        }
    }
}

extension PageProvider {
    /// A description for a line of a report.
    var words: String {
        switch self {
        case .kept: "pages by coffer: state for a key is cached, and known pages are not hashed again"
        case .engine(let reason): "pages by the engine alone, at its own speed: \(reason.texts.words)"
        }
    }

    /// The keyword for scripts: `coffer`, or the reason that the engine processes the pages.
    var word: String {
        switch self {
        case .kept: "coffer"
        case .engine(let reason): reason.texts.word
        }
    }
}

extension PageProvider.Reason {
    /// The keyword for scripts, and a clause for people.
    fileprivate var texts: (word: String, words: String) {
        switch self {
        case .notWanted: ("engine-wanted", "COFFER_PAGE_PROVIDER is set to this")
        case .hidden: ("engine-hides-functions", "it hides the functions for other providers")
        case .unknownVersion:
            ("engine-unknown-version", "coffer's faster code was not tested with this version of SQLCipher")
        case .foreign: ("engine-foreign-provider", "the program has its own provider")
        case .wrongAnswers:
            ("engine-wrong-answers", "coffer's results differ from the engine's; please report this")
        case .noMemory: ("engine-no-memory", "there is not enough memory")
        }
    }
}
