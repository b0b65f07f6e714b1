internal import Coffer
internal import Foundation

/// The values that apply if no option is given. The environment comes before the configuration of the site.
struct Defaults: Sendable {
    private(set) var key: GivenSource?
    private(set) var unlock: GivenSource?
    private(set) var audit: String?
    private(set) var auditKey: GivenSource?
    private(set) var metrics: String?
    private(set) var keep: DatabaseFile.BackupRetention?
    /// Each value with its place, for people.
    private(set) var entries: [(name: String, words: String)] = []

    /// The defaults of this process, or the reason that they cannot be used.
    static let read = Result { () throws(Failure) in try Defaults(ProcessInfo.processInfo.environment) }

    /// The defaults of this process. A command whose defaults cannot be used fails before its work, in
    /// ``Operation/perform(_:)``.
    static var current: Defaults { (try? read.get()) ?? Defaults() }

    private init() {}

    init(_ environment: [String: String]) throws(Failure) {
        func variable(_ name: String, _ use: Use) throws(Failure) -> GivenSource? {
            guard let text = environment[name], !text.isEmpty else { return nil }
            return try Defaults.given(text, .named(name), use, in: ".") { words in
                Failure(.unsafeConfiguration, "environment", "\(name) \(words)")
            }
        }
        key = try variable("COFFER_KEY", .key)
        unlock = try variable("COFFER_UNLOCK", .unlock)
        if let file = try SiteConfiguration(environment) { try add(file) }
        entries =
            [("key", key), ("unlock", unlock), ("audit-key", auditKey)].compactMap { name, given in
                given.map {
                    (name, "\(HiddenKeys.hiding(in: $0.typed.text)), from \($0.origin.name ?? "")")
                }
            } + entries
    }

    private mutating func add(_ file: SiteConfiguration) throws(Failure) {
        func member(_ use: Use, _ text: String?) throws(Failure) -> GivenSource? {
            guard let text else { return nil }
            let given = try Defaults.given(text, .named(file.path), use, in: file.folder) { words in
                file.failure("'\(use.rawValue)' \(words)")
            }
            if case .command(let words) = given.typed.source, let program = words.first, program.contains("/")
            {
                try file.check(program: program)
            }
            return given
        }
        // Both are checked, even if the environment replaces them.
        let (fileKey, fileUnlock) = try (member(.key, file.key), member(.unlock, file.unlock))
        auditKey = try member(.auditKey, file.auditKey)
        key = key ?? fileKey
        unlock = unlock ?? fileUnlock
        audit = file.audit
        metrics = file.metrics
        keep = file.keep.flatMap { DatabaseFile.BackupRetention($0) }
        for (name, value) in [("audit", audit), ("metrics", metrics)] {
            if let value { try file.check(written: value, name) }
        }
        for (name, value) in [("audit", audit), ("metrics", metrics), ("keep", file.keep)] {
            if let value { entries.append((name, "\(value), from \(file.path)")) }
        }
    }

    /// The use of a secret, with the name of its member in the configuration.
    private enum Use: String {
        case key, unlock
        case auditKey = "audit-key"

        /// - Throws: ``Failure`` if a source has a type that its secret cannot have.
        func check(_ given: GivenSource) throws(Failure) {
            switch self {
            case .key: _ = try given.key(.current)
            case .unlock: _ = try given.unlocking()
            case .auditKey: _ = try given.untyped()
            }
        }
    }

    /// - Parameter failure: makes a failure from the predicate of its message.
    private static func given(
        _ text: String, _ origin: KeyRequest.Origin, _ use: Use, in folder: String,
        orFail failure: (String) -> Failure
    ) throws(Failure) -> GivenSource {
        var typed: TypedSource
        do throws(TypedSource.Problem) { typed = try TypedSource(text) } catch {
            switch error {
            case .notASource:
                throw failure(
                    "is not a source, such as file:PATH: see 'coffer help keys'. A secret must not be there.")
            case .unusable(let words): throw failure("cannot be used: \(words)")
            }
        }
        typed.source = typed.source.located(in: folder)
        let given = GivenSource(typed, origin)
        do throws(Failure) { try use.check(given) } catch {
            throw failure("cannot be used: \(error.message)")
        }
        return given
    }
}
