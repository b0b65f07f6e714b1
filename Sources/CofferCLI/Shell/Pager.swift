internal import SQLCipherBridge
internal import SystemCalls

/// The program that shows long results of a shell page by page.
struct Pager {
    let words: [String]
    /// True if no one has named the program, so that it may be missing.
    private let isUsual: Bool

    static let usual = Pager(["less", "-FRX"], isUsual: true)

    init(_ words: [String]) { self.init(words, isUsual: false) }

    private init(_ words: [String], isUsual: Bool) {
        self.words = words
        self.isUsual = isUsual
    }

    /// Returns the pager that an environment names, or the usual one. Returns nil if the name is empty.
    static func named(in environment: [String: String]) throws(Failure) -> Pager? {
        for name in ["COFFER_PAGER", "PAGER"] {
            guard let text = environment[name] else { continue }
            guard text.contains(where: { !$0.isWhitespace }) else { return nil }
            do throws(Failure) { return try Pager(CommandWords.split(text)) } catch {
                throw .usage("\(name) is not a command: \(error.message)")
            }
        }
        return usual
    }

    /// Returns the warning about a pager that did not start, or nil for a missing program that no one named.
    func warning(_ problem: SecretProgram.Problem) -> String? {
        guard !isUsual else { return nil }
        let reason = if case .notStarted(let error) = problem { error.words } else { "it did not start" }
        return "The pager '\(words[0])' cannot be run: \(reason)."
    }
}
