/// A reference to a connection for what the C library keeps, and which may outlive it: it is nil from the end
/// of the connection on.
///
/// A weak reference would do the same, and make all others slower: Swift counts the references to an object
/// that has a weak one in a table beside it. A read of one row counts some thirty of them.
final class ConnectionReference {
    /// The connection. It sets this itself, and takes it back at the end of its life.
    unowned var database: Database?
}
