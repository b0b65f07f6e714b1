/// A reference to a connection for closures that SQLite retains and that may outlive the connection. It is
/// nil once the connection is gone.
///
/// A weak reference would slow down all other references to the connection: Swift keeps the reference counts
/// of an object with weak references in a side table. A read of one row changes the counts about thirty
/// times.
final class ConnectionReference {
    /// The connection. It sets this property itself, and resets it in its `deinit`.
    unowned var database: Database?
}
