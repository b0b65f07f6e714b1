/// A raw pointer to a prepared statement, for direct use of the C functions of the product `CSQLCipher`.
public typealias SQLiteStatement = OpaquePointer

/// A raw pointer to a connection, for direct use of the C functions of the product `CSQLCipher`.
public typealias SQLiteConnection = OpaquePointer
