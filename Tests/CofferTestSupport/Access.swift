/// The ways to a database file: for tests that must hold for all of them.
public enum Access: String, CaseIterable, Codable, Sendable {
    case queue, pool
}
