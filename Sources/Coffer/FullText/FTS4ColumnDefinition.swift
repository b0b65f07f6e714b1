internal import Synchronization

/// Defines a column of an ``FTS4`` table.
public final class FTS4ColumnDefinition: Sendable {
    let name: String
    private let role = Mutex(Role.indexed)

    private enum Role {
        case indexed, notIndexed, languageID
    }

    init(name: String) {
        self.name = name
    }

    /// Keeps the words of the column out of the index: it is stored, and not searched.
    ///
    /// - Returns: the column.
    @discardableResult
    public func notIndexed() -> Self {
        role.withLock { $0 = .notIndexed }
        return self
    }

    /// Makes the column the one that says the language of a row: see
    /// <https://www.sqlite.org/fts3.html#the_languageid_option>.
    ///
    /// - Returns: the column.
    @discardableResult
    public func asLanguageId() -> Self {
        role.withLock { $0 = .languageID }
        return self
    }

    /// The column among the arguments of the module.
    var moduleArguments: [String] {
        let word = name.bareOrQuotedWord
        return switch role.withLock({ $0 }) {
        case .indexed: [word]
        case .notIndexed: [word, "notindexed=\(word)"]
        case .languageID: ["languageid=\(name.quotedDatabaseIdentifier)"]
        }
    }
}
