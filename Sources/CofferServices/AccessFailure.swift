#if Services
internal import Coffer

/// The description of an error without values: messages may quote them.
struct AccessFailure {
    /// The name of the error's type, or the description of its result code.
    let name: String

    /// The failed statement, without literals.
    let sql: String?

    /// Nil if the access was cancelled or interrupted.
    init?(_ error: any Error) {
        if error is CancellationError || (error as? DatabaseError)?.isInterruptionError == true { return nil }
        let databaseError = error as? DatabaseError
        name = databaseError.map { "\($0.extendedResultCode)" } ?? String(reflecting: type(of: error))
        sql = databaseError?.sql.map(SQLSecrets.withoutLiterals)
    }
}

extension DatabaseAccessReport {
    /// The failure of the access. Nil if it has succeeded, or if it was cancelled or interrupted.
    var failure: AccessFailure? { error.flatMap { AccessFailure($0) } }
}
#endif
