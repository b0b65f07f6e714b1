/// A raw pointer to a prepared statement, for those who call the C functions of the product `CSQLCipher`
/// themselves.
public typealias SQLiteStatement = OpaquePointer

/// A raw pointer to a connection, for those who call the C functions of the product `CSQLCipher` themselves.
public typealias SQLiteConnection = OpaquePointer
