internal import Coffer
internal import Foundation

/// The values that apply if no option is given. The environment comes before the configuration of the site.
struct Defaults: Sendable {
    private(set) var key: GivenSource?
    private(set) var unlock: GivenSource?
    private(set) var audit: String?
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
        func variable(_ name: String, isUnlock: Bool) throws(Failure) -> GivenSource? {
            guard let text = environment[name], !text.isEmpty else { return nil }
            return try Defaults.given(text, .named(name), isUnlock: isUnlock, in: ".") { words in
                Failure(.unsafeConfiguration, "environment", "\(name) \(words)")
            }
        }
        key = try variable("COFFER_KEY", isUnlock: false)
        unlock = try variable("COFFER_UNLOCK", isUnlock: true)
        if let file = try SiteConfiguration(environment) { try add(file) }
        entries =
            [("key", key), ("unlock", unlock)].compactMap { name, given in
                given.map { (name, "\($0.typed.text), from \($0.origin.name ?? "")") }
            } + entries
    }

    private mutating func add(_ file: SiteConfiguration) throws(Failure) {
        func member(_ name: String, _ text: String?, isUnlock: Bool) throws(Failure) -> GivenSource? {
            guard let text else { return nil }
            return try Defaults.given(text, .named(file.path), isUnlock: isUnlock, in: file.folder) { words in
                file.failure("'\(name)' \(words)")
            }
        }
        // Both are checked, even if the environment replaces them.
        let (fileKey, fileUnlock) = try (
            member("key", file.key, isUnlock: false), member("unlock", file.unlock, isUnlock: true)
        )
        key = key ?? fileKey
        unlock = unlock ?? fileUnlock
        audit = file.audit
        metrics = file.metrics
        keep = file.keep.flatMap { DatabaseFile.BackupRetention($0) }
        for (name, value) in [("audit", audit), ("metrics", metrics), ("keep", file.keep)] {
            if let value { entries.append((name, "\(value), from \(file.path)")) }
        }
    }

    /// - Parameter failure: makes a failure from the predicate of its message.
    private static func given(
        _ text: String, _ origin: KeyRequest.Origin, isUnlock: Bool, in folder: String,
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
        typed.source = typed.source.wholly(locatedIn: folder)
        let given = GivenSource(typed, origin)
        do throws(Failure) { _ = try isUnlock ? given.unlocking() : given.key(.current) } catch {
            throw failure("cannot be used: \(error.message)")
        }
        return given
    }
}

extension SecretSource {
    /// Returns the source with a relative path, also that of a program, starting at a folder. In the current
    /// folder, another user could have put a program of that name.
    fileprivate func wholly(locatedIn folder: String) -> SecretSource {
        guard case .command(var words) = self, let program = words.first, program.contains("/") else {
            return located(in: folder)
        }
        words[0] = FileNames.located(program, in: folder)
        return .command(words)
    }
}
