internal import Synchronization

/// The definition of a column of an ``FTS4`` table.
public final class FTS4ColumnDefinition: Sendable {
    let name: String
    private let role = Mutex(Role.indexed)

    private enum Role {
        case indexed, notIndexed, languageID
    }

    init(name: String) {
        self.name = name
    }

    /// Excludes the column from the index: it is stored but cannot be searched.
    @discardableResult
    public func notIndexed() -> Self {
        role.withLock { $0 = .notIndexed }
        return self
    }

    /// Makes the column the language ID of its row: see
    /// <https://www.sqlite.org/fts3.html#the_languageid_option>.
    @discardableResult
    public func asLanguageId() -> Self {
        role.withLock { $0 = .languageID }
        return self
    }

    /// The column in the form of module arguments.
    var moduleArguments: [String] {
        let word = name.bareOrQuotedWord
        return switch role.withLock({ $0 }) {
        case .indexed: [word]
        case .notIndexed: [word, "notindexed=\(word)"]
        case .languageID: ["languageid=\(name.quotedDatabaseIdentifier)"]
        }
    }
}
