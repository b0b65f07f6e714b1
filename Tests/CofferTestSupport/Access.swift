/// The kinds of access to a database file, for tests that must pass with all of them.
public enum Access: String, CaseIterable, Codable, Sendable {
    case queue, pool
}
