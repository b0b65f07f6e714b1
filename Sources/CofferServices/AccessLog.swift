#if Services
public import Coffer
public import Logging

/// Writes slow and failed accesses to a log.
///
/// ```swift
/// let log = AccessLog(logger, slowerThan: .milliseconds(50))
/// configuration.addAccessObserver(log.record)
/// ```
///
/// An entry has the name of the file, the numbers of the access, and the slowest or the failed statement. It
/// has no values: literals in SQL are replaced by question marks, and of an error only the result code or the
/// type is shown. Texts in double quotes remain, because they are names in SQL. Accesses that time out while
/// they wait have no entry, because they do not run.
public struct AccessLog: Sendable {
    private let logger: Logger
    private let limit: Duration
    private let slowLevel, failureLevel: Logger.Level

    /// - Parameters:
    ///   - logger: the destination.
    ///   - limit: accesses that run longer than this time are slow. The wait does not count.
    ///   - slowLevel: the level of slow accesses.
    ///   - failureLevel: the level of failed accesses. Some failures are usual, such as the violation of a
    ///     constraint.
    public init(
        _ logger: Logger, slowerThan limit: Duration = .milliseconds(100),
        slowLevel: Logger.Level = .notice, failureLevel: Logger.Level = .warning
    ) {
        self.logger = logger
        self.limit = limit
        self.slowLevel = slowLevel
        self.failureLevel = failureLevel
    }

    /// Writes an entry if the access was slow or has failed. A cancelled access has not failed.
    public func record(_ access: DatabaseAccessReport) {
        if let failure = access.failure {
            logger.log(
                level: failureLevel, "Failed database access",
                metadata: metadata(access, statement: failure.sql, error: failure.name))
        } else if access.ran > limit {
            let sql = access.slowestStatement.map { SQLSecrets.withoutLiterals($0.sql) }
            logger.log(
                level: slowLevel, "Slow database access", metadata: metadata(access, statement: sql))
        }
    }

    private func metadata(
        _ access: DatabaseAccessReport, statement: String?, error: String? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "file": "\(access.path.split(separator: "/").last ?? "")", "kind": "\(access.kind)",
            "waited": "\(access.waited)", "ran": "\(access.ran)",
            "statements": "\(access.statementCount)", "changed_rows": "\(access.changedRowCount)",
            "read_pages": "\(access.readPageCount)",
        ]
        metadata["statement"] = statement.map { "\($0)" }
        metadata["error"] = error.map { "\($0)" }
        return metadata
    }
}
#endif
