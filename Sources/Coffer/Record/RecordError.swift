/// The error for a record whose row does not exist.
///
///     do {
///         try item.update(db)
///     } catch RecordError.recordNotFound {
///         print("The item no longer exists.")
///     }
public enum RecordError: Error {
    /// No row of the table has the key, or the key is NULL.
    case recordNotFound(databaseTableName: String, key: [String: DatabaseValue])
}

extension RecordError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .recordNotFound(let databaseTableName, let key):
            let columns = key.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(
                separator: " ")
            return "Key not found in table \(databaseTableName): [\(columns.isEmpty ? ":" : columns)]"
        }
    }
}
